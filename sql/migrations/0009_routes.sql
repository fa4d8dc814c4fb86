-- Routes in: what happens to somebody's tables becomes events, after a dry run and the review of a second person.

insert into iu_core.event_vocabulary values
  ('governance', 'route_changed', 'a route was registered, reviewed, activated, disabled or removed');

create table iu_core.iu_sql_event_route (
  route_code text primary key
    constraint iu_sql_event_route_code_form check (route_code ~ '^[a-z0-9][a-z0-9_.:-]{0,126}$'),
  source_object_kind text not null,
  source_schema text,
  source_table text,
  sql_event text not null,
  target_event_domain text not null,
  target_event_type text not null,
  target_event_stream text,
  enabled boolean not null default false,
  dry_run boolean not null default true,
  fail_closed boolean not null default true,
  -- {"key": "(a,b)"}: of rows with the same values there only the first becomes an event.
  idempotency_policy jsonb not null default '{}'
    constraint iu_sql_event_route_policy_object check (jsonb_typeof(idempotency_policy) = 'object'),
  -- {"keep_refs": […], "forbid_keys": […], "subject": […], "only_changed": true}
  payload_contract jsonb not null default '{}'
    constraint iu_sql_event_route_contract_object check (jsonb_typeof(payload_contract) = 'object'),
  -- Whose the events are: a fixed workspace, or what this column of each row says. Neither: global, for back-end code.
  workspace_id uuid,
  workspace_column text,
  -- Counts the definitions: evidence and triggers of an earlier one say nothing about this one.
  revision integer not null default 1,
  registered_by text not null,
  registered_via text,
  registered_at timestamptz not null default clock_timestamp(),
  reviewed_by text,
  reviewed_via text,
  reviewed_at timestamptz,
  evidence_seen integer,
  activated_by text,
  activated_at timestamptz,
  disabled_reason text,
  -- Failures that are no longer kept one by one (fn_sql_route_sync).
  failures_before bigint not null default 0,

  constraint iu_sql_event_route_event_in_vocabulary foreign key (target_event_domain, target_event_type)
    references iu_core.event_vocabulary (event_domain, event_type),
  constraint iu_sql_event_route_source_has_event check (
    case source_object_kind
      when 'table' then sql_event in ('insert', 'update', 'delete', 'truncate') and num_nulls(source_schema, source_table) = 0
      when 'procedure' then sql_event = 'call' and num_nulls(source_schema, source_table) = 0
      when 'database' then sql_event = 'ddl' and source_table is null
      else false
    end),
  constraint iu_sql_event_route_one_workspace check (num_nonnulls(workspace_id, workspace_column) <= 1),
  constraint iu_sql_event_route_disabled_sends_nothing check (enabled or dry_run),
  constraint iu_sql_event_route_active_was_reviewed check (not enabled or dry_run or reviewed_by is not null),
  constraint iu_sql_event_route_active_has_stamps check ((enabled and not dry_run) = (activated_at is not null)),
  constraint iu_sql_event_route_review_stamps_together check (
    num_nonnulls(reviewed_by, reviewed_at, evidence_seen) in (0, 3) and (reviewed_via is null or reviewed_by is not null)),
  -- Neither the registrant, nor a service that is the registrant and names another, nor the service that registered it
  -- for somebody.
  constraint iu_sql_event_route_reviewed_by_another check (
    reviewed_by is null
    or (reviewed_by <> registered_by and reviewed_via is distinct from registered_by
        and reviewed_by is distinct from registered_via))
);
create index ix_iu_sql_event_route_lookup on iu_core.iu_sql_event_route (source_schema, source_table, sql_event)
  where enabled = true and dry_run = false;

-- Where a route's triggers are: its table with all partitions and children. What the trigger runs is made once, here; the
-- types tell whether the table has been altered since. regclass and regtype survive a dump, plain oids would not.
create table iu_core.iu_sql_event_route_attachment (
  relation regclass not null,
  sql_event text not null,
  route_code text not null references iu_core.iu_sql_event_route (route_code) on delete cascade,
  revision integer not null,
  is_root boolean not null,
  columns text[] not null,
  column_types regtype[] not null,
  forbidden text[] not null,
  send_sql text,
  rehearse_sql text,
  attached_at timestamptz not null default clock_timestamp(),
  primary key (relation, sql_event, route_code)
);
create index iu_sql_event_route_attachment_route on iu_core.iu_sql_event_route_attachment (route_code);

-- The next three are written in users' own transactions. They refer to the route without a foreign key: its check would
-- lock the route's row in every one of them.

-- What a route in dry run would have sent: one row for each statement, the newest of each route only.
create table iu_core.iu_sql_event_route_evidence (
  evidence_id bigint generated always as identity primary key,
  route_code text not null,
  revision integer not null,
  relation text not null,
  events bigint not null,
  refused bigint not null,
  sample jsonb not null,
  actor text not null,
  recorded_at timestamptz not null default clock_timestamp()
);
create index iu_sql_event_route_evidence_route on iu_core.iu_sql_event_route_evidence (route_code, evidence_id);

-- Statements whose routing failed while the user's transaction went on. Inserted, never counted up in place: nobody waits
-- for anybody else's failure.
create table iu_core.iu_sql_event_route_failure (
  failure_id bigint generated always as identity primary key,
  route_code text not null,
  relation text not null,
  sqlstate text not null,
  reason text not null,
  actor text not null,
  failed_at timestamptz not null default clock_timestamp()
);
create index iu_sql_event_route_failure_route on iu_core.iu_sql_event_route_failure (route_code, failure_id);

-- The digests of the idempotency keys that have been sent: the primary key is the one winner.
create table iu_core.iu_sql_event_route_key (
  route_code text not null,
  key bytea not null,
  event_id uuid not null,
  primary key (route_code, key)
);
-- Event ids rise with time, so that the expired ones lie together.
create index iu_sql_event_route_key_age on iu_core.iu_sql_event_route_key using brin (event_id);

-- The log comes with the units. A route may wait for its table as long as it is disabled.
insert into iu_core.iu_sql_event_route (
  route_code, source_object_kind, source_schema, source_table, sql_event,
  target_event_domain, target_event_type, target_event_stream, idempotency_policy, payload_contract, registered_by)
values (
  'iu_lifecycle_log.insert', 'table', 'public', 'iu_lifecycle_log', 'insert',
  'piece', 'lifecycle_changed', 'update',
  '{"key": "(unit_id,to_status,changed_at)"}',
  '{"keep_refs": ["unit_id", "change_set_id"],
    "forbid_keys": ["body", "content", "raw", "vector", "embedding", "secret", "token", "password", "ssn", "personal_data"]}',
  'stagedoor');

alter table iu_core.iu_sql_event_route enable row level security;
create policy iu_sql_event_route_member_reads on iu_core.iu_sql_event_route for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy iu_sql_event_route_service_reads on iu_core.iu_sql_event_route for select
  to service_role, dot_executor using (true);

-- What belongs to a route is seen by whoever sees the route.
alter table iu_core.iu_sql_event_route_attachment enable row level security;
create policy iu_sql_event_route_attachment_with_its_route on iu_core.iu_sql_event_route_attachment for select
  to authenticated, stagedoor_reviewer, service_role, dot_executor
  using (route_code in (select r.route_code from iu_core.iu_sql_event_route r));
alter table iu_core.iu_sql_event_route_evidence enable row level security;
create policy iu_sql_event_route_evidence_with_its_route on iu_core.iu_sql_event_route_evidence for select
  to authenticated, stagedoor_reviewer, service_role, dot_executor
  using (route_code in (select r.route_code from iu_core.iu_sql_event_route r));
alter table iu_core.iu_sql_event_route_failure enable row level security;
create policy iu_sql_event_route_failure_with_its_route on iu_core.iu_sql_event_route_failure for select
  to authenticated, stagedoor_reviewer, service_role, dot_executor
  using (route_code in (select r.route_code from iu_core.iu_sql_event_route r));
grant select on iu_core.iu_sql_event_route, iu_core.iu_sql_event_route_attachment,
  iu_core.iu_sql_event_route_evidence, iu_core.iu_sql_event_route_failure
  to authenticated, stagedoor_reviewer, service_role, dot_executor;
-- Digests are of no use to anybody.
alter table iu_core.iu_sql_event_route_key enable row level security;
