-- The queue keeps on the job's row what it has to know to choose one: it does not look at what a job does.

-- Jobs with the same key do not run at once.
ALTER TABLE job ADD COLUMN exclusive TEXT;
-- The host that the job asks; it takes one of the host's slots while it runs.
ALTER TABLE job ADD COLUMN host TEXT;
UPDATE job SET exclusive = 'repository ' || repository_id
    WHERE repository_id IS NOT NULL AND kind IN ('harvest', 'quiet') AND state IN ('scheduled', 'running');
UPDATE job SET host = (SELECT host FROM repository WHERE repository.id = job.repository_id)
    WHERE kind = 'harvest' AND state IN ('scheduled', 'running');
-- Only its holder can go on with a job of no attempts.
UPDATE job SET max_attempts = 0 WHERE kind = 'quiet';

DROP INDEX job_of_repository;
CREATE UNIQUE INDEX job_exclusive ON job (exclusive) WHERE state = 'running';

-- The slots that are taken. A job frees its slot when it stops running, however that comes about.
CREATE TABLE host_slot (
    host TEXT NOT NULL,
    number BIGINT NOT NULL,
    job_id BIGINT NOT NULL UNIQUE REFERENCES job (id) ON DELETE CASCADE,
    PRIMARY KEY (host, number)
) {clustered};
{free_slot}
INSERT INTO host_slot (host, number, job_id)
    SELECT host, id, id FROM job WHERE state = 'running' AND host IS NOT NULL;

-- How many jobs may run at one host; 0 is no limit. One row.
CREATE TABLE queue_limit (per_host BIGINT NOT NULL);
INSERT INTO queue_limit (per_host) VALUES (1);

-- The order in which jobs are claimed, and the only index for it: until a table is analyzed, another one is chosen.
DROP INDEX job_in_order;
CREATE INDEX job_in_order ON job ((lease_owner IS NULL), priority DESC, run_at, id) WHERE state = 'scheduled';
CREATE INDEX job_by_lease ON job (lease_until) WHERE state = 'running';
