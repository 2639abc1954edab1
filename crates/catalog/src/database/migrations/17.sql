-- Documents that the content filter rejected, or was not sure of, until a person has decided on them.

-- `capture` is what an import would have kept, as JSON; its bytes lie in the review store under the number. None if the
-- bytes are in the collection, because the filter was not sure of them. `stored` is 0 until the bytes are there, and 2 when
-- nobody needs them any more.
CREATE TABLE review (
    id {id},
    sha1 TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    media_type TEXT NOT NULL,
    extension TEXT NOT NULL,
    size BIGINT NOT NULL,
    capture TEXT,
    stored BIGINT NOT NULL,
    added BIGINT NOT NULL
);
CREATE INDEX review_by_state ON review (stored, id);
CREATE INDEX review_by_host ON review (host, id);

INSERT INTO review (sha1, url, host, media_type, extension, size, stored, added)
SELECT content.sha1, judgement.url, COALESCE((SELECT min(document.host) FROM document WHERE document.content_id = content.id), ''),
    content.media_type, content.extension, content.size, 1, {now}
FROM content JOIN judgement ON judgement.sha1 = content.sha1
WHERE judgement.decision = 'unsure' AND judgement.corrected_at IS NULL;
