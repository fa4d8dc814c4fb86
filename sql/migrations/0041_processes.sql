-- The processes that work on this database: which host, which version, which roles, and whether they still run.

create table iu_core.process (
  process_id uuid not null default iu_core.fn_time_uuid() constraint process_once primary key,
  host text not null constraint process_host_short check (length(host) between 1 and 255),
  pid integer not null constraint process_pid_positive check (pid > 0),
  version text not null constraint process_version_short check (length(version) between 1 and 64),
  roles text[] not null constraint process_roles_known check (
    roles <@ array['server', 'worker', 'engine', 'dispatcher', 'search', 'maintenance']),
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  draining_at timestamptz,
  -- Of servers: the secret that signs its tokens, and all whose tokens it accepts. Keyed digests, never a secret.
  signs_with text constraint process_signs_with_form check (signs_with ~ '^[0-9a-f]{32}$'),
  accepts text[] not null default '{}' constraint process_accepts_few check (cardinality(accepts) <= 8),
  constraint process_server_signs check (signs_with is null or 'server' = any (roles))
) with (fillfactor = 50);
comment on table iu_core.process is 'processes of Stagedoor on this database, each with a heartbeat';

-- The digests help whoever guesses secrets, so nobody reads the table but its functions.
alter table iu_core.process enable row level security;
