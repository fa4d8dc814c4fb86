-- Commands: steps and items that any engine may claim.

-- Leases due commands to an engine, of those whose handlers it has. Executions take turns: each gets an equal part of the
-- claim, plus what others leave, so that a fan-out of 100,000 does not delay a small loop that began after it.
--
-- Executions are visited in the order of their ids until the claim is full, and the next claim of the session continues after
-- the last one served: a round robin that reaches every execution. A random start would not: ids are times, and after one old
-- execution almost every draw hits the same gap.
-- The position belongs to the session and decides only where a claim begins, so any value is right: clients that shared sessions (a pooler in
-- transaction mode, which engines refuse) would each go on where the last one ended, and still come to every execution.
--
-- A suspect (a command under which three engines died) is claimed only by an engine without another: if it ends its engine, no
-- other suspect is affected, and its neighbours are not charged until they have failed too.
--
-- p_workers: the engine is a gateway, and so many remote workers run the handlers that it calls. It leaves commands without a handler to
-- others, and a suspect ends one of its workers, never the gateway. Each suspect runs alone in its worker, so the gateway may have several;
-- at least half of its workers stay for commands that are not suspects.
create or replace function noetl.fn_command_claim(p_engine uuid, p_limit integer, p_workers integer default null)
returns setof noetl.command
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  c_together constant integer := 64;
  -- Of one claim: where more than these have nothing due, the rest is for the next.
  c_most constant integer := 4096;
  v_now timestamptz := clock_timestamp();
  v_handlers text[];
  v_began bigint := coalesce(nullif(current_setting('stagedoor.claimed', true), '')::bigint, 0);
  v_at bigint := v_began;
  v_until bigint := 9223372036854775807;
  v_executions bigint[];
  v_turns bigint[];
  v_seen integer := 0;
  v_left integer := p_limit;
  v_part integer;
  v_is_short boolean;
  v_taken noetl.command[];
  v_suspects integer;
  v_suspect noetl.command;
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 10000';
  end if;
  -- Locked until the claim is committed: an engine that is reaped meanwhile would keep its commands for ever.
  select handlers into v_handlers from noetl.engine
   where engine_id = p_engine and leased_until > clock_timestamp() for key share;
  if not found then
    perform noetl.fn_engine_raise_lease_lost(p_engine);
  end if;
  -- Two steps in an index that is almost always empty.
  if exists (select from noetl.command c where c.crashes >= 3 and c.leased_by is null) then
    v_suspects := greatest(1, p_workers / 2) - (select count(*) from noetl.command c where c.crashes >= 3 and c.leased_by = p_engine);
    for v_suspect in
      update noetl.command c set leased_by = p_engine, lease_epoch = c.lease_epoch + 1, started_at = v_now
       where c.command_id = any (array(select s.command_id from noetl.command s
                                        where s.crashes >= 3 and s.process_after <= v_now and s.leased_by is null
                                          and (s.needs <@ v_handlers or s.needs is null and p_workers is null)
                                        order by s.process_after limit greatest(0, least(v_suspects, v_left)) for update skip locked))
      returning c.*
    loop
      return next v_suspect;
      v_left := v_left - 1;
    end loop;
    if v_left = 0 then
      return;
    end if;
  end if;
  loop
    v_executions := noetl.fn_command_executions(v_at, v_until, c_together);
    if cardinality(v_executions) < c_together and v_until > v_began then
      -- The end of the round: from the first one on, up to where it began.
      v_until := v_began;
      v_executions := v_executions || noetl.fn_command_executions(-1, v_until, c_together - cardinality(v_executions));
    end if;
    exit when cardinality(v_executions) = 0;
    v_at := v_executions[cardinality(v_executions)];
    v_seen := v_seen + cardinality(v_executions);
    v_turns := v_executions;
    while cardinality(v_turns) > 0 and v_left > 0 loop
      v_part := greatest(1, v_left / cardinality(v_turns));
      v_is_short := cardinality(v_turns) > v_left and v_turns = v_executions;
      with turn as materialized (
        select d.command_id
          from unnest(v_turns) x (execution_id)
         cross join lateral (
           select c.command_id from noetl.command c
            where c.execution_id = x.execution_id and c.process_after <= v_now and c.leased_by is null
              and c.crashes < 3 and (c.needs <@ v_handlers or c.needs is null and p_workers is null)
            order by c.process_after limit v_part for update skip locked) d
         limit v_left
      ), taken as (
        -- No join: of a table that was empty when its statistics were taken the planner expects so little that it may begin the join with
        -- the table, and each claim reads all of it.
        update noetl.command c set leased_by = p_engine, lease_epoch = c.lease_epoch + 1, started_at = v_now
         where c.command_id = any (array(select turn.command_id from turn))
        returning c.*
      )
      -- An execution that returned less than its part has no more.
      select array_agg(t order by t.execution_id, t.process_after, t.item_index),
             array(select f.execution_id from taken f group by 1 having count(*) >= v_part)
        into v_taken, v_turns from taken t;
      return query select * from unnest(v_taken);
      v_left := v_left - coalesce(cardinality(v_taken), 0);
    end loop;
    if v_left = 0 and v_is_short then
      -- Not all executions were served: the next claim starts with the first one that was not.
      select v_executions[max(array_position(v_executions, t.execution_id))] into v_at from unnest(v_taken) t;
    end if;
    exit when v_left = 0 or cardinality(v_executions) < c_together or v_seen >= c_most;
  end loop;
  perform set_config('stagedoor.claimed', v_at::text, false);
end $$;

grant execute on function noetl.fn_command_claim(uuid, integer, integer) to dot_executor;

-- The first executions after an id, up to another id, that have commands: found by index steps, whatever the number of
-- commands. Internal.
create or replace function noetl.fn_command_executions(p_after bigint, p_until bigint, p_limit integer) returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
-- As in fn_job_claim, and without min() for the same reason.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
  with recursive execution as (
    select (select c.execution_id from noetl.command c where c.execution_id > p_after and c.execution_id <= p_until
             order by c.execution_id limit 1) as id
    union all
    select (select c.execution_id from noetl.command c where c.execution_id > x.id and c.execution_id <= p_until
             order by c.execution_id limit 1)
      from execution x where x.id is not null
  )
  select array(select id from execution x
                where id is not null and not exists (select from noetl.checkpoint k where k.execution_id = x.id and k.paused)
                limit p_limit)
$$;

-- Ends commands: each moves from its table to the inbox of its execution, if it still has the lease under which it ran. Returns
-- the accepted ids. Takes an array of {command_id, lease_epoch, status, result, error, retryable, ms, worker}. Locks in the order of ids,
-- as every function that locks several. The log names the process that ran a command and for how long (ms): the remote worker, if its
-- gateway says which (worker), else the engine. The caller wakes the owners of the executions after its commit: NOTIFY in a transaction that many processes commit all the time would serialize them.
create or replace function noetl.fn_command_end(p_engine uuid, p_outcomes jsonb) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
-- The planner expects a few commands: 500 of them compared with each other take 30 ms.
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  v_counted text[];
  -- Each statement names them, so that no plan begins with the table and reads all of it.
  v_commands text[];
  v_worker text := (select coalesce(e.name, e.engine_id::text) from noetl.engine e where e.engine_id = p_engine);
begin
  if jsonb_typeof(p_outcomes) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_command_end takes a JSON array of outcomes';
  end if;
  v_commands := array(select o ->> 'command_id' from jsonb_array_elements(p_outcomes) o);
  with given as materialized (
    select o.* from jsonb_to_recordset(p_outcomes) as o (
      command_id text, lease_epoch integer, status text, result jsonb, error text, retryable boolean, ms integer, worker text)
  ), held as materialized (
    select c.command_id, g.status, g.result, g.error, g.retryable, g.ms, g.worker
      from given g join noetl.command c on c.command_id = g.command_id
     where c.command_id = any (v_commands) and c.leased_by = p_engine and c.lease_epoch = g.lease_epoch
       and g.status in ('completed', 'failed')
     order by c.command_id for update of c
  ), removed as (
    delete from noetl.command c using held h where c.command_id = h.command_id and c.command_id = any (v_commands)
    returning c.execution_id, c.shard_id, c.command_id, c.node_id, c.loop_id, c.item_index, c.attempt, h.status, h.result, h.error, h.retryable, h.ms, h.worker
  ), delivered as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select g.execution_id, g.shard_id, 'command_ended', jsonb_build_object(
             'command_id', g.command_id, 'node_id', g.node_id, 'loop_id', g.loop_id::text, 'index', g.item_index,
             'attempt', g.attempt, 'status', g.status, 'result', g.result, 'error', g.error, 'retryable', coalesce(g.retryable, true),
             'worker', coalesce(left(g.worker, 200), v_worker), 'ms', g.ms)
      from removed g
  )
  select array_agg(g.command_id) into v_counted from removed g;
  return query select unnest(v_counted);
end $$;

grant execute on function noetl.fn_command_end(uuid, jsonb) to dot_executor;

-- Gives back single commands that an engine holds, each under the epoch of its lease: they are free for any engine. p_crashed: the remote
-- worker that ran them is gone, and they are charged as by the reaper when their engine is. Repeating it changes nothing. Returns the ids that
-- were released.
create or replace function noetl.fn_command_release(p_engine uuid, p_commands text[], p_epochs integer[], p_crashed boolean) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  v_free text[];
begin
  perform noetl.fn_command_require_epochs(p_commands, p_epochs);
  v_free := array(select c.command_id from unnest(p_commands, p_epochs) g (command_id, lease_epoch)
                    join noetl.command c on c.command_id = g.command_id
                   where c.command_id = any (p_commands) and c.leased_by = p_engine and c.lease_epoch = g.lease_epoch
                   order by c.command_id for update of c);
  perform noetl.fn_command_free(v_free, coalesce(p_crashed, false));
  return query select unnest(v_free);
end $$;

grant execute on function noetl.fn_command_release(uuid, text[], integer[], boolean) to dot_executor;

-- Moves commands from one gateway to another, each under the epoch of its lease, which stays: their remote workers have lost the first and
-- go on with them under the second. Not those that have ended, were freed or moved elsewhere meanwhile, or need a handler that the second lacks.
-- Returns the commands that are now the second's; repeating it, after a lost answer, returns them again.
create or replace function noetl.fn_command_adopt(p_from uuid, p_to uuid, p_commands text[], p_epochs integer[]) returns setof noetl.command
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_handlers text[];
  v_held text[];
begin
  perform noetl.fn_command_require_epochs(p_commands, p_epochs);
  -- Locked until the commit, as in a claim.
  select handlers into v_handlers from noetl.engine
   where engine_id = p_to and leased_until > clock_timestamp() for key share;
  if not found then
    perform noetl.fn_engine_raise_lease_lost(p_to);
  end if;
  v_held := array(select c.command_id from unnest(p_commands, p_epochs) g (command_id, lease_epoch)
                    join noetl.command c on c.command_id = g.command_id
                   where c.command_id = any (p_commands) and c.leased_by in (p_from, p_to) and c.lease_epoch = g.lease_epoch and c.needs <@ v_handlers
                   order by c.command_id for update of c);
  return query update noetl.command c set leased_by = p_to where c.command_id = any (v_held) returning c.*;
end $$;

grant execute on function noetl.fn_command_adopt(uuid, uuid, text[], integer[]) to dot_executor;

-- Each command comes with its epoch. Internal.
create or replace function noetl.fn_command_require_epochs(p_commands text[], p_epochs integer[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_commands is null or p_epochs is null or cardinality(p_commands) <> cardinality(p_epochs) or cardinality(p_commands) > 10000 then
    raise exception using errcode = 'SD001', message = 'Give as many epochs as commands, at most 10000';
  end if;
end $$;

-- Frees commands that the caller has locked. p_crashed: what ran them is gone; a command that this happens to 20 times (as for a job) has
-- failed. p_begun: only these had begun (null: any of them may have) and are charged. Internal.
create or replace function noetl.fn_command_free(p_commands text[], p_crashed boolean, p_begun text[] default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_crashes constant smallint := 20;
  v_shards text;
begin
  if p_crashed then
    with dead as (
      delete from noetl.command c
       where c.command_id = any (p_commands) and (p_begun is null or c.command_id = any (p_begun)) and c.crashes + 1 >= c_most_crashes
      returning c.*
    ), delivered as (
      insert into noetl.inbox (execution_id, shard_id, kind, body)
      select d.execution_id, d.shard_id, 'command_ended', jsonb_build_object(
               'command_id', d.command_id, 'node_id', d.node_id, 'loop_id', d.loop_id::text, 'index', d.item_index,
               'attempt', d.attempt, 'status', 'failed', 'error', format('its worker died %s times', d.crashes + 1), 'retryable', false)
        from dead d
      returning shard_id
    )
    select string_agg(distinct shard_id::text, ',') into v_shards from delivered;
    if v_shards is not null then
      perform pg_notify('stagedoor', 'inbox ' || v_shards);
    end if;
  end if;
  update noetl.command
     set leased_by = null, crashes = crashes + (p_crashed and (p_begun is null or command_id = any (p_begun)))::integer
   where command_id = any (p_commands);
  if cardinality(p_commands) > 0 then
    perform pg_notify('stagedoor', 'commands ');
  end if;
end $$;

-- Of the commands that an engine runs, those that it no longer owns: their loop or execution has ended, or its lease had
-- expired and they were given to others. Their results are not needed.
create or replace function noetl.fn_command_cancelled(p_engine uuid, p_commands text[]) returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select h from unnest(p_commands) h
   where not exists (select from noetl.command c where c.command_id = h and c.leased_by = p_engine)
$$;

grant execute on function noetl.fn_command_cancelled(uuid, text[]) to dot_executor;

-- Whether a command was dispatched: an engine has it or will get it, or its outcome is in the inbox or was processed. One
-- statement sees all of that in one snapshot, so a command that ends meanwhile is not missed.
create or replace function noetl.fn_command_is_dispatched(p_execution_id bigint, p_command_id text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from noetl.command where command_id = p_command_id)
      or exists (select from noetl.inbox
                  where execution_id = p_execution_id and body ->> 'command_id' = p_command_id and kind = 'command_ended')
      or exists (select from noetl.event
                  where execution_id = p_execution_id and event_type in ('command.completed', 'command.failed')
                    and meta ->> 'command_id' = p_command_id)
$$;

grant execute on function noetl.fn_command_is_dispatched(bigint, text) to dot_executor;

-- What processes run of an execution right now: steps and items that an engine claimed, longest first. Those who see the execution see
-- it, without its scope; a step that runs where its execution is driven is in the log only.
create or replace function noetl.fn_execution_running(p_execution_id bigint, p_limit integer default 200)
returns table (node_id text, step text, index integer, attempt integer, worker text, started_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.require_member(noetl.fn_execution_workspace(p_execution_id), 'read');
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 1000';
  end if;
  return query
  select c.node_id, c.node_name, c.item_index, c.attempt::integer, coalesce(e.name, e.engine_id::text), c.started_at
    from noetl.command c join noetl.engine e on e.engine_id = c.leased_by
   where c.execution_id = p_execution_id
   order by c.started_at, c.command_id limit p_limit;
end $$;

grant execute on function noetl.fn_execution_running(bigint, integer) to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
