-- Schedules, the queue of jobs, people, and what the console searches and counts.

ALTER TABLE recurring_job RENAME TO schedule;
ALTER TABLE job RENAME COLUMN recurring_job_id TO schedule_id;
ALTER TABLE history RENAME COLUMN recurring_job_id TO schedule_id;

-- Whoever changes a schedule tells which version was seen, so that no change of another is lost.
ALTER TABLE schedule ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE schedule ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE schedule ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN last_run BIGINT;
ALTER TABLE schedule DROP COLUMN incremental;
DROP INDEX recurring_job_due;
-- When the last run was due that was withdrawn before it began: the next is planned after that.
ALTER TABLE schedule RENAME COLUMN next_run TO skipped;
CREATE INDEX schedule_by_repository ON schedule (repository_id);

-- `host` is where the repository answers, `host:port`: politeness is owed to hosts.
ALTER TABLE repository ADD COLUMN host TEXT NOT NULL DEFAULT '';

-- How many records are held, kept up to date by every page: to count a million takes too long for a page that is looked
-- at.
CREATE TABLE holding (
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    metadata_prefix TEXT NOT NULL,
    records BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    PRIMARY KEY (repository_id, metadata_prefix)
) {clustered};
INSERT INTO holding (repository_id, metadata_prefix, records, deleted)
    SELECT repository_id, metadata_prefix, count(*) - sum(deleted), sum(deleted) FROM record
    GROUP BY repository_id, metadata_prefix;

-- Lists of one repository's records go along their numbers, which the unique index does not. What they may be asked for
-- is in the index too, so that the rows of others are not read.
CREATE INDEX record_by_repository ON record (repository_id, id, datestamp, deleted, metadata_prefix);
-- Tombstones are few among many.
CREATE INDEX record_deleted ON record (repository_id, id) WHERE deleted = 1;
-- Pages of what a harvest changed, and of a set, go along the numbers of records.
DROP INDEX record_by_change;
CREATE INDEX record_by_change ON record (changed_by, id);
DROP INDEX record_set_by_set;
CREATE INDEX record_set_by_set ON record_set (set_id, record_id);

ALTER TABLE job ADD COLUMN created_by TEXT;
DROP INDEX job_active;
DROP INDEX job_due;
-- A schedule has one job that waits or runs, and a repository is harvested, or kept quiet, by one job at a time.
CREATE UNIQUE INDEX job_of_schedule ON job (schedule_id)
    WHERE schedule_id IS NOT NULL AND state IN ('scheduled', 'running');
CREATE UNIQUE INDEX job_of_repository ON job (repository_id)
    WHERE state = 'running' AND kind IN ('harvest', 'quiet');
CREATE INDEX job_due ON job (state, run_at, id);
-- The order in which jobs are claimed: those first that a worker left without a word.
CREATE INDEX job_in_order ON job (state, (lease_owner IS NULL), priority DESC, run_at, id);
CREATE INDEX job_by_state ON job (state, id);
CREATE INDEX job_by_repository ON job (repository_id, id);
CREATE INDEX job_by_schedule ON job (schedule_id, id) WHERE schedule_id IS NOT NULL;

CREATE TABLE job_log (
    id {id},
    job_id BIGINT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    level TEXT NOT NULL,
    message TEXT NOT NULL
);

CREATE INDEX job_log_by_job ON job_log (job_id, id);

-- One harvest of a repository at a time, whatever its format and set.
UPDATE history SET state = 'failed', ended = {now}, lease_token = lease_token + 1,
    failure_reason = 'interrupted by an update of the catalog' WHERE state = 'running';
DROP INDEX history_running;
CREATE UNIQUE INDEX history_running ON history (repository_id) WHERE state = 'running';
CREATE INDEX history_by_start ON history (started);
CREATE INDEX history_by_state ON history (state, id);

-- Harvests whose words cannot be searched for yet. It is no column of `history`, because an entry may be removed before
-- that. `pages` counts those that changed something, so that what comes meanwhile is noticed.
CREATE TABLE unindexed (
    harvest_id BIGINT NOT NULL PRIMARY KEY,
    pages BIGINT NOT NULL
);
INSERT INTO unindexed (harvest_id, pages) SELECT DISTINCT changed_by, 1 FROM record;

-- What a record is called; its words are in `record_search`.
ALTER TABLE record ADD COLUMN title TEXT;
{search}

-- Filter files and mapping files, by which schedules treat records.
CREATE TABLE rules (
    id {id},
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    changed BIGINT NOT NULL,
    changed_by TEXT,
    UNIQUE (kind, name)
);

CREATE TABLE account (
    id {id},
    name TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    role TEXT NOT NULL,
    disabled BIGINT NOT NULL DEFAULT 0,
    created BIGINT NOT NULL,
    last_login BIGINT
);

-- Only digests are kept of what opens a session or the API.
CREATE TABLE session (
    digest TEXT NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    created BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    expires BIGINT NOT NULL
);

CREATE INDEX session_by_account ON session (account_id);

CREATE TABLE api_token (
    id {id},
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT,
    seen BIGINT
);

CREATE INDEX api_token_by_account ON api_token (account_id);

-- Who changed what. The name stays when the account is gone.
CREATE TABLE audit (
    id {id},
    at BIGINT NOT NULL,
    account TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT
);

CREATE INDEX audit_by_account ON audit (account, id);
