-- What awaits approval stays out of units and documents, also by way of a playbook (decision 0023).

-- Which executions have read a record that requires approval and had none. By the origin of the execution: whoever started it,
-- its sub-playbooks and its reruns hand results to each other, so that what one has read all may have. No foreign keys: a log is
-- dropped by its partition, and a record that was unregistered is still known to whoever read it.
create table iu_core.execution_unapproved_read (
  origin_execution_id bigint not null,
  staging_record_id uuid not null,
  execution_id bigint not null,
  read_at timestamptz not null default clock_timestamp(),
  constraint execution_unapproved_read_once primary key (origin_execution_id, staging_record_id)
);
comment on table iu_core.execution_unapproved_read is
  'records without the approval that they require, by the executions that have read them';

-- Records that need no approval themselves, staged by an execution that had read one which does.
create table iu_core.iu_staging_carries (
  staging_record_id uuid not null references iu_core.iu_staging_record (staging_record_id) on delete cascade,
  carried_record_id uuid not null,
  constraint iu_staging_carries_once primary key (staging_record_id, carried_record_id)
);
comment on table iu_core.iu_staging_carries is
  'records that need no approval and may hold text of one that does: whoever reads them has read that one';

alter table iu_core.execution_unapproved_read enable row level security;
create policy execution_unapproved_read_service_reads on iu_core.execution_unapproved_read for select
  to service_role, dot_executor using (true);
grant select on iu_core.execution_unapproved_read to service_role, dot_executor;
alter table iu_core.iu_staging_carries enable row level security;
create policy iu_staging_carries_service_reads on iu_core.iu_staging_carries for select
  to service_role, dot_executor using (true);
grant select on iu_core.iu_staging_carries to service_role, dot_executor;
