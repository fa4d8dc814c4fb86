-- Leadership: one process of all does the work that needs no second one (reaps, waits, schedules, dispatch, maintenance).

-- Takes or keeps the leadership of these names for p_holder, and returns those that it leads. A name is free if nobody leads it, if
-- the lease of its leader has passed (a frozen process keeps its session), or if the session of its leader is gone (a dead process
-- keeps its lease): every process holds the advisory lock of its holder on the session that calls this. Whoever finds another
-- leader writes nothing.
create or replace function iu_core.fn_leader_keep(p_holder uuid, p_process text, p_names text[], p_lease interval default '6 seconds')
returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leads text[] := '{}';
  v_name text;
  l iu_core.leader;
begin
  if p_holder is null or p_names is null or p_lease is null or p_lease not between '1 second' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'Leadership needs a holder, names and a lease from 1 second to 1 hour';
  end if;
  for v_name in select distinct n from unnest(p_names) n order by 1 loop
    select * into l from iu_core.leader where name = v_name;
    if not found then
      insert into iu_core.leader (name, holder, process, leased_until)
      values (v_name, p_holder, left(p_process, 200), clock_timestamp() + p_lease) on conflict do nothing;
    elsif l.holder = p_holder then
      update iu_core.leader set leased_until = clock_timestamp() + p_lease where name = v_name and holder = p_holder;
    elsif l.leased_until <= clock_timestamp() or pg_try_advisory_xact_lock(iu_core.fn_leader_lock(l.holder)) then
      -- Only from the leader that was seen: another process may have been first.
      update iu_core.leader
         set holder = p_holder, process = left(p_process, 200), epoch = epoch + 1, since = clock_timestamp(),
             leased_until = clock_timestamp() + p_lease
       where name = v_name and holder = l.holder and epoch = l.epoch;
    else
      continue;
    end if;
    if found then
      v_leads := v_leads || v_name;
    end if;
  end loop;
  return v_leads;
end $$;

grant execute on function iu_core.fn_leader_keep(uuid, text, text[], interval) to dot_executor;

-- Gives up all leaderships of a process that stops, or those of some names.
create or replace function iu_core.fn_leader_leave(p_holder uuid, p_names text[] default null) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from iu_core.leader where holder = p_holder and (p_names is null or name = any (p_names))
$$;

grant execute on function iu_core.fn_leader_leave(uuid, text[]) to dot_executor;

-- The advisory lock that a process holds on its session for as long as it lives.
create or replace function iu_core.fn_leader_lock(p_holder uuid) returns bigint
language sql immutable strict
set search_path = pg_catalog, pg_temp
as $$
  select hashtextextended('stagedoor.process.' || p_holder, 0)
$$;

grant execute on function iu_core.fn_leader_lock(uuid) to dot_executor;

-- Who leads what now. For whoever operates some workspace: a leader works for all of them.
create or replace function iu_core.fn_leaders()
returns table (name text, host text, pid integer, since timestamptz, leased_until timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('operate');
  return query
    select l.name, coalesce(substring(l.process from '^(.*) \d+$'), l.process), coalesce(substring(l.process from ' (\d{1,9})$')::integer, 0),
           l.since, l.leased_until
      from iu_core.leader l where l.leased_until > clock_timestamp() order by l.name;
end $$;

grant execute on function iu_core.fn_leaders() to dot_executor, service_role, authenticated, stagedoor_reviewer;
