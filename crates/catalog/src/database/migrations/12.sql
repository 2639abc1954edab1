-- Lists of records go along their datestamps and titles too. What is missing stands first, so that a place in the list is
-- never NULL.
CREATE INDEX record_by_datestamp ON record ((COALESCE(datestamp, 0)), id);
CREATE INDEX record_by_title ON record ((COALESCE(title, '')), id);
