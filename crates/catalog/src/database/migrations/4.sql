-- Schedules of imports, which are about no repository.
ALTER TABLE schedule ADD COLUMN kind TEXT NOT NULL DEFAULT 'harvest';

-- SQLite cannot take NOT NULL from a column, and a table that is dropped to be built anew takes jobs and history away
-- from their schedules. So another column takes its place.
DROP INDEX schedule_by_repository;
ALTER TABLE schedule RENAME COLUMN repository_id TO old_repository_id;
ALTER TABLE schedule ADD COLUMN repository_id BIGINT REFERENCES repository (id) ON DELETE CASCADE;
UPDATE schedule SET repository_id = old_repository_id;
ALTER TABLE schedule DROP COLUMN old_repository_id;
CREATE INDEX schedule_by_repository ON schedule (repository_id);

-- How each source begins: another file under an old name is not gone on with.
ALTER TABLE import_source ADD COLUMN beginning TEXT NOT NULL DEFAULT '';
-- The next import of a schedule goes on where the last one ended.
CREATE INDEX import_by_schedule ON import (schedule_id, id) WHERE schedule_id IS NOT NULL;
