-- Executions: playbooks, their append-only log, and what is folded from it.
-- Only the engine that holds an execution's shard writes its log; everybody else writes into its inbox.

insert into iu_core.event_vocabulary values
  ('dot', 'execution.completed', 'an execution of a playbook ended well'),
  ('dot', 'execution.failed', 'an execution of a playbook failed'),
  ('dot', 'execution.cancelled', 'an execution of a playbook was cancelled');

insert into iu_core.job_kind (job_kind, description) values
  ('playbook_start', 'starts a playbook, because of an event or at a time');

-- Ids that rise with time: milliseconds since 2024 (41 bits), the node that made them (10), a counter (12).
-- Node 0 is the database itself; engines lease one of the others.
create sequence noetl.snowflake_counter as integer minvalue 0 maxvalue 4095 start 0 cycle;
-- The latest millisecond that the database gave out: a clock that goes back is noticed.
create sequence noetl.snowflake_clock as bigint minvalue 0 start 0;

-- The least id of a moment, and the moment of an id. Frozen: partitions stand on them.
create function noetl.fn_snowflake_floor(p_at timestamptz) returns bigint
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$ select floor(extract(epoch from p_at) * 1000 - 1704067200000)::bigint << 22 $$;
create function noetl.fn_snowflake_time(p_id bigint) returns timestamptz
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$ select to_timestamp(((p_id >> 22) + 1704067200000) / 1000.0) $$;
-- Which shard an execution belongs to. Frozen: rows carry its answer.
-- Bound to its operators here rather than by a search path, so that it can be inlined.
create function noetl.fn_shard_of(p_execution_id bigint) returns smallint
language sql immutable strict parallel safe
return (((p_execution_id operator(pg_catalog.>>) 22) operator(pg_catalog.#) p_execution_id) operator(pg_catalog.&) 15)::smallint;
revoke all on function noetl.fn_snowflake_floor(timestamptz), noetl.fn_snowflake_time(bigint), noetl.fn_shard_of(bigint) from public;
grant execute on function noetl.fn_snowflake_time(bigint), noetl.fn_shard_of(bigint), noetl.fn_snowflake_floor(timestamptz)
  to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- Playbooks, a row a version. A running execution keeps the one that it began with.
create table noetl.catalog (
  catalog_id bigint primary key,
  path text not null constraint catalog_path_form check (path ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  version integer not null constraint catalog_version_counts check (version > 0),
  kind text not null default 'playbook' constraint catalog_kind_known check (kind = 'playbook'),
  -- As it was written, and as it is run.
  content text not null,
  payload jsonb not null,
  digest bytea not null,
  -- Members of a workspace may start it there; otherwise only the back end may.
  open_to_members boolean not null default false,
  disabled_at timestamptz,
  registered_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (path, version)
);

-- The log. seq has no gaps; event_id rises with it.
create table noetl.event (
  execution_id bigint not null,
  event_id bigint not null,
  seq integer not null constraint event_seq_counts check (seq > 0),
  event_type text not null,
  catalog_id bigint not null,
  parent_event_id bigint,
  parent_execution_id bigint,
  -- One entry of a step: its name and how often it has been entered.
  node_id text,
  node_name text,
  node_type text,
  status text,
  context jsonb,
  result jsonb,
  meta jsonb,
  error text,
  current_index integer,
  current_item jsonb,
  worker_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  primary key (execution_id, event_id),
  unique (execution_id, seq),
  -- Those of which there are many come first: they are compared one by one.
  constraint event_type_known check (event_type in (
    'command.issued', 'command.completed', 'loop.shard.enqueued', 'loop.shard.done', 'loop.item', 'step.enter', 'step.exit',
    'command.failed', 'loop.shard.failed', 'loop.started', 'loop.done', 'loop.fanout.started', 'loop.fanin.completed',
    'playbook.initialized', 'playbook.completed', 'playbook.failed',
    'workflow.initialized', 'workflow.completed', 'workflow.failed',
    'execution.cancelled', 'execution.paused', 'execution.resumed')),
  constraint event_loop_named check (event_type not like 'loop.%' or (meta ->> 'loop_id') is not null),
  constraint event_shard_named check (event_type not like 'loop.shard.%' or (meta ->> 'shard_id') is not null),
  constraint event_command_named check (event_type not like 'command.%' or (meta ->> 'command_id') is not null)
) partition by range (execution_id);
-- Predicates that the planner recognises: IS NOT NULL of the same expression, where the seed has `?`.
create unique index uidx_event_command_issued_command_id on noetl.event (execution_id, (meta ->> 'command_id'))
  where event_type = 'command.issued' and (meta ->> 'command_id') is not null;
create unique index uidx_event_command_ended_command_id on noetl.event (execution_id, (meta ->> 'command_id'))
  where event_type in ('command.completed', 'command.failed') and (meta ->> 'command_id') is not null;
create unique index uidx_event_loop_done_loop_id on noetl.event (execution_id, (meta ->> 'loop_id'))
  where event_type = 'loop.done' and (meta ->> 'loop_id') is not null;
create unique index uidx_event_loop_fanin_completed_loop_id on noetl.event (execution_id, (meta ->> 'loop_id'))
  where event_type = 'loop.fanin.completed' and (meta ->> 'loop_id') is not null;
create unique index uidx_event_loop_shard_ended on noetl.event (execution_id, (meta ->> 'loop_id'), (meta ->> 'shard_id'))
  where event_type in ('loop.shard.done', 'loop.shard.failed') and (meta ->> 'shard_id') is not null;
create index idx_event_loop_id_type on noetl.event (execution_id, (meta ->> 'loop_id'), event_type)
  where (meta ->> 'loop_id') is not null;

-- Folded from the log, never written first, rebuilt at any time.
create table noetl.execution (
  execution_id bigint primary key,
  catalog_id bigint not null,
  parent_execution_id bigint,
  workspace_id uuid,
  started_by text,
  status text not null constraint execution_status_known
    check (status in ('RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
  last_event_type text,
  last_node_name text,
  last_event_id bigint not null,
  last_seq integer not null,
  start_time timestamptz,
  end_time timestamptz,
  error text,
  state jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 70);
create index execution_recent on noetl.execution (created_at desc, execution_id desc);
create index execution_parent on noetl.execution (parent_execution_id) where parent_execution_id is not null;
create index execution_workspace on noetl.execution (workspace_id, created_at desc) where workspace_id is not null;

create table noetl.execution_shard (
  shard_id smallint primary key constraint execution_shard_known check (shard_id between 0 and 15),
  owner uuid,
  epoch bigint not null default 0,
  leased_until timestamptz
) with (fillfactor = 20);
insert into noetl.execution_shard (shard_id) select generate_series(0, 15);

create table noetl.projection_checkpoint (
  shard_id smallint primary key references noetl.execution_shard (shard_id),
  last_projected_event_id bigint not null default 0,
  last_projected_at timestamptz,
  lag_ms integer
) with (fillfactor = 20);
insert into noetl.projection_checkpoint (shard_id) select generate_series(0, 15);

-- One row for each execution that has not ended, from its first event until its end is projected. state: the fold as of
-- last_seq, from which its next owner goes on with the tail of the log.
create table noetl.checkpoint (
  execution_id bigint primary key,
  shard_id smallint not null,
  epoch bigint not null,
  last_event_id bigint not null,
  last_seq integer not null,
  fold_version smallint not null,
  state jsonb,
  -- Its last event is written; it goes with the projection of that.
  ended boolean not null default false,
  -- What its log says: nothing of it is claimed meanwhile.
  paused boolean not null default false,
  committed_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
create index checkpoint_shard on noetl.checkpoint (shard_id);
create index checkpoint_paused on noetl.checkpoint (execution_id) where paused;

-- Processes that drive executions, run their commands, or both. One lease a process.
create table noetl.engine (
  engine_id uuid primary key default iu_core.fn_time_uuid(),
  name text,
  node_number smallint not null unique constraint engine_node_known check (node_number between 1 and 1023),
  drives boolean not null,
  runs boolean not null,
  -- Names of the functions that its process was given: it runs only commands that need no other.
  handlers text[] not null default '{}',
  lease interval not null constraint engine_lease_sane check (lease between '1 second' and '1 hour'),
  leased_until timestamptz not null,
  registered_by text not null,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- What executions are told: consumed by the flush that writes what follows from it.
create table noetl.inbox (
  inbox_id bigint generated always as identity primary key,
  execution_id bigint not null,
  shard_id smallint not null,
  kind text not null constraint inbox_kind_known check (kind in (
    'start', 'cancel', 'pause', 'resume', 'command_ended', 'woken', 'child_ended')),
  body jsonb not null default '{}',
  sent_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index inbox_shard on noetl.inbox (shard_id, inbox_id);
-- What one execution was told, and whether the end of one of its commands is among it.
create index inbox_execution on noetl.inbox (execution_id, (body ->> 'command_id'));

-- What any engine may run that has the handlers for it: items of loops, and steps whose owner lacks a handler. Ended ones
-- leave for the inbox. Lease columns are in no index, and each row has room in its page for its leased version (HOT).
create table noetl.command (
  command_id text primary key,
  execution_id bigint not null,
  shard_id smallint not null,
  catalog_id bigint not null,
  -- Of an item.
  loop_id bigint,
  node_id text not null,
  node_name text not null,
  item_index integer,
  -- Absent: fetched from the collection by its index.
  item jsonb,
  -- Handlers that its tools call; null: none.
  needs text[],
  -- Of a step: what its expressions see, {value} or {ref, bytes}, and `cause`. Items see what their loop began with.
  scope jsonb,
  attempt smallint not null,
  crashes smallint not null default 0,
  process_after timestamptz not null default clock_timestamp(),
  leased_by uuid,
  lease_epoch integer not null default 0,
  started_at timestamptz,
  constraint command_whole check (case when loop_id is null then scope is not null else item_index is not null end)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- Claims go from execution to execution by it.
create index command_claim on noetl.command (execution_id, process_after);

-- What a wait that begins now calls past. Its own transaction is not: what else that writes is committed with it, at once,
-- as when one execution waits for the end of another that is written in the same flush.
create function noetl.fn_wait_since() returns pg_snapshot
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$ begin return iu_core.fn_event_reading_snapshot(); end $$;
revoke all on function noetl.fn_wait_since() from public;

-- Steps that wait: for a time, an event, a decision on a staging record. No process holds them.
create table noetl.wait (
  execution_id bigint not null,
  node_id text not null,
  shard_id smallint not null,
  kind text not null constraint wait_kind_known check (kind in ('timer', 'event', 'approval')),
  -- When a timer ends, or the patience of the others.
  wake_at timestamptz,
  event_domain text,
  event_type text,
  subject text,
  -- The event's payload must contain it.
  match jsonb,
  staging_record_id uuid,
  -- Only what was committed after this counts.
  since pg_snapshot not null default noetl.fn_wait_since(),
  -- Whether what was committed between its beginning and its own commit has been looked through.
  caught_up boolean not null default false,
  primary key (execution_id, node_id),
  constraint wait_whole check (case kind when 'timer' then wake_at is not null
                                         when 'event' then event_domain is not null and event_type is not null
                                         else staging_record_id is not null end)
);
create index wait_wake_at on noetl.wait (wake_at) where wake_at is not null;
create index wait_event on noetl.wait (event_domain, event_type, subject) where kind = 'event';
create index wait_approval on noetl.wait (staging_record_id) where kind = 'approval';
create index wait_fresh on noetl.wait (execution_id) where not caught_up and kind <> 'timer';

-- One start for each key.
create table noetl.execution_key (
  path text not null,
  workspace_id uuid,
  idempotency_key text not null constraint execution_key_not_blank check (idempotency_key <> ''),
  execution_id bigint not null,
  -- The same key with other arguments is refused.
  args_digest bytea not null,
  created_at timestamptz not null default now(),
  unique nulls not distinct (path, workspace_id, idempotency_key)
);

-- Results that are too large for an event.
create table noetl.result_ref (
  ref_id bigint primary key,
  execution_id bigint not null,
  node_name text,
  command_id text,
  name text,
  parent_ref_id bigint,
  store_tier text not null,
  physical_uri text,
  media_type text not null default 'application/json',
  content_hash bytea not null,
  bytes bigint not null constraint result_ref_bytes_counted check (bytes >= 0),
  created_at timestamptz not null default clock_timestamp(),
  -- Its bytes are gone since; the row stays for the trace.
  collected_at timestamptz,
  constraint result_ref_store_tier_check check (store_tier in (
    'memory', 'kv', 'disk', 'object', 's3', 'gcs', 'db', 'duckdb', 'eventlog', 'minio', 'pvc'))
);
create index result_ref_execution on noetl.result_ref (execution_id);
create index result_ref_parent on noetl.result_ref (parent_ref_id) where parent_ref_id is not null;
create index result_ref_kept on noetl.result_ref (created_at) where collected_at is null;
comment on column noetl.result_ref.store_tier is
  'Where the bytes are: eventlog (in the event), db (result_body), disk (the data folder), memory (the process that made it); '
  'object is read as disk; kv, s3, gcs, minio, pvc and duckdb come with scale-out.';
create table noetl.result_body (
  ref_id bigint primary key references noetl.result_ref (ref_id) on delete cascade,
  body jsonb not null
);

-- How long results are kept after their execution has ended.
create table noetl.retention (
  only_row boolean primary key default true constraint retention_one_row check (only_row),
  results interval not null default '30 days',
  log interval not null default '400 days'
);
insert into noetl.retention default values;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['catalog', 'event', 'execution', 'execution_shard', 'projection_checkpoint', 'checkpoint', 'engine',
                                 'inbox', 'command', 'wait', 'execution_key', 'result_ref', 'result_body', 'retention'] loop
    execute format('alter table noetl.%I enable row level security', v_table);
    execute format('create policy %I on noetl.%I for select to service_role, dot_executor using (true)', v_table || '_service_reads', v_table);
    execute format('grant select on noetl.%I to service_role, dot_executor', v_table);
  end loop;
  foreach v_table in array array['execution', 'event', 'result_ref'] loop
    execute format('grant select on noetl.%I to authenticated, stagedoor_agent, stagedoor_reviewer', v_table);
  end loop;
end $$;
grant usage on schema noetl to stagedoor_agent, stagedoor_producer;
create policy execution_member_reads on noetl.execution for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (workspace_id in (select iu_core.fn_my_workspaces()));
-- By EXISTS: with IN the log of one execution costs a read of all that the member may see (of 200,000: 700 ms, now 1).
create policy event_member_reads on noetl.event for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (exists (select from noetl.execution x where x.execution_id = event.execution_id));
create policy result_ref_member_reads on noetl.result_ref for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (exists (select from noetl.execution x where x.execution_id = result_ref.execution_id));
create policy catalog_open_reads on noetl.catalog for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (open_to_members);
grant select on noetl.catalog to authenticated, stagedoor_agent, stagedoor_reviewer;
-- What members have started and nobody has picked up yet (v_execution). Of checkpoints they see none: the view asks both.
create policy inbox_member_reads on noetl.inbox for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (kind = 'start' and body ->> 'workspace_id' in (select w::text from iu_core.fn_my_workspaces() w));
grant select (execution_id, kind, body, sent_at) on noetl.inbox to authenticated, stagedoor_agent, stagedoor_reviewer;
grant select (execution_id) on noetl.checkpoint to authenticated, stagedoor_agent, stagedoor_reviewer;
