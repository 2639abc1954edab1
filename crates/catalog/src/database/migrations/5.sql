-- What the text of a content is, and what the content filter made of it. By the bytes and not by their number, so that what
-- was rejected, and is not in the collection, is remembered as well.

-- `outcome` is what came of reading it: text, empty, encrypted, damaged, image-only and so on. `url` is one that it was met
-- under. `probability` and `kinds` are in millionths. `aside` is 1 if it is in the collection, but search engines are not to
-- take it in. What a librarian said outweighs all else.
CREATE TABLE judgement (
    sha1 TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    engine TEXT,
    pages BIGINT,
    note TEXT,
    decision TEXT,
    probability BIGINT,
    kind TEXT,
    kinds TEXT,
    model TEXT,
    aside BIGINT NOT NULL DEFAULT 0,
    corrected_decision TEXT,
    corrected_kind TEXT,
    corrected_at BIGINT,
    corrected_by TEXT
) {clustered};

CREATE INDEX judgement_aside ON judgement (sha1) WHERE aside = 1;
CREATE INDEX judgement_corrected ON judgement (sha1) WHERE corrected_at IS NOT NULL;
