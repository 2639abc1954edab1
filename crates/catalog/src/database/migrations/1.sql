-- The tables of the harvester. Dates are seconds of UTC since 1970; flags are 0 or 1; lists and parameters are JSON.

CREATE TABLE repository (
    id {id},
    base_url TEXT NOT NULL UNIQUE,
    name TEXT,
    protocol_version TEXT,
    admin_emails TEXT NOT NULL DEFAULT '[]',
    earliest_datestamp TEXT,
    deleted_record TEXT,
    granularity TEXT,
    repository_identifier TEXT,
    base_directory TEXT NOT NULL,
    added BIGINT NOT NULL,
    identified BIGINT NOT NULL
);

-- A set that records name but ListSets does not is not listed.
CREATE TABLE oai_set (
    id {id},
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    set_spec TEXT NOT NULL,
    name TEXT,
    listed BIGINT NOT NULL DEFAULT 0,
    UNIQUE (repository_id, set_spec)
);

CREATE TABLE metadata_format (
    id {id},
    metadata_prefix TEXT NOT NULL,
    metadata_schema TEXT NOT NULL,
    metadata_namespace TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE
);

CREATE TABLE format_mapping (
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    format_id BIGINT NOT NULL REFERENCES metadata_format (id),
    position BIGINT NOT NULL,
    PRIMARY KEY (repository_id, format_id)
) {clustered};

-- An identifier too long for an index is shortened, and then stands in `identifier_in_full` as well.
-- `run_id` is the history entry of the harvest that saw the record last, `changed_by` of the one that found it new or
-- changed.
CREATE TABLE record (
    id {id},
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    metadata_prefix TEXT NOT NULL,
    identifier TEXT NOT NULL,
    identifier_in_full TEXT,
    datestamp BIGINT,
    deleted BIGINT NOT NULL,
    file TEXT,
    sha256 TEXT,
    harvested BIGINT NOT NULL,
    validation TEXT NOT NULL,
    run_id BIGINT NOT NULL,
    changed_by BIGINT NOT NULL,
    UNIQUE (repository_id, metadata_prefix, identifier)
);

CREATE TABLE record_set (
    record_id BIGINT NOT NULL REFERENCES record (id) ON DELETE CASCADE,
    set_id BIGINT NOT NULL REFERENCES oai_set (id) ON DELETE CASCADE,
    PRIMARY KEY (record_id, set_id)
) {clustered};

CREATE INDEX record_by_change ON record (changed_by);

CREATE INDEX record_set_by_set ON record_set (set_id);

CREATE TABLE recurring_job (
    id {id},
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    metadata_prefix TEXT NOT NULL,
    set_spec TEXT NOT NULL DEFAULT '',
    parameters TEXT NOT NULL DEFAULT '{}',
    incremental BIGINT NOT NULL DEFAULT 1,
    frequency TEXT NOT NULL,
    starts BIGINT,
    ends BIGINT,
    next_run BIGINT,
    state TEXT NOT NULL,
    added BIGINT NOT NULL
);

CREATE INDEX recurring_job_due ON recurring_job (next_run) WHERE state = 'active';

CREATE TABLE job (
    id {id},
    kind TEXT NOT NULL,
    repository_id BIGINT REFERENCES repository (id) ON DELETE CASCADE,
    recurring_job_id BIGINT REFERENCES recurring_job (id) ON DELETE SET NULL,
    metadata_prefix TEXT NOT NULL DEFAULT '',
    set_spec TEXT NOT NULL DEFAULT '',
    parameters TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL,
    priority BIGINT NOT NULL DEFAULT 0,
    run_at BIGINT NOT NULL,
    attempt BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL DEFAULT 1,
    lease_owner TEXT,
    lease_token BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT,
    cancel_requested BIGINT NOT NULL DEFAULT 0,
    progress_done BIGINT NOT NULL DEFAULT 0,
    progress_total BIGINT,
    progress_note TEXT,
    error TEXT,
    created BIGINT NOT NULL,
    started BIGINT,
    finished BIGINT
);

-- What is queued or running is so once.
CREATE UNIQUE INDEX job_active ON job (kind, repository_id, metadata_prefix, set_spec)
    WHERE state IN ('queued', 'running');
CREATE INDEX job_due ON job (priority, run_at) WHERE state = 'queued';

-- A row is a harvest, also while it runs. `set_spec` is empty if all sets were asked for, because NULL is never the
-- same twice in a unique index. `lease_token` counts how often the harvest was begun or taken over.
CREATE TABLE history (
    id {id},
    repository_id BIGINT NOT NULL REFERENCES repository (id) ON DELETE CASCADE,
    job_id BIGINT REFERENCES job (id) ON DELETE SET NULL,
    recurring_job_id BIGINT REFERENCES recurring_job (id) ON DELETE SET NULL,
    metadata_prefix TEXT NOT NULL,
    set_spec TEXT NOT NULL,
    parameters TEXT NOT NULL,
    state TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT,
    lease_owner TEXT NOT NULL,
    lease_token BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    resume_state TEXT,
    next_from TEXT,
    new_records BIGINT NOT NULL DEFAULT 0,
    updated BIGINT NOT NULL DEFAULT 0,
    unchanged BIGINT NOT NULL DEFAULT 0,
    deleted BIGINT NOT NULL DEFAULT 0,
    filtered BIGINT NOT NULL DEFAULT 0,
    repaired BIGINT NOT NULL DEFAULT 0,
    skipped BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    requests BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    failure_reason TEXT,
    quirks TEXT
);

CREATE UNIQUE INDEX history_running ON history (repository_id, metadata_prefix, set_spec)
    WHERE state = 'running';
CREATE INDEX history_by_repository ON history (repository_id, id);
CREATE INDEX history_by_job ON history (job_id) WHERE job_id IS NOT NULL;

-- What a harvest left out or mended, by name.
CREATE TABLE warning (
    id {id},
    history_id BIGINT NOT NULL REFERENCES history (id) ON DELETE CASCADE,
    identifier TEXT,
    reason TEXT NOT NULL,
    lost BIGINT NOT NULL
);

CREATE INDEX warning_by_history ON warning (history_id, id);
