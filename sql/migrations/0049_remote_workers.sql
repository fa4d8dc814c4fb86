-- Workers without a database of their own: they run the handlers of jobs and steps for a gateway, which holds the leases.

-- What the gateways have attached, for people. Lost in a crash of the server; the gateways write it again within seconds.
create unlogged table iu_core.remote_worker (
  gateway_process uuid not null,
  session text not null constraint remote_worker_session_short check (length(session) between 1 and 64),
  name text not null constraint remote_worker_name_short check (length(name) between 1 and 200),
  host text not null constraint remote_worker_host_short check (length(host) between 1 and 255),
  pid integer not null constraint remote_worker_pid_positive check (pid > 0),
  version text not null constraint remote_worker_version_short check (length(version) between 1 and 64),
  pool text not null constraint remote_worker_pool_short check (length(pool) between 1 and 64),
  concurrency integer not null constraint remote_worker_concurrency_positive check (concurrency > 0),
  held integer not null constraint remote_worker_held_not_negative check (held >= 0),
  oldest_call_at timestamptz,
  attached_at timestamptz not null,
  seen_at timestamptz not null,
  constraint remote_worker_once primary key (gateway_process, session)
) with (fillfactor = 50);
comment on table iu_core.remote_worker is 'workers without a database that are attached to gateways';
-- Read through fn_remote_workers.
alter table iu_core.remote_worker enable row level security;

-- A process may be a gateway.
alter table iu_core.process drop constraint process_roles_known;
alter table iu_core.process add constraint process_roles_known check (
  roles <@ array['server', 'worker', 'engine', 'dispatcher', 'search', 'maintenance', 'gateway']);
