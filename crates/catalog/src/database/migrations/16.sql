-- Titles, languages and sketches of texts; the words of documents; near-duplicates.

-- By the bytes, like all that is known of a text. `sketch` is in hexadecimal.
ALTER TABLE judgement ADD COLUMN title TEXT;
ALTER TABLE judgement ADD COLUMN language TEXT;
ALTER TABLE judgement ADD COLUMN sketch TEXT;

-- `near` is the least number of the contents whose texts say nearly the same, each of at least one other; none if no text
-- does. `searchable` is 1 if the words are in `document_search`.
ALTER TABLE content ADD COLUMN title TEXT;
ALTER TABLE content ADD COLUMN language TEXT;
ALTER TABLE content ADD COLUMN near BIGINT;
ALTER TABLE content ADD COLUMN searchable BIGINT NOT NULL DEFAULT 0;
CREATE INDEX content_by_language ON content (language, id) WHERE language IS NOT NULL;
CREATE INDEX content_by_near ON content (near, id) WHERE near IS NOT NULL;

-- Where sketches that agree in a band are found: 16 rows for each text.
CREATE TABLE text_band (
    band BIGINT NOT NULL,
    content_id BIGINT NOT NULL REFERENCES content (id) ON DELETE CASCADE,
    PRIMARY KEY (band, content_id)
) {clustered};
CREATE INDEX text_band_by_content ON text_band (content_id);

{document_search}

-- Contents whose texts are stored and cannot be searched for yet. They are noted in the transaction that brings them;
-- `tried` is when a text could not be read, which is tried again later.
CREATE TABLE unread_text (
    content_id BIGINT NOT NULL PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    tried BIGINT NOT NULL DEFAULT 0
) {clustered};
CREATE INDEX unread_text_by_time ON unread_text (tried, content_id);
INSERT INTO unread_text (content_id)
SELECT content.id FROM content JOIN judgement ON judgement.sha1 = content.sha1
WHERE judgement.outcome = 'text' OR judgement.outcome LIKE 'limit-%';
