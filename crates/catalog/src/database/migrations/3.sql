-- The collection of documents, and imports that fill it.

-- Documents and contents have their numbers from one sequence, so that a document is found under its own number.
-- `generation` counts up whenever something of the collection is written: what was read before still holds if it did not.
-- `place` is where the files lie, as the first import had it: a directory, or nothing for that of the holdings.
CREATE TABLE collection_state (
    next_number BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    place TEXT
);
INSERT INTO collection_state (next_number, generation) VALUES (1, 1);

-- The page that linked to a document. URLs are of any length, so that only their digests stand in indexes.
CREATE TABLE parent (
    id {id},
    url TEXT NOT NULL,
    md5 TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    first_crawl_date BIGINT NOT NULL,
    last_crawl_date BIGINT NOT NULL
);

CREATE INDEX parent_by_host ON parent (host, id);

-- Bytes, which lie in the collection under this number. `stored` is 0 if they were lost: whoever brings them again is
-- asked to store them. `doomed` is 1 if nobody needs them any more but for an import that counts on them.
CREATE TABLE content (
    id {number},
    sha1 TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    media_type TEXT NOT NULL,
    extension TEXT NOT NULL,
    stored BIGINT NOT NULL DEFAULT 1,
    doomed BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX content_doomed ON content (id) WHERE doomed = 1;
CREATE INDEX content_lost ON content (id) WHERE stored = 0;

-- A URL. One with a negative number is only heard of: there were revisits or edges, but no bytes.
-- `crawl_date` is when its content was crawled last, `parent_date` when its parent first linked to it.
-- `revisit` is 1 if its content is only known by revisits.
CREATE TABLE document (
    id {number},
    url TEXT NOT NULL,
    md5 TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    rev_host TEXT NOT NULL,
    content_id BIGINT REFERENCES content (id),
    content_sha1 TEXT,
    declared_type TEXT,
    sniffed_type TEXT,
    media_type TEXT,
    discover_date BIGINT NOT NULL,
    update_date BIGINT NOT NULL,
    crawl_date BIGINT,
    parent_id BIGINT REFERENCES parent (id),
    parent_date BIGINT,
    depth BIGINT,
    is_seed BIGINT,
    state BIGINT NOT NULL DEFAULT 0,
    member TEXT,
    source TEXT,
    revisit BIGINT NOT NULL DEFAULT 0,
    import_id BIGINT NOT NULL
);

-- The host turned around finds a host as well as a domain.
CREATE INDEX document_by_host ON document (rev_host, id);
CREATE INDEX document_by_update ON document (update_date, id);
CREATE INDEX document_by_state ON document (state, id);
CREATE INDEX document_by_content ON document (content_id);
CREATE INDEX document_by_parent ON document (parent_id, id);
CREATE INDEX document_by_import ON document (import_id, id);

-- Older contents of a document that are kept.
CREATE TABLE version (
    document_id BIGINT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    content_id BIGINT NOT NULL REFERENCES content (id),
    crawl_date BIGINT NOT NULL,
    PRIMARY KEY (document_id, content_id)
) {clustered};

CREATE INDEX version_by_content ON version (content_id);

-- What revisits say of URLs that no bytes are known of, until there are some under any URL.
CREATE TABLE revisit (
    md5 TEXT NOT NULL,
    sha1 TEXT NOT NULL,
    crawl_date BIGINT NOT NULL,
    PRIMARY KEY (md5, sha1)
) {clustered};

CREATE INDEX revisit_by_content ON revisit (sha1);

-- An import, also while it runs. `target` is the digest of what is imported. `reserved` are the numbers that were given
-- to new contents and not committed yet, `pinned` those of contents that its next commit counts on. `groups` counts the
-- commits, so that none is made twice. `superfluous` are the files that are to be removed since the last of them. No other
-- runs beside one that is `exclusive`.
CREATE TABLE import (
    id {id},
    target TEXT NOT NULL,
    parameters TEXT NOT NULL,
    keep_versions BIGINT NOT NULL,
    job_id BIGINT REFERENCES job (id) ON DELETE SET NULL,
    schedule_id BIGINT REFERENCES schedule (id) ON DELETE SET NULL,
    state TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT,
    lease_owner TEXT NOT NULL,
    lease_token BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    counters TEXT NOT NULL DEFAULT '{}',
    groups BIGINT NOT NULL DEFAULT 0,
    reserved TEXT,
    pinned TEXT,
    superfluous TEXT,
    exclusive BIGINT NOT NULL DEFAULT 0,
    reason TEXT
);

CREATE UNIQUE INDEX import_running ON import (target) WHERE state = 'running';
CREATE INDEX import_by_target ON import (target, id);
CREATE INDEX import_unfinished ON import (id) WHERE state = 'failed';
CREATE INDEX import_by_start ON import (started);
CREATE INDEX import_by_job ON import (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE import_source (
    import_id BIGINT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    source TEXT NOT NULL,
    position BIGINT NOT NULL DEFAULT 0,
    done BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (import_id, number)
) {clustered};

CREATE TABLE import_warning (
    id {id},
    import_id BIGINT NOT NULL REFERENCES import (id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    file_offset BIGINT,
    reason TEXT NOT NULL
);

CREATE INDEX import_warning_by_import ON import_warning (import_id, id);
