-- Configuration gates: shared switches, an audit of every change, and overrides for one transaction.

create table iu_core.dot_config (
  key text primary key,
  value text not null constraint dot_config_value_boolean check (value in ('true', 'false')),
  description text not null,
  updated_at timestamptz,
  updated_by text
);
insert into iu_core.dot_config (key, value, description) values
  ('iu_core.staging_writes_enabled', 'false', 'anything may be written into the staging zone'),
  ('iu_core.staging_cleanup_enabled', 'false', 'ended staging records are expired and cleaned'),
  ('iu_core.no_vector_staging_excluded', 'true', 'staged data is kept out of search; closed, nothing at all is embedded'),
  ('queue.consumer_dispatch.enabled', 'false', 'events are turned into jobs');

create table iu_core.dot_config_audit (
  audit_id bigint generated always as identity primary key,
  key text not null,
  change text not null constraint dot_config_audit_change_known
    check (change in ('insert', 'update', 'delete', 'override')),
  old_value text,
  new_value text,
  actor text not null,
  reason text,
  changed_at timestamptz not null default clock_timestamp()
);

-- An override belongs to the transaction that wrote it. The row never outlives it: a deferred trigger deletes
-- it before commit, because after a logical restore an old row would match somebody's future transaction id.
create table iu_core.dot_config_override (
  key text not null references iu_core.dot_config (key),
  tx xid8 not null default pg_current_xact_id(),
  value text not null constraint dot_config_override_value_boolean check (value in ('true', 'false')),
  primary key (key, tx)
);

alter table iu_core.dot_config enable row level security;
create policy dot_config_everyone_reads on iu_core.dot_config for select using (true);
grant select on iu_core.dot_config to
  authenticated, service_role, dot_executor, directus, vector_worker, stagedoor_agent, stagedoor_reviewer;

alter table iu_core.dot_config_audit enable row level security;
create policy dot_config_audit_service_reads on iu_core.dot_config_audit for select to service_role, dot_executor using (true);
grant select on iu_core.dot_config_audit to service_role, dot_executor;

alter table iu_core.dot_config_override enable row level security;
