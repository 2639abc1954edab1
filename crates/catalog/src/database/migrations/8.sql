-- Documents whose bytes are not those that the digests of their archive were made of. `digest_mismatch` says which digests:
-- `block`, `payload`, or both.
ALTER TABLE document ADD COLUMN digest_mismatch TEXT;

-- Contents whose `.met` files do not tell yet what the catalog knows: whoever has the collection at hand writes them. `stamp`
-- is the generation of the collection in which that became so.
CREATE TABLE outdated_met (
    content_id BIGINT NOT NULL PRIMARY KEY,
    stamp BIGINT NOT NULL
) {clustered};

-- Those that tell of one URL only, of no state and of no correction.
INSERT INTO outdated_met (content_id, stamp)
SELECT content.id, 0 FROM content
WHERE (SELECT count(*) FROM document WHERE document.content_id = content.id) > 1
    OR EXISTS (SELECT 1 FROM document WHERE document.content_id = content.id
        AND (document.state <> 0 OR document.discover_date <> document.update_date))
    OR EXISTS (SELECT 1 FROM version WHERE version.content_id = content.id)
    OR EXISTS (SELECT 1 FROM judgement WHERE judgement.sha1 = content.sha1 AND judgement.corrected_at IS NOT NULL);

-- URLs that were only heard of: there were revisits or edges, but no bytes. What is known of them counts when bytes come.
CREATE TABLE heard (
    md5 TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    rev_host TEXT NOT NULL,
    discover_date BIGINT NOT NULL,
    update_date BIGINT NOT NULL,
    parent_id BIGINT REFERENCES parent (id),
    parent_date BIGINT,
    depth BIGINT,
    is_seed BIGINT,
    source TEXT
) {clustered};

CREATE INDEX heard_by_parent ON heard (parent_id);

INSERT INTO heard (md5, url, host, rev_host, discover_date, update_date, parent_id, parent_date, depth, is_seed, source)
SELECT md5, url, host, rev_host, discover_date, update_date, parent_id, parent_date, depth, is_seed, source
FROM document WHERE content_id IS NULL;
DELETE FROM document WHERE content_id IS NULL;
