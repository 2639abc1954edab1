-- The data directory that the files of this catalog lie in, by the identity that its file `.garner-id` holds. No row before
-- the first process that runs jobs.
CREATE TABLE data_directory (
    identity TEXT NOT NULL
);

-- Until then a harvest is left to the worker that did it: it has the files at hand.
ALTER TABLE unindexed ADD COLUMN held_until BIGINT NOT NULL DEFAULT 0;

-- Records whose words could not be read. They are tried again.
CREATE TABLE unread_record (
    record_id BIGINT NOT NULL PRIMARY KEY REFERENCES record (id) ON DELETE CASCADE,
    tried BIGINT NOT NULL
);

CREATE INDEX unread_record_by_time ON unread_record (tried);
