-- Figures that take a pass over all documents, as JSON, as of a generation of the collection.
CREATE TABLE figures (
    name TEXT NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    computed BIGINT NOT NULL,
    content TEXT NOT NULL
) {clustered};
