-- Sources whose results were extracted elsewhere and loaded, so that each counts once. The key has the digest of the source
-- and of the options; an import that is removed from the history does not take them with it.
CREATE TABLE extraction (
    key TEXT NOT NULL PRIMARY KEY,
    import_id BIGINT NOT NULL,
    done BIGINT NOT NULL DEFAULT 0
) {clustered};
