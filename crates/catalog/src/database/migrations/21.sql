-- The tags that the worker of a job must have, and those of workers: JSON arrays of arrays, as parameters are.
ALTER TABLE job ADD COLUMN needs TEXT;
ALTER TABLE worker ADD COLUMN tags TEXT;

-- How records are kept that are harvested from now on, unless the repository says otherwise, and the store of those that do
-- not lie in the data directory; empty if there is none. Where a record is, its `file` tells.
CREATE TABLE record_store (
    way TEXT NOT NULL,
    store TEXT NOT NULL
);
INSERT INTO record_store (way, store) VALUES ('files', '');
ALTER TABLE repository ADD COLUMN record_way TEXT;

-- How many records of packs were replaced or removed since the packs were last compacted.
ALTER TABLE holding ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;

-- Records that are kept in the catalog itself, by the names that `file` has for them.
CREATE TABLE record_content (
    name TEXT NOT NULL PRIMARY KEY,
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    xml TEXT NOT NULL
);
CREATE INDEX record_content_by_repository ON record_content (repository_id);
