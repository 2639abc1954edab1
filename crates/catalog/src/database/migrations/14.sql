-- Orders that people keep under a name: retrievals, and templates of imports.
CREATE TABLE saved (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    changed BIGINT NOT NULL,
    changed_by TEXT,
    PRIMARY KEY (kind, name)
) {clustered};

-- Read-only views for other programs, with the tables and columns of the papers that this work goes back to: `document` and
-- `parenturl` of the Crawl Document Importer, the others of the OAI harvester. They are stable: docs/reference/sql-views.md
-- promises them. A later step that changes a column they name drops and makes them again.
{papers}

CREATE VIEW {paper(document)} AS SELECT
    id, url, md5, host, content_sha1,
    {moment(discover_date)} AS discover_date,
    {moment(update_date)} AS update_date,
    parent_id, state
FROM document;
{read_only(document)}

CREATE VIEW {paper(parenturl)} AS SELECT
    id, url, md5,
    {moment(first_crawl_date)} AS first_crawl_date,
    {moment(last_crawl_date)} AS last_crawl_date
FROM parent;
{read_only(parenturl)}

CREATE VIEW {paper(OAIRepository)} AS SELECT
    id AS repositoryID,
    name AS repositoryName,
    base_url AS baseURL,
    protocol_version AS protocolVersion,
    {field(admin_emails,0)} AS adminEmail,
    repository_identifier AS RegistryPrefix,
    {moment(added)} AS DateAdded,
    base_directory AS baseDIR
FROM repository;
{read_only(OAIRepository)}

CREATE VIEW {paper(OAISet)} AS SELECT
    repository_id AS repositoryID, set_spec AS setSpec, name AS setName
FROM oai_set;
{read_only(OAISet)}

-- The second name of the schema is the one that the paper prints.
CREATE VIEW {paper(OAIMetadataFormat)} AS SELECT
    id AS prefixID, metadata_prefix AS metadataPrefix, metadata_schema AS metadataSchema,
    metadata_schema AS metdataSchema, metadata_namespace AS metadataNamespace
FROM metadata_format;
{read_only(OAIMetadataFormat)}

CREATE VIEW {paper(OAIPrefixMapping)} AS SELECT
    repository_id AS repositoryID, format_id AS prefixID
FROM format_mapping;
{read_only(OAIPrefixMapping)}

CREATE VIEW {paper(OAIRecord)} AS SELECT
    id AS recordID,
    repository_id AS repositoryID,
    COALESCE(identifier_in_full, identifier) AS identifier,
    file AS filename,
    {moment(harvested)} AS harvestTime,
    {moment(datestamp)} AS datestamp,
    metadata_prefix AS metadataPrefix,
    CASE deleted WHEN 0 THEN 'available' ELSE 'deleted' END AS status,
    CASE WHEN changed_by = run_id THEN 1 ELSE 0 END AS updateFlag
FROM record;
{read_only(OAIRecord)}

CREATE VIEW {paper(OAISetMapping)} AS SELECT
    record_set.record_id AS recordID, oai_set.set_spec AS setSpec
FROM record_set JOIN oai_set ON oai_set.id = record_set.set_id;

CREATE VIEW {paper(OAIRecurringJobs)} AS SELECT
    id,
    repository_id AS repositoryID,
    {moment(starts)} AS startDate,
    {moment(ends)} AS endDate,
    {field(parameters,'from')} AS harvestFrom,
    {field(parameters,'until')} AS harvestTo,
    frequency,
    NULLIF(set_spec, '') AS setSpec,
    metadata_prefix AS metadataPrefix,
    CASE state WHEN 'new' THEN 0 WHEN 'recurring' THEN 1 WHEN 'once' THEN 2 WHEN 'paused' THEN 3 ELSE 4 END AS state,
    CASE {field(parameters,'method')} WHEN 'ListIdentifiers' THEN 1 ELSE 0 END AS method,
    {moment(added)} AS dateAdded,
    CASE WHEN CAST({field(parameters,'full')} AS TEXT) IN ('1', 'true') THEN 0 ELSE 1 END AS incremental,
    {field(parameters,'filter')} AS filterFilePath,
    CASE {field(parameters,'validation')} WHEN 'very-strict' THEN 1 WHEN 'loose' THEN 2 ELSE 0 END AS validation,
    {field(parameters,'normalise')} AS normalizeFilePath
FROM schedule WHERE kind = 'harvest';
{read_only(OAIRecurringJobs)}

CREATE VIEW {paper(OAIJob)} AS SELECT
    repository_id AS repositoryID,
    NULLIF(set_spec, '') AS setSpec,
    {moment(run_at)} AS harvestStartTime,
    CASE state WHEN 'scheduled' THEN 0 ELSE 1 END AS status,
    id AS jobID,
    CASE {field(parameters,'method')} WHEN 'ListIdentifiers' THEN 1 ELSE 0 END AS harvestMethod,
    {process(lease_owner)} AS processID,
    {field(parameters,'from')} AS harvestFrom,
    {field(parameters,'until')} AS harvestTo,
    metadata_prefix AS metadataPrefix,
    metadata_prefix AS metdataPrefix,
    schedule_id AS recurringID,
    {field(parameters,'filter')} AS filterFilePath,
    CASE {field(parameters,'validation')} WHEN 'very-strict' THEN 1 WHEN 'loose' THEN 2 ELSE 0 END AS validation,
    {field(parameters,'normalise')} AS normalizeFilePath
FROM job WHERE kind = 'harvest' AND state IN ('scheduled', 'running');
{read_only(OAIJob)}

CREATE VIEW {paper(OAIHistory)} AS SELECT
    repository_id AS repositoryID,
    new_records + updated + unchanged + deleted AS recordCount,
    {moment(started)} AS harvestStartTime,
    {moment(ended)} AS harvestEndTime,
    job_id AS jobID,
    state AS status,
    failure_reason AS failureReason,
    schedule_id AS recurringID,
    NULLIF(set_spec, '') AS setSpec,
    id AS historyID
FROM history;
{read_only(OAIHistory)}
