-- Processes: registration, heartbeat, drain, and the list for people.

-- Registers a process, or replaces the roles of one that has registered before. A server says which secret signs its tokens and
-- which it accepts, as keyed digests: two live servers must accept each other's tokens, else whoever signed in at one is refused by
-- the other. The lock makes two that start together see each other.
create or replace function iu_core.fn_process_register(
  p_process uuid, p_host text, p_pid integer, p_version text, p_roles text[], p_signs_with text default null, p_accepts text[] default '{}'
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_other iu_core.process;
  v_process uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('iu_core.process', 0));
  delete from iu_core.process where seen_at < clock_timestamp() - interval '10 minutes';
  select * into v_other from iu_core.process o
   where p_signs_with is not null and o.signs_with is not null and o.process_id is distinct from p_process
     and o.draining_at is null and iu_core.fn_process_is_alive(o)
     and (o.signs_with <> all (p_accepts) or p_signs_with <> all (o.accepts))
   order by o.started_at limit 1;
  if found then
    raise exception using
      errcode = 'SD211',
      message = format('The server on %s (process %s) uses another token secret on this database', v_other.host, v_other.pid),
      detail = json_build_object('host', v_other.host, 'pid', v_other.pid)::text;
  end if;
  insert into iu_core.process as p (process_id, host, pid, version, roles, signs_with, accepts)
  values (coalesce(p_process, iu_core.fn_time_uuid()), left(p_host, 255), p_pid, left(p_version, 64), p_roles, p_signs_with, p_accepts)
  on conflict (process_id) do update
     set roles = excluded.roles, signs_with = excluded.signs_with, accepts = excluded.accepts, seen_at = clock_timestamp()
  returning p.process_id into v_process;
  return v_process;
end $$;

grant execute on function iu_core.fn_process_register(uuid, text, integer, text, text[], text, text[]) to dot_executor;

-- Says that a process lives, and whether it drains. Returns how many servers share the rate limits now. known is false if others
-- removed its row because it was silent for long: then it registers again.
create or replace function iu_core.fn_process_heartbeat(p_process uuid, p_draining boolean, out known boolean, out servers integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.process p
     set seen_at = clock_timestamp(), draining_at = case when p_draining then coalesce(p.draining_at, clock_timestamp()) end
   where p.process_id = p_process;
  known := found;
  servers := (select count(*) from iu_core.process p
               where 'server' = any (p.roles) and p.draining_at is null and iu_core.fn_process_is_alive(p));
end $$;

grant execute on function iu_core.fn_process_heartbeat(uuid, boolean) to dot_executor;

-- Deletes the row of a process that has stopped.
create or replace function iu_core.fn_process_leave(p_process uuid) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from iu_core.process where process_id = p_process
$$;

grant execute on function iu_core.fn_process_leave(uuid) to dot_executor;

-- The processes that ran in the last ten minutes. For whoever operates some workspace: a process serves all of them.
create or replace function iu_core.fn_processes()
returns table (process_id uuid, host text, pid integer, version text, roles text[], started_at timestamptz, seen_at timestamptz,
               draining_at timestamptz, is_alive boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('operate');
  return query
    select p.process_id, p.host, p.pid, p.version, p.roles, p.started_at, p.seen_at, p.draining_at, iu_core.fn_process_is_alive(p)
      from iu_core.process p where p.seen_at > clock_timestamp() - interval '10 minutes'
     order by p.host, p.started_at, p.process_id limit 1000;
end $$;

grant execute on function iu_core.fn_processes() to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- A process beats every five seconds; several beats may be late on a busy host.
create or replace function iu_core.fn_process_is_alive(p iu_core.process) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p.seen_at > clock_timestamp() - interval '20 seconds'
$$;
