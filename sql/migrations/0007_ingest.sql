-- Row ingestion: what a file means (datasets), what was read (staging rows), what it would change (plan), what it did
-- change (ledger). Nothing of ours is attached to a production table.

update iu_core.app_role set description = 'also takes back what was staged by mistake' where app_role = 'admin';

insert into iu_core.event_vocabulary values
  ('staging', 'ingestion_staged', 'the lines of an upload were read and checked'),
  ('staging', 'ingestion_planned', 'it was worked out what an upload would change'),
  ('staging', 'ingestion_submitted', 'the plan of an upload was handed to a second person'),
  ('staging', 'ingestion_approved', 'a second person approved the plan of an upload'),
  ('staging', 'ingestion_rejected', 'a second person rejected the plan of an upload'),
  ('staging', 'ingestion_repaired', 'lines of an upload were corrected and checked again'),
  ('staging', 'ingestion_failed', 'an upload could not be read'),
  ('staging', 'ingestion_discarded', 'an upload was thrown away before it was promoted'),
  ('staging', 'ingestion_expired', 'an upload that nobody went on with was given up');

-- What a file means: a declaration, checked against the tables when it is registered.
create table iu_core.ingest_dataset (
  dataset text primary key constraint ingest_dataset_name_plain check (dataset ~ '^[a-z][a-z0-9_]{0,62}$'),
  title text not null,
  version integer not null,
  definition jsonb not null constraint ingest_dataset_definition_object check (jsonb_typeof(definition) = 'object'),
  -- Whether a file was read, and a plan made, by what is registered now. (sha256 would need convert_to, which is not
  -- immutable; nobody gains by a collision, because only workflow_admin registers.)
  definition_digest text not null generated always as (md5(definition::text)) stored,
  -- Nothing is promoted before a second person has approved the plan. A solo user switches it off, audited.
  approval_required boolean not null default true,
  undo_window interval not null default '30 days'
    constraint ingest_dataset_undo_window_some check (undo_window between interval '0' and interval '10 years'),
  registered_by text not null,
  registered_at timestamptz not null default clock_timestamp()
);

-- Registrations and changes are kept, like those of gates.
create table iu_core.ingest_dataset_audit (
  audit_id bigint generated always as identity primary key,
  dataset text not null,
  old_row jsonb,
  new_row jsonb,
  actor text not null,
  changed_at timestamptz not null default clock_timestamp()
);

-- The row types of each platform. One foreign key for both, because it is checked for every staged row.
create table iu_core.ingest_row_type (
  platform text not null,
  row_type text not null,
  primary key (platform, row_type)
);

-- NULL: for every workspace without a line of its own.
create table iu_core.ingest_limit (
  workspace_id uuid constraint ingest_limit_one_each unique nulls not distinct,
  max_bytes bigint not null constraint ingest_limit_bytes_some check (max_bytes > 0),
  max_lines integer not null constraint ingest_limit_lines_some check (max_lines > 0),
  max_at_once integer not null constraint ingest_limit_at_once_some check (max_at_once > 0)
);
insert into iu_core.ingest_limit values (null, 52428800, 100000, 3);

-- What people said about headers and values, remembered for the next file.
create table iu_core.ingest_mapping (
  workspace_id uuid not null,
  dataset text not null references iu_core.ingest_dataset (dataset) on delete cascade,
  platform text not null,
  -- Header → field, or null: leave the column out.
  headers jsonb not null default '{}' constraint ingest_mapping_headers_object check (jsonb_typeof(headers) = 'object'),
  -- Field → {value in the file → value to take}.
  field_values jsonb not null default '{}' constraint ingest_mapping_values_object check (jsonb_typeof(field_values) = 'object'),
  updated_by text not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, dataset, platform)
);

create table iu_core.ingest_upload (
  upload_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  -- Whose data it is; the workspace itself where the dataset has no clients.
  client_id uuid not null,
  dataset text not null references iu_core.ingest_dataset (dataset),
  platform text not null,
  file_name text not null,
  file_hash text not null constraint ingest_upload_hash_sha256 check (file_hash ~ '^[0-9a-f]{64}$'),
  byte_len bigint not null constraint ingest_upload_length_not_negative check (byte_len >= 0),
  run_mode text not null default 'SAFE_PROD'
    constraint ingest_upload_run_mode_known check (run_mode in ('FULL_DRY_RUN', 'STAGING_ONLY', 'SAFE_PROD')),
  status text not null default 'reading'
    constraint ingest_upload_status_known
    check (status in ('reading', 'staged', 'planned', 'promoted', 'undone', 'failed', 'discarded', 'expired')),
  -- How it was asked to be read, and what was remembered then.
  options jsonb not null default '{}',
  -- Format, encoding, headers, which column is which field, number and date styles: enough to check a line again.
  reading jsonb,
  -- About the whole file.
  notes jsonb not null default '[]',
  line_count integer,
  valid_count integer,
  invalid_count integer,
  skipped_count integer,
  warning_count integer,
  progress jsonb,
  -- The process that reads it: only it may finish, and whoever is silent for a minute has died.
  reader_token uuid,
  reader_seen_at timestamptz,
  -- An API pull: where the next one begins. Committed with the promotion.
  cursor_name text,
  cursor_value jsonb,
  error jsonb,
  uploaded_by text not null,
  uploaded_via text,
  -- Whoever put something into it, the uploader first: none of them may approve it.
  changed_by text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Moves with every repair; how long the file took to read does not.
  staged_at timestamptz,
  read_ms integer,
  ended_at timestamptz,
  constraint ingest_upload_staged_has_counts check (
    status not in ('staged', 'planned', 'promoted', 'undone')
    or num_nulls(staged_at, line_count, valid_count, invalid_count, skipped_count, reading) = 0),
  constraint ingest_upload_failed_says_why check (status <> 'failed' or error is not null),
  constraint ingest_upload_ended_has_stamp check (
    (status in ('undone', 'failed', 'discarded', 'expired')) = (ended_at is not null)),
  constraint ingest_upload_read_by_someone check ((status = 'reading') = (reader_token is not null)),
  constraint ingest_upload_cursor_together check (num_nonnulls(cursor_name, cursor_value) in (0, 2))
);
-- The same bytes for the same client: recognised, unless the earlier upload came to nothing.
create unique index ingest_upload_same_bytes_once
  on iu_core.ingest_upload (workspace_id, client_id, dataset, platform, file_hash)
  where status in ('reading', 'staged', 'planned', 'promoted') and run_mode <> 'FULL_DRY_RUN';
-- The list of one workspace, newest first.
create index ingest_upload_workspace on iu_core.ingest_upload (workspace_id, upload_id);
-- What is being read now, for the limit and for the sweep.
create index ingest_upload_reading on iu_core.ingest_upload (reader_seen_at) where status = 'reading';

create type public.staging_validation_status as enum ('pending', 'valid', 'invalid', 'skipped');
create type public.staging_processing_action as enum ('pending', 'insert', 'update', 'skipped', 'failed');
create type public.staging_resolution_status as enum ('pending', 'resolved_existing', 'resolved_new', 'unresolved');

-- Half of every page is left free: promotion marks every row once, and with room for the second version and no index on
-- what it sets the update is HOT (measured for 100,000 rows of 1.3 KB: 2.0 s → 1.0 s).
-- Platform and row type are checked against iu_core.ingest_row_type for all rows of an upload at once, when it is staged:
-- as a foreign key the same check is made for every row and takes a quarter of the time of COPY.
create table public.staging_rows (
  -- Time-ordered and never looked up by itself: no query of ours would use an index over it.
  id uuid not null default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  client_id uuid not null,
  upload_id uuid not null,
  batch_id uuid,
  request_id uuid,
  platform text not null,
  row_type text not null,
  row_number integer not null constraint staging_rows_row_number_positive check (row_number >= 0),
  entity_external_id text,
  raw_payload jsonb not null,
  normalized_payload jsonb,
  validation_status public.staging_validation_status not null default 'pending',
  validation_errors jsonb default '[]'::jsonb,
  validation_warnings jsonb default '[]'::jsonb,
  processing_action public.staging_processing_action not null default 'pending',
  processed_at timestamptz,
  target_internal_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- One row per line and type; it is also the way to all rows of an upload, in the order of the file.
  constraint staging_rows_upload_row_unique primary key (upload_id, row_type, row_number)
) with (fillfactor = 50);
-- What a person may have to look at: few rows in a good file.
create index staging_rows_problems on public.staging_rows (upload_id, row_number)
  where validation_status <> 'valid' or validation_warnings <> '[]';

create table public.staging_id_resolution (
  id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  client_id uuid not null,
  upload_id uuid not null,
  batch_id uuid,
  platform text not null,
  entity_type text not null,
  external_id text not null,
  internal_id uuid,
  resolution_status public.staging_resolution_status not null default 'pending',
  resolution_action public.staging_processing_action,
  parent_external_id text,
  parent_internal_id uuid,
  created_at timestamptz not null default now(),
  resolved_at timestamptz,
  updated_at timestamptz not null default now(),
  constraint staging_id_resolution_platform_has_entity_type foreign key (platform, entity_type)
    references iu_core.ingest_row_type (platform, row_type),
  constraint staging_id_resolution_unique unique (upload_id, entity_type, platform, external_id)
);

-- What an upload would change. One plan at a time: a repair takes it away, and it is made anew.
create table iu_core.ingest_plan (
  upload_id uuid primary key references iu_core.ingest_upload (upload_id),
  plan_id uuid not null default iu_core.fn_time_uuid(),
  digest text not null constraint ingest_plan_digest_sha256 check (digest ~ '^[0-9a-f]{64}$'),
  gate_mode text not null constraint ingest_plan_gate_mode_known check (gate_mode in ('STRICT', 'LENIENT')),
  threshold numeric not null constraint ingest_plan_threshold_share check (threshold between 0 and 1),
  -- Row type → action → rows.
  totals jsonb not null,
  -- Why it cannot be promoted as it is; NULL: it can.
  refusal text,
  -- Of the dataset that it was planned by.
  definition_digest text not null,
  approval_required boolean not null,
  review_record_id uuid references iu_core.iu_staging_record (staging_record_id),
  planned_by text not null,
  planned_at timestamptz not null default clock_timestamp(),
  took_ms integer not null
);

create table iu_core.ingest_plan_row (
  upload_id uuid not null,
  type_order smallint not null,
  row_type text not null,
  row_number integer not null,
  staging_row_id uuid not null,
  action text not null
    constraint ingest_plan_row_action_known check (action in ('insert', 'update', 'unchanged', 'skipped', 'refused')),
  target_id uuid,
  -- Where the table has no id of ours.
  target_key jsonb,
  -- The whole row as it was seen, and what tells later whether it still is.
  before jsonb,
  before_hash bytea,
  -- The columns that will be written.
  after jsonb,
  changed text[],
  reason text,
  row_hash bytea not null,
  primary key (upload_id, type_order, row_number)
);

create table iu_core.ingest_promotion (
  upload_id uuid primary key references iu_core.ingest_upload (upload_id),
  plan_digest text not null,
  gate_mode text not null,
  totals jsonb not null,
  -- The declaration that it was promoted by: an undo must know the tables as they were named then.
  definition jsonb not null,
  review_record_id uuid,
  approved_by text,
  approved_at timestamptz,
  promoted_by text not null,
  promoted_via text,
  promoted_at timestamptz not null,
  run_id uuid not null references iu_core.dot_iu_command_run (run_id),
  undo_until timestamptz not null,
  undone_by text,
  undone_at timestamptz,
  undo_run_id uuid references iu_core.dot_iu_command_run (run_id),
  undo_totals jsonb,
  images_dropped_at timestamptz,
  -- Where the cursor of a pull stood: {"upload_id", "value"}; NULL: nowhere, or it is no pull.
  cursor_before jsonb,
  constraint ingest_promotion_undo_stamps_together check (
    num_nonnulls(undone_by, undone_at, undo_run_id, undo_totals) in (0, 4))
);

-- What was changed: lineage for as long as the target row lives, the images for as long as it can be undone.
create table iu_core.ingest_ledger (
  -- No foreign key: it would be checked for every row, and only promotion writes here, beside its own row there.
  upload_id uuid not null,
  type_order smallint not null,
  row_type text not null,
  -- The line of the file.
  row_number integer not null,
  target text not null,
  -- The id where we gave it one, else its natural key.
  target_id uuid,
  target_key jsonb,
  constraint ingest_ledger_knows_its_row check (num_nonnulls(target_id, target_key) = 1),
  action text not null constraint ingest_ledger_action_known check (action in ('insert', 'update')),
  -- The whole row as it was, where there was one, and what tells whether it is still as we left it. What was written
  -- stands in the plan's row, which is kept as long.
  before jsonb,
  after_hash bytea,
  undo_outcome text constraint ingest_ledger_outcome_known check (undo_outcome in ('reversed', 'kept', 'refused')),
  undo_reason text,
  primary key (upload_id, type_order, row_number)
);
-- Where a production row comes from. Ids rise with time, so the first costs next to nothing.
create index ingest_ledger_target_id on iu_core.ingest_ledger (target_id) where target_id is not null;
create index ingest_ledger_target_key on iu_core.ingest_ledger (target, md5(target_key::text)) where target_id is null;

create table iu_core.ingest_cursor (
  workspace_id uuid not null,
  client_id uuid not null,
  dataset text not null references iu_core.ingest_dataset (dataset),
  platform text not null,
  cursor_name text not null,
  cursor_value jsonb not null,
  upload_id uuid not null references iu_core.ingest_upload (upload_id),
  committed_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, client_id, dataset, platform, cursor_name)
);

-- Everybody reads what datasets there are; only workflow_admin registers.
alter table iu_core.ingest_dataset enable row level security;
create policy ingest_dataset_everyone_reads on iu_core.ingest_dataset for select using (true);
alter table iu_core.ingest_row_type enable row level security;
create policy ingest_row_type_everyone_reads on iu_core.ingest_row_type for select using (true);
grant select on iu_core.ingest_dataset, iu_core.ingest_row_type to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
alter table iu_core.ingest_dataset_audit enable row level security;
create policy ingest_dataset_audit_service_reads on iu_core.ingest_dataset_audit for select
  to service_role, dot_executor using (true);
grant select on iu_core.ingest_dataset_audit to service_role, dot_executor;

alter table iu_core.ingest_limit enable row level security;
create policy ingest_limit_member_reads on iu_core.ingest_limit for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (workspace_id is null or workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_limit_service_reads on iu_core.ingest_limit for select to service_role, dot_executor using (true);
alter table iu_core.ingest_mapping enable row level security;
create policy ingest_mapping_member_reads on iu_core.ingest_mapping for select
  to authenticated, stagedoor_reviewer, stagedoor_agent using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_mapping_service_reads on iu_core.ingest_mapping for select to service_role, dot_executor using (true);
alter table iu_core.ingest_cursor enable row level security;
create policy ingest_cursor_member_reads on iu_core.ingest_cursor for select
  to authenticated, stagedoor_reviewer, stagedoor_agent using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_cursor_service_reads on iu_core.ingest_cursor for select to service_role, dot_executor using (true);
grant select on iu_core.ingest_limit, iu_core.ingest_mapping, iu_core.ingest_cursor to
  authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- People read their workspaces' uploads; an agent reads its own only. Everything else of an upload is seen by whoever
-- sees the upload.
alter table iu_core.ingest_upload enable row level security;
create policy ingest_upload_member_reads on iu_core.ingest_upload for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy ingest_upload_owner_reads on iu_core.ingest_upload for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (uploaded_by = (select iu_core.fn_actor()) and workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_upload_service_reads on iu_core.ingest_upload for select
  to service_role, dot_executor, directus using (true);

alter table iu_core.ingest_plan enable row level security;
create policy ingest_plan_with_its_upload on iu_core.ingest_plan for select
  using (exists (select from iu_core.ingest_upload u where u.upload_id = ingest_plan.upload_id));
alter table iu_core.ingest_plan_row enable row level security;
create policy ingest_plan_row_with_its_upload on iu_core.ingest_plan_row for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_promotion enable row level security;
create policy ingest_promotion_with_its_upload on iu_core.ingest_promotion for select
  using (exists (select from iu_core.ingest_upload u where u.upload_id = ingest_promotion.upload_id));
alter table iu_core.ingest_ledger enable row level security;
create policy ingest_ledger_with_its_upload on iu_core.ingest_ledger for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_upload, iu_core.ingest_plan, iu_core.ingest_plan_row, iu_core.ingest_promotion,
  iu_core.ingest_ledger to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- As the seed has it: the back end writes, members read, anonymous callers see nothing.
alter table public.staging_rows enable row level security;
create policy staging_rows_service_full_access on public.staging_rows
  to service_role using (true) with check (true);
create policy staging_rows_workspace_read on public.staging_rows for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy staging_rows_owner_read on public.staging_rows for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u where u.uploaded_by = (select iu_core.fn_actor())));
alter table public.staging_id_resolution enable row level security;
create policy staging_id_resolution_service_full_access on public.staging_id_resolution
  to service_role using (true) with check (true);
create policy staging_id_resolution_workspace_read on public.staging_id_resolution for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy staging_id_resolution_owner_read on public.staging_id_resolution for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u where u.uploaded_by = (select iu_core.fn_actor())));
grant select on public.staging_rows, public.staging_id_resolution to
  authenticated, stagedoor_agent, stagedoor_reviewer;
grant select, insert, update, delete on public.staging_rows, public.staging_id_resolution to service_role;
