-- Jobs say what they do and what they wait for.

-- The last thing that the worker did, as JSON; only of a job that runs.
ALTER TABLE job ADD COLUMN activity TEXT;
-- Why a job was put back into the queue without having failed.
ALTER TABLE job ADD COLUMN put_off TEXT;

-- Processes with workers, as they report themselves. `kinds` is a JSON list of the kinds of jobs that they run.
CREATE TABLE worker (
    owner TEXT NOT NULL PRIMARY KEY,
    kinds TEXT NOT NULL,
    threads BIGINT NOT NULL,
    started BIGINT NOT NULL,
    seen BIGINT NOT NULL
) {clustered};
