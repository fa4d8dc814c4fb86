-- Pull requests for SQL: tables that are open to proposals, and the statement of each upload that came from one.

-- A table that members of a workspace may propose statements on. Its dataset is made with it and stays when it is closed, because
-- uploads refer to it.
create table iu_core.ingest_proposal_table (
  dataset text primary key constraint ingest_proposal_table_of_dataset references iu_core.ingest_dataset (dataset),
  workspace_id uuid not null,
  -- schema.table, quoted where it must be.
  target text not null,
  operations text[] not null constraint ingest_proposal_table_operations_known
    check (operations <@ array['insert', 'update', 'delete'] and cardinality(operations) > 0),
  -- Columns that a statement may set; NULL: all but the key.
  columns text[] constraint ingest_proposal_table_columns_some check (cardinality(columns) > 0),
  -- Somebody has said that the table's triggers may run while a statement is worked out.
  triggers_allowed boolean not null default false,
  max_rows integer not null default 10000 constraint ingest_proposal_table_rows_some check (max_rows between 1 and 100000),
  opened_by text not null,
  opened_at timestamptz not null default clock_timestamp(),
  closed_by text,
  closed_at timestamptz,
  constraint ingest_proposal_table_closed_by_somebody check ((closed_by is null) = (closed_at is null)),
  constraint ingest_proposal_table_once_a_workspace unique (workspace_id, target)
);
alter table iu_core.ingest_proposal_table enable row level security;
create policy ingest_proposal_table_member_reads on iu_core.ingest_proposal_table for select
  to authenticated, stagedoor_reviewer, stagedoor_agent using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_proposal_table_service_reads on iu_core.ingest_proposal_table for select to service_role, dot_executor using (true);
grant select on iu_core.ingest_proposal_table to authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor;

-- Who opened, changed and closed which table.
create table iu_core.ingest_proposal_table_audit (
  audit_id bigint generated always as identity primary key,
  dataset text not null,
  old_row jsonb,
  new_row jsonb,
  actor text not null,
  changed_at timestamptz not null default clock_timestamp()
);
alter table iu_core.ingest_proposal_table_audit enable row level security;
create policy ingest_proposal_table_audit_service_reads on iu_core.ingest_proposal_table_audit for select to service_role, dot_executor using (true);
grant select on iu_core.ingest_proposal_table_audit to service_role, dot_executor;

-- An upload whose rows a statement gave instead of a file.
create table iu_core.ingest_proposal (
  upload_id uuid primary key constraint ingest_proposal_of_upload references iu_core.ingest_upload (upload_id),
  statement text not null constraint ingest_proposal_statement_length check (length(statement) between 1 and 20000),
  operation text not null constraint ingest_proposal_operation_known check (operation in ('insert', 'update', 'delete', 'merge')),
  target text not null,
  -- How long the statement took with its analysis, and how long its locks were held.
  took_ms integer not null,
  locked_ms integer not null,
  proposed_at timestamptz not null default clock_timestamp()
);
alter table iu_core.ingest_proposal enable row level security;
create policy ingest_proposal_with_its_upload on iu_core.ingest_proposal for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_proposal to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
