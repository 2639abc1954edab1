-- The order in which changes became visible: by it, whoever asks what changed since a moment misses nothing.

-- The last change. Whoever changes something takes the next number from this row as the last deed of its transaction, so
-- that numbers and times rise in the order of commits. `at` is never behind an answer that named it, `rank` counts the
-- groups of its second. One row.
CREATE TABLE change_state (
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    rank BIGINT NOT NULL
);

-- What one transaction changed of one kind: records of a repository in a format (0), documents (1), or tombstones of
-- either (2). `seq`, `at` and `rank` are unset only within that transaction. `size` is the number of rows at first; rows
-- that change again leave for a later group. Rows that were there before groups have the number 0, and belong to the group
-- of their repository and format that is `initial`.
CREATE TABLE change_group (
    id {id},
    kind BIGINT NOT NULL,
    repository_id BIGINT NOT NULL,
    metadata_prefix TEXT NOT NULL,
    size BIGINT NOT NULL DEFAULT 0,
    initial BIGINT NOT NULL DEFAULT 0,
    seq BIGINT UNIQUE,
    at BIGINT,
    rank BIGINT,
    UNIQUE (at, rank)
);

CREATE INDEX change_group_of_repository ON change_group (repository_id, at, rank);
CREATE INDEX change_group_of_documents ON change_group (seq) WHERE repository_id = 0;

ALTER TABLE record ADD COLUMN change_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX record_by_group ON record (change_id, metadata_prefix, repository_id, id);
-- The same identifier may come from several repositories.
CREATE INDEX record_by_identifier ON record (identifier, id);

ALTER TABLE document ADD COLUMN change_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX document_by_group ON document (change_id, id);

-- Records and documents that are gone from the catalog, `subject_id` being their number. Documents are of repository 0 and
-- have their number as identifier as well. One that came back has `change_id` -1, and its first number is still known.
-- `set_specs` are the sets of a record, one a line.
CREATE TABLE tombstone (
    id {id},
    change_id BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    repository_id BIGINT NOT NULL,
    metadata_prefix TEXT NOT NULL,
    identifier TEXT NOT NULL,
    identifier_in_full TEXT,
    set_specs TEXT,
    host TEXT,
    media_type TEXT,
    kind TEXT,
    UNIQUE (repository_id, metadata_prefix, identifier)
);

CREATE INDEX tombstone_by_group ON tombstone (change_id, id);
CREATE INDEX tombstone_by_identifier ON tombstone (identifier, subject_id);

-- Repositories that were removed, under the number that they have again when they are added again.
CREATE TABLE former_repository (
    base_url TEXT NOT NULL PRIMARY KEY,
    repository_id BIGINT NOT NULL,
    name TEXT
) {clustered};

INSERT INTO change_group (kind, repository_id, metadata_prefix, size, initial, seq, at, rank)
    SELECT 0, repository_id, metadata_prefix, records + deleted, 1,
        row_number() OVER (ORDER BY repository_id, metadata_prefix), {now},
        row_number() OVER (ORDER BY repository_id, metadata_prefix)
    FROM holding;
INSERT INTO change_group (kind, repository_id, metadata_prefix, size, initial, seq, at, rank)
    SELECT 1, 0, '', (SELECT count(*) FROM document), 1, count(*) + 1, {now}, count(*) + 1 FROM change_group;
INSERT INTO change_state (seq, at, rank)
    SELECT max(seq), max(at), max(rank) + 1 FROM change_group;
