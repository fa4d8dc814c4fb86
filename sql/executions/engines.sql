-- Engines: registration, heartbeat, shards, inbox, missing handlers.

-- Registers a process that drives executions, runs their commands, or both, as long as it renews its lease. p_handlers: the
-- handlers that it has; commands that need others are not given to it.
--
-- Its node number is part of every id that it makes. It gets any free number rather than the lowest: ids made by a process that
-- is dead, or only presumed dead, then differ from those of its successor in the same millisecond. An engine that only runs commands
-- makes no ids and gets no number: 1,023 is the limit of engines that drive.
create or replace function noetl.fn_engine_register(
  p_name text, p_drives boolean, p_runs boolean, p_lease interval default '6 seconds', p_handlers text[] default '{}',
  out engine_id uuid, out node_number smallint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_drives is null or p_runs is null or not (p_drives or p_runs) then
    raise exception using errcode = 'SD001', message = 'An engine must drive executions, run commands, or both';
  end if;
  if p_lease is null or p_lease not between '1 second' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A lease lasts from 1 second to 1 hour';
  end if;
  if p_drives then
    perform pg_advisory_xact_lock(hashtextextended('noetl.engine.node_number', 0));
    select n into fn_engine_register.node_number from generate_series(1, 1023) n
     where not exists (select from noetl.engine e where e.node_number = n) order by random() limit 1;
    if not found then
      raise exception using errcode = 'SD001', message = 'Engines use all 1023 node numbers: stop some, or wait until the leases of dead engines expire';
    end if;
  end if;
  insert into noetl.engine as e (name, node_number, drives, runs, handlers, lease, leased_until, registered_by)
  values (left(p_name, 200), fn_engine_register.node_number, p_drives, p_runs, coalesce(p_handlers, '{}'), p_lease, clock_timestamp() + p_lease, iu_core.fn_actor())
  returning e.engine_id into fn_engine_register.engine_id;
end $$;

grant execute on function noetl.fn_engine_register(text, boolean, boolean, interval, text[]) to dot_executor;

-- Renews the lease of an engine and returns its shards. An engine that drives also takes free shards up to its fair share, and
-- gets the ids of those above it (surplus), and releases them when their executions are idle.
--
-- The lease belongs to the engine: a shard is free if its owner is not a live engine. The shard's own leased_until is for
-- people. An engine whose lease had expired keeps the shards that nobody took meanwhile; after it was reaped it is refused.
-- last_event_id: the newest projected event of the shard, a lower bound for ids; each execution's own last event is in its log.
create or replace function noetl.fn_engine_heartbeat(p_engine uuid)
returns table (shard_id smallint, epoch bigint, last_event_id bigint, surplus boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  e noetl.engine;
  v_share integer;
  v_held integer;
  v_free smallint[];
begin
  update noetl.engine g set leased_until = clock_timestamp() + g.lease, heartbeat_at = clock_timestamp()
   where g.engine_id = p_engine returning * into e;
  if not found then
    perform noetl.fn_engine_raise_lease_lost(p_engine);
  end if;
  if not e.drives then
    return;
  end if;
  select ceil(16.0 / count(*)) into v_share from noetl.engine g
   -- An engine that missed a heartbeat may be dead: counted, it would keep live engines from taking free shards.
   where g.drives and (g.leased_until > clock_timestamp() and g.heartbeat_at > clock_timestamp() - g.lease / 2 or g.engine_id = p_engine);
  select count(*) into v_held from noetl.execution_shard s where s.owner = p_engine;
  if v_held < v_share then
    -- Shards that another engine is writing to are skipped: waiting for their lock would delay our own lease.
    v_free := array(
      select s.shard_id from noetl.execution_shard s
       where s.owner is distinct from p_engine
         and not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp())
       order by s.shard_id limit v_share - v_held for update skip locked);
    -- Checked again under our lock: an owner may have come after the snapshot of the statement before.
    update noetl.execution_shard s set owner = p_engine, epoch = s.epoch + 1, leased_until = e.leased_until
     where s.shard_id = any (v_free)
       and not exists (select from noetl.engine g where g.engine_id = s.owner and g.leased_until > clock_timestamp());
  end if;
  update noetl.execution_shard s set leased_until = e.leased_until
   where s.shard_id = any (array(select h.shard_id from noetl.execution_shard h
                                  where h.owner = p_engine and h.leased_until < e.leased_until for update skip locked));
  return query
    select s.shard_id, s.epoch, p.last_projected_event_id, row_number() over (order by s.shard_id) > v_share
      from noetl.execution_shard s join noetl.projection_checkpoint p on p.shard_id = s.shard_id
     where s.owner = p_engine order by s.shard_id;
end $$;

grant execute on function noetl.fn_engine_heartbeat(uuid) to dot_executor;

-- The engines that are registered, and whether each still holds its lease. For whoever operates some workspace.
create or replace function noetl.fn_engines()
returns table (engine_id uuid, name text, drives boolean, runs boolean, handlers text[], registered_by text, started_at timestamptz,
               heartbeat_at timestamptz, leased_until timestamptz, is_alive boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('operate');
  return query
    select e.engine_id, e.name, e.drives, e.runs, e.handlers, e.registered_by, e.started_at, e.heartbeat_at, e.leased_until,
           e.leased_until > clock_timestamp()
      from noetl.engine e order by e.started_at, e.engine_id limit 1000;
end $$;

grant execute on function noetl.fn_engines() to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Releases shards. From here on, flushes of their former engine are refused.
create or replace function noetl.fn_engine_release_shards(p_engine uuid, p_shards smallint[]) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  update noetl.execution_shard set owner = null, leased_until = null
   where shard_id = any (array(select s.shard_id from noetl.execution_shard s
                                where s.owner = p_engine and s.shard_id = any (p_shards) order by s.shard_id for update))
$$;

grant execute on function noetl.fn_engine_release_shards(uuid, smallint[]) to dot_executor;

-- Deregisters an engine and frees at once what it holds. p_crashed: the commands that ran when an error ended it; a crash is
-- charged to them and to no others.
create or replace function noetl.fn_engine_leave(p_engine uuid, p_crashed text[] default '{}') returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from noetl.engine where engine_id = p_engine for update;
  if found then
    perform noetl.fn_engine_reclaim(array[p_engine], cardinality(p_crashed) > 0, p_crashed);
  end if;
end $$;

grant execute on function noetl.fn_engine_leave(uuid, text[]) to dot_executor;

-- Frees the shards and commands of engines that left or died: one read of all commands, because the lease is in no index.
-- p_crashed: they died. p_begun: as in fn_command_free. Returns how many commands. Internal.
--
-- A locked command or shard is not waited for: the lock may be an outcome in the transaction of a machine that lost its power.
-- Its engine stays, with an expired lease, until the lock is released. A locked shard is freed when the next engine takes it.
create or replace function noetl.fn_engine_reclaim(p_engines uuid[], p_crashed boolean, p_begun text[] default null) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held text[] := array(select c.command_id from noetl.command c where c.leased_by = any (p_engines));
  v_free text[];
begin
  v_free := array(select c.command_id from noetl.command c
                   where c.command_id = any (v_held) and c.leased_by = any (p_engines) order by c.command_id for update skip locked);
  perform noetl.fn_command_free(v_free, p_crashed, p_begun);
  update noetl.execution_shard set owner = null, leased_until = null
   where shard_id = any (array(select s.shard_id from noetl.execution_shard s where s.owner = any (p_engines) for update skip locked));
  update noetl.engine set leased_until = least(leased_until, clock_timestamp()) where engine_id = any (p_engines);
  delete from noetl.engine g where g.engine_id = any (p_engines)
     and not exists (select from noetl.command c where c.command_id = any (v_held) and c.leased_by = g.engine_id);
  return cardinality(v_free);
end $$;

-- Reclaims what dead engines held: those whose lease has expired. The first caller does it, the others return at once. Returns
-- how many commands are free again.
create or replace function noetl.fn_engine_reap() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
begin
  if not exists (select from noetl.engine where leased_until <= clock_timestamp()) then
    return 0;
  end if;
  v_dead := array(select engine_id from noetl.engine where leased_until <= clock_timestamp() for update skip locked);
  if cardinality(v_dead) = 0 then
    return 0;
  end if;
  return noetl.fn_engine_reclaim(v_dead, true);
end $$;

grant execute on function noetl.fn_engine_reap() to dot_executor;

-- The executions of a shard that have not ended, or whose end is not projected yet: what its new owner starts with. state is
-- the fold as of last_seq; without a state the log is folded from its start.
create or replace function noetl.fn_executions_load(p_engine uuid, p_shard smallint)
returns table (execution_id bigint, last_seq integer, fold_version smallint, state jsonb, ended boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if not exists (select from noetl.execution_shard s where s.shard_id = p_shard and s.owner = p_engine) then
    perform noetl.fn_engine_raise_lease_lost(p_engine);
  end if;
  return query
    select c.execution_id, case when c.state is null then 0 else c.last_seq end, c.fold_version, c.state, c.ended
      from noetl.checkpoint c where c.shard_id = p_shard order by c.execution_id;
end $$;

grant execute on function noetl.fn_executions_load(uuid, smallint) to dot_executor;

-- The inbox of an engine's shards, oldest first, without the rows that it already has and without executions that cannot take
-- input now. Always read as a whole, so that rows that commit late are never missed; the flush that follows from a row deletes
-- it.
create or replace function noetl.fn_inbox_read(
  p_engine uuid,
  p_limit integer,
  p_without bigint[] default '{}',
  p_without_executions bigint[] default '{}'
) returns setof noetl.inbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
  select i.* from noetl.execution_shard s
   cross join lateral (
     select n.* from noetl.inbox n
      where n.shard_id = s.shard_id and n.inbox_id not in (select w from unnest(p_without) w where w is not null)
        and n.execution_id not in (select w from unnest(p_without_executions) w where w is not null)
      order by n.inbox_id limit p_limit) i
   where s.owner = p_engine
   order by i.inbox_id limit p_limit
$$;

grant execute on function noetl.fn_inbox_read(uuid, integer, bigint[], bigint[]) to dot_executor;

-- Finds commands that wait for handlers which no running process has; most often their only process is being restarted. After
-- p_issue_after it opens an issue, which is resolved when a process has the handlers again. With p_grace they fail after that
-- time; null: they wait for ever. Returns how many commands failed.
--
-- The time counts from when the handlers were first missed, not from when a command was due: a command that queued for an hour
-- behind others waits as long as the others. One session does it at a time; the others return at once.
create or replace function noetl.fn_handlers_review_missing(p_issue_after interval default '1 minute', p_grace interval default null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_missing noetl.missing_handler;
  v_names text;
  v_waiting record;
  v_failed integer := 0;
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('noetl.missing_handler', 0)) then
    return 0;
  end if;
  insert into noetl.missing_handler (needs, since)
  select distinct c.needs, v_now from noetl.command c
   where c.needs is not null and c.leased_by is null and c.process_after <= v_now
     and not exists (select from noetl.engine e where e.runs and e.leased_until > v_now and c.needs <@ e.handlers)
  on conflict do nothing;
  for v_missing in select * from noetl.missing_handler order by needs for update loop
    v_names := array_to_string(v_missing.needs, ', ');
    select count(*) as commands, count(distinct c.execution_id) as executions, min(c.process_after) as oldest,
           (array_agg(distinct c.execution_id::text))[1:10] as examples
      into v_waiting from noetl.command c where c.needs = v_missing.needs and c.leased_by is null and c.process_after <= v_now;
    if v_waiting.commands = 0
       or exists (select from noetl.engine e where e.runs and e.leased_until > v_now and v_missing.needs <@ e.handlers) then
      delete from noetl.missing_handler where needs = v_missing.needs;
      if exists (select from iu_core.system_issue where issue_id = v_missing.issue_id and resolved_at is null) then
        perform iu_core.fn_system_issue_resolve(
          v_missing.issue_id,
          case when v_waiting.commands = 0 then 'Nothing waits for it any more' else 'A running process has it again' end);
      end if;
      continue;
    end if;
    if p_grace is not null and v_missing.since <= v_now - p_grace then
      with free as materialized (
        select command_id from noetl.command
         where needs = v_missing.needs and leased_by is null and process_after <= v_now order by command_id for update skip locked
      ), removed as (
        delete from noetl.command c using free f where c.command_id = f.command_id
        returning c.execution_id, c.shard_id, c.command_id, c.node_id, c.loop_id, c.item_index, c.attempt
      ), delivered as (
        insert into noetl.inbox (execution_id, shard_id, kind, body)
        select g.execution_id, g.shard_id, 'command_ended', jsonb_build_object(
                 'command_id', g.command_id, 'node_id', g.node_id, 'loop_id', g.loop_id::text, 'index', g.item_index,
                 'attempt', g.attempt, 'status', 'failed', 'retryable', false,
                 'error', format('No running process has had the handler %s for %s. Give its file with --handlers to stagedoor run, start or worker', v_names, p_grace))
          from removed g
        returning shard_id
      )
      select count(*), string_agg(distinct shard_id::text, ',') into v_count, v_names from delivered;
      v_failed := v_failed + v_count;
      if v_names is not null then
        perform pg_notify('stagedoor', 'inbox ' || v_names);
      end if;
    elsif v_missing.issue_id is null and v_missing.since <= v_now - p_issue_after then
      update noetl.missing_handler set issue_id = iu_core.fn_system_issue_open(
               'handler_missing', 'error', 'handler:' || left(v_names, 480),
               format('No running process has the handler %s; %s step(s) of %s execution(s) wait for it', v_names, v_waiting.commands, v_waiting.executions),
               jsonb_build_object('handlers', v_missing.needs, 'commands', v_waiting.commands, 'executions', v_waiting.executions,
                                  'examples', v_waiting.examples, 'since', v_missing.since,
                                  'remedy', 'Start a process with its file: stagedoor worker --handlers FILE'))
       where needs = v_missing.needs;
    end if;
  end loop;
  return v_failed;
end $$;

grant execute on function noetl.fn_handlers_review_missing(interval, interval) to dot_executor;

-- Raises engine_lease_lost: the engine no longer holds the lease or the shards under which it writes. Internal.
create or replace function noetl.fn_engine_raise_lease_lost(p_engine uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD805',
    message = format('The lease of the engine %s has expired, or its shards belong to another engine', coalesce(p_engine::text, 'NULL')),
    detail = json_build_object('engine', p_engine)::text;
end $$;
