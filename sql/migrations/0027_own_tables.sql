-- Datasets over ordinary tables: without a tenant in its key a dataset belongs to one workspace; values that a file names are
-- looked up in other tables.

-- NULL: the key of every table says whose row it is, so every workspace may use it.
alter table iu_core.ingest_dataset add column workspace_id uuid;

drop policy ingest_dataset_everyone_reads on iu_core.ingest_dataset;
create policy ingest_dataset_member_reads on iu_core.ingest_dataset for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (workspace_id is null or workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_dataset_service_reads on iu_core.ingest_dataset for select
  to service_role, dot_executor, directus using (true);

-- The written columns of each table as they were when it was planned: {row type: [{"column", "type", …}]}.
alter table iu_core.ingest_plan add column written jsonb not null default '{}';

-- What a plan found in tables that it only reads: promotion finds the same, or the plan is stale.
create table iu_core.ingest_lookup_result (
  upload_id uuid not null references iu_core.ingest_plan (upload_id) on delete cascade,
  lookup text not null,
  -- As the file has it.
  value text not null,
  found text not null
);
create index ingest_lookup_result_of_upload on iu_core.ingest_lookup_result (upload_id);
alter table iu_core.ingest_lookup_result enable row level security;
create policy ingest_lookup_result_with_its_upload on iu_core.ingest_lookup_result for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_lookup_result to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
