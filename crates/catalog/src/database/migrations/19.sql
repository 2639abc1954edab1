-- A run is a job, or a harvest or an import of a command: these have their numbers from the sequence of jobs. A harvest or
-- an import keeps the number of its run when its job is removed.
ALTER TABLE history ADD COLUMN run_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE import ADD COLUMN run_id BIGINT NOT NULL DEFAULT 0;
UPDATE history SET run_id = job_id WHERE job_id IS NOT NULL;
UPDATE import SET run_id = job_id WHERE job_id IS NOT NULL;

-- Those without a job get numbers behind all that were given to jobs. The row says which is the last, and goes.
INSERT INTO job (kind, state, run_at, created) SELECT 'quiet', 'cancelled', 0, 0
    WHERE EXISTS (SELECT 1 FROM history WHERE job_id IS NULL) OR EXISTS (SELECT 1 FROM import WHERE job_id IS NULL);
UPDATE history SET run_id = id + (SELECT max(id) FROM job) WHERE job_id IS NULL;
UPDATE import SET run_id = id + (SELECT max(id) FROM job) + (SELECT COALESCE(max(id), 0) FROM history)
    WHERE job_id IS NULL;
{skip_run_numbers}
DELETE FROM job WHERE kind = 'quiet' AND run_at = 0 AND created = 0;

CREATE INDEX history_by_run ON history (run_id, id);
CREATE INDEX import_by_run ON import (run_id, id);
CREATE INDEX history_by_result ON history (state, run_id);
CREATE INDEX import_by_result ON import (state, run_id);
CREATE INDEX history_alone ON history (state, run_id) WHERE job_id IS NULL;
CREATE INDEX import_alone ON import (state, run_id) WHERE job_id IS NULL;

-- What failed of late, for those who group it by its cause.
CREATE INDEX job_failed ON job (finished) WHERE state = 'failed';
CREATE INDEX history_failed ON history (ended) WHERE state = 'failed' AND job_id IS NULL;
CREATE INDEX import_failed ON import (ended) WHERE state = 'failed' AND job_id IS NULL;

-- Runs whose harvest or import another run resumed.
CREATE TABLE former_run (
    run_id BIGINT NOT NULL PRIMARY KEY,
    resumed_by BIGINT NOT NULL
) {clustered};

-- What a warning of an import is about, as the counts of the run name it.
ALTER TABLE import_warning ADD COLUMN kind TEXT NOT NULL DEFAULT '';
CREATE INDEX import_warning_by_kind ON import_warning (import_id, kind, id);
