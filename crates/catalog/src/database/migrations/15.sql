-- Documents that were removed. `kept` is the row of a document as JSON; it is null once the trash no longer holds its files.
-- A takedown stays then, so that no import brings it back.
CREATE TABLE trash (
    document_id {number},
    url TEXT NOT NULL,
    md5 TEXT NOT NULL,
    host TEXT NOT NULL,
    member TEXT,
    media_type TEXT,
    size BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    removed_by TEXT,
    reason TEXT NOT NULL,
    takedown BIGINT NOT NULL,
    kept TEXT
);

CREATE INDEX trash_takedown ON trash (md5) WHERE takedown = 1;
CREATE INDEX trash_by_time ON trash (removed) WHERE kept IS NOT NULL;

-- The contents of removed documents: the current one without a `crawl_date`, and older versions.
CREATE TABLE trash_bytes (
    document_id BIGINT NOT NULL REFERENCES trash (document_id) ON DELETE CASCADE,
    content_id BIGINT NOT NULL,
    sha1 TEXT NOT NULL,
    crawl_date BIGINT,
    PRIMARY KEY (document_id, content_id)
) {clustered};

CREATE INDEX trash_bytes_by_content ON trash_bytes (content_id);
CREATE INDEX trash_bytes_by_sha1 ON trash_bytes (sha1);

-- Contents that only removed documents have. `state` says where their files are: `waiting` in the collection, because an
-- import counts on them; `leaving` on their way to the trash; `trashed` there; `gone` to be removed for good.
CREATE TABLE trashed_content (
    content_id {number},
    state TEXT NOT NULL,
    sha1 TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    media_type TEXT NOT NULL,
    extension TEXT NOT NULL,
    stored BIGINT NOT NULL
);

CREATE INDEX trashed_content_pending ON trashed_content (content_id) WHERE state <> 'trashed';

-- Named blacklists and whitelists.
CREATE TABLE url_list (
    id {id},
    kind TEXT NOT NULL,
    name TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    entries BIGINT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    changed BIGINT NOT NULL,
    changed_by TEXT
);

-- How often documents are cited, by the MD5 under which imports know them.
CREATE TABLE citation (
    md5 TEXT NOT NULL PRIMARY KEY,
    citations BIGINT NOT NULL
) {clustered};

-- What the last check of a parent's link found.
CREATE TABLE link_check (
    parent_id BIGINT NOT NULL PRIMARY KEY REFERENCES parent (id) ON DELETE CASCADE,
    checked BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,
    final_url TEXT
) {clustered};

-- Documents that failed, for cleaning.
CREATE INDEX document_failed ON document (id) WHERE state = 2;
