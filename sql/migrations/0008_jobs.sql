-- The job queue: work that a committed change asked for, leased by workers, kept as history or as a dead letter.

-- Who may run jobs: the seed's list, which stands here and nowhere else in SQL. Frozen: it is behind the domain.
create function iu_core.fn_executors() returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array['DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter']
$$;
revoke all on function iu_core.fn_executors() from public;
create domain iu_core.executor_name as text
  constraint executor_known check (value = any (iu_core.fn_executors()));

-- How jobs of a kind are treated. A kind that nobody registered gets a row with the defaults at its first job.
create table iu_core.job_kind (
  job_kind text primary key constraint job_kind_form check (job_kind ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  description text,
  max_attempts smallint not null default 8 constraint job_kind_attempts_some check (max_attempts between 1 and 1000),
  -- How often its worker may die under a job before the job is suspected.
  max_crashes smallint not null default 20 constraint job_kind_crashes_some check (max_crashes between 1 and 1000),
  backoff interval not null default '1 second' constraint job_kind_backoff_some check (backoff > '0'),
  backoff_most interval not null default '1 hour' constraint job_kind_backoff_most_more check (backoff_most >= backoff),
  -- How long one attempt may take; null: as long as its worker lives.
  timeout interval constraint job_kind_timeout_some check (timeout > '0'),
  concurrency integer constraint job_kind_concurrency_some check (concurrency > 0),
  rate integer constraint job_kind_rate_some check (rate > 0),
  rate_period interval not null default '1 second' constraint job_kind_rate_period_some check (rate_period > '0'),
  -- One at a time for each value of this column.
  serial_by text constraint job_kind_serial_known check (serial_by in ('source_ref', 'target_ref', 'payload_ref')),
  -- Values of this column take turns.
  fair_by text constraint job_kind_fair_known check (fair_by in ('source_ref', 'target_ref', 'payload_ref')),
  -- keep: a key is used once, also after its job has ended. replace, debounce: once among the waiting ones.
  key_mode text not null default 'keep' constraint job_kind_key_mode_known check (key_mode in ('keep', 'replace', 'debounce')),
  debounce interval not null default '2 seconds' constraint job_kind_debounce_some check (debounce > '0'),
  debounce_most interval not null default '1 minute' constraint job_kind_debounce_most_more check (debounce_most >= debounce),
  key_retention interval not null default '90 days',
  paused_at timestamptz,
  paused_by text,
  registered_at timestamptz not null default now(),
  limited boolean not null generated always as
    (concurrency is not null or rate is not null or serial_by is not null or fair_by is not null) stored,
  constraint job_kind_pause_whole check ((paused_at is null) = (paused_by is null))
);

-- What waits or runs. Lease columns are in no index, and pages have room, so that a claim changes rows in place (HOT).
-- leased_by: the worker; the lease itself is the worker's. lease_epoch: rises with every claim.
-- No foreign key to the kind: only fn_job_put writes here, kinds are never deleted, and it would be asked for every row.
create table iu_core.job_queue (
  job_id uuid primary key default iu_core.fn_time_uuid(),
  job_kind text not null,
  executor iu_core.executor_name not null default 'PG_worker',
  priority smallint not null default 0,
  urgency smallint not null generated always as (-priority) stored,
  process_after timestamptz not null default now(),
  enqueued_at timestamptz not null default clock_timestamp(),
  attempts smallint not null default 0,
  crashes smallint not null default 0,
  replays smallint not null default 0,
  lease_epoch integer not null default 0,
  leased_by uuid,
  started_at timestamptz,
  idempotency_key text,
  source_ref text,
  target_ref text,
  payload_ref text,
  safe_payload jsonb not null default '{}',
  workspace_id uuid,
  correlation_id uuid,
  causation_event_id uuid,
  causation_depth smallint not null default 0,
  actor text not null,
  actor_via text,
  last_error text
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index job_queue_claim on iu_core.job_queue (job_kind, executor, urgency, process_after, job_id);

-- A key and its job, over queue, history and dead letters: what makes an enqueue happen once.
create table iu_core.job_key (
  job_kind text not null,
  idempotency_key text not null constraint job_key_not_blank check (idempotency_key <> ''),
  job_id uuid not null,
  primary key (job_kind, idempotency_key)
);

create table iu_core.job_history (
  job_id uuid not null,
  job_kind text not null,
  executor iu_core.executor_name not null,
  outcome text not null constraint job_history_outcome_known check (outcome in ('completed', 'cancelled')),
  priority smallint not null,
  attempts smallint not null,
  crashes smallint not null,
  replays smallint not null,
  enqueued_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz not null default clock_timestamp(),
  worker_id uuid,
  idempotency_key text,
  source_ref text,
  target_ref text,
  payload_ref text,
  safe_payload jsonb not null,
  result jsonb,
  workspace_id uuid,
  correlation_id uuid,
  causation_event_id uuid,
  causation_depth smallint not null,
  actor text not null,
  actor_via text,
  last_error text,
  ended_by text
) partition by range (finished_at);
create index job_history_job_id on iu_core.job_history (job_id);
create index job_history_correlation on iu_core.job_history (correlation_id) where correlation_id is not null;

create table iu_core.job_dead_letter (
  job_id uuid primary key,
  job_kind text not null references iu_core.job_kind (job_kind),
  executor iu_core.executor_name not null,
  priority smallint not null,
  attempts smallint not null,
  crashes smallint not null,
  replays smallint not null,
  enqueued_at timestamptz not null,
  started_at timestamptz,
  died_at timestamptz not null default clock_timestamp(),
  worker_id uuid,
  idempotency_key text,
  source_ref text,
  target_ref text,
  payload_ref text,
  safe_payload jsonb not null,
  workspace_id uuid,
  correlation_id uuid,
  causation_event_id uuid,
  causation_depth smallint not null,
  actor text not null,
  actor_via text,
  last_error text not null
);
create index job_dead_letter_kind on iu_core.job_dead_letter (job_kind, died_at);
create index job_dead_letter_correlation on iu_core.job_dead_letter (correlation_id) where correlation_id is not null;

-- One lease a worker: a heartbeat is one row, however many jobs it holds.
create table iu_core.job_worker (
  worker_id uuid primary key default iu_core.fn_time_uuid(),
  executor iu_core.executor_name not null,
  kinds text[] not null constraint job_worker_kinds_some check (cardinality(kinds) > 0),
  name text,
  registered_by text not null,
  lease interval not null constraint job_worker_lease_sane check (lease between '1 second' and '1 hour'),
  leased_until timestamptz not null,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Workers that wait: an enqueue notifies only if there is one. Lost in a crash; polling is the net.
create unlogged table iu_core.worker_idle (
  worker_id uuid primary key,
  executor text not null,
  kinds text[] not null
);

-- Running jobs of kinds with a limit: what is counted, and the lock of a serial key.
create table iu_core.job_running (
  job_id uuid primary key,
  job_kind text not null,
  worker_id uuid not null,
  serial_key text,
  fair_key text
);
create index job_running_kind on iu_core.job_running (job_kind);
create index job_running_worker on iu_core.job_running (worker_id);
create unique index job_running_serial on iu_core.job_running (job_kind, serial_key) where serial_key is not null;

-- What is left of a kind's rate.
create table iu_core.job_rate (
  job_kind text primary key references iu_core.job_kind (job_kind) on delete cascade,
  tokens double precision not null,
  refilled_at timestamptz not null
);

-- A running job that somebody wants to end: its worker hears of it with the next heartbeat.
create table iu_core.job_cancellation (
  job_id uuid primary key,
  worker_id uuid not null,
  requested_by text not null,
  reason text,
  requested_at timestamptz not null default clock_timestamp()
);
create index job_cancellation_worker on iu_core.job_cancellation (worker_id);

-- An attempt that ended badly: by an error, or by the end of its worker.
create type iu_core.job_failure as (job_id uuid, error text, fatal boolean, crashed boolean);

create table iu_core.job_schedule (
  schedule text primary key constraint job_schedule_form check (schedule ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  cron text not null,
  time_zone text not null default 'UTC',
  job_kind text not null references iu_core.job_kind (job_kind),
  safe_payload jsonb not null default '{}',
  enabled boolean not null default true,
  next_at timestamptz not null,
  last_due timestamptz,
  last_job_id uuid,
  registered_by text not null,
  registered_at timestamptz not null default now()
);

-- What follows from something is found by what it all began with; roots carry their own id there.
create index event_outbox_correlation on iu_core.event_outbox (correlation_id) where causation_event_id is not null;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['job_queue', 'job_history', 'job_dead_letter'] loop
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select to authenticated, stagedoor_agent, stagedoor_reviewer
                      using (workspace_id in (select iu_core.fn_my_workspaces()))', v_table || '_member_reads', v_table);
    execute format('create policy %I on iu_core.%I for select to service_role, dot_executor using (true)',
                   v_table || '_service_reads', v_table);
    execute format('grant select on iu_core.%I to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer', v_table);
  end loop;
  foreach v_table in array array['job_kind', 'job_schedule'] loop
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select using (true)', v_table || '_everyone_reads', v_table);
    execute format('grant select on iu_core.%I to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer, stagedoor_executor', v_table);
  end loop;
  foreach v_table in array array['job_key', 'job_worker', 'worker_idle', 'job_running', 'job_rate', 'job_cancellation'] loop
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select to service_role, dot_executor using (true)',
                   v_table || '_service_reads', v_table);
    execute format('grant select on iu_core.%I to service_role, dot_executor', v_table);
  end loop;
end $$;

grant usage on schema iu_core to stagedoor_executor, stagedoor_producer;
grant execute on function iu_core.fn_time_uuid(), iu_core.fn_actor(), iu_core.fn_caller_role(), iu_core.fn_caller_is_service()
  to stagedoor_executor, stagedoor_producer;
