-- The append-only log: one flush writes events, commands, waits and checkpoints.

-- Writes a batch for executions of these shards: events, commands, waits, messages to other executions, snapshots; and deletes
-- the inbox rows from which it follows. All or nothing, in one call.
--
-- The fence comes first: the shards are locked at their owner and epoch. An engine that takes a shard waits for us, or we wait
-- for it and then read the row again: a subquery without the lock would accept rows of the old owner and of the new one. A
-- unique violation (23505) is passed to the caller: the event exists already, or the batch contains a wrong one.
--
-- follows: [[execution_id, seq]], the events after which the batch goes on; the engine names each execution in its first flush on a
-- session. One that is not in the log was lost, in a failover or a restore (SD814): an engine must not go on from memory behind a
-- gap. For all executions in every flush this costs 5 % of a step (17 µs), and within a session nothing can be lost.
--
-- An event is an array of its columns in the order below; trailing columns may be left out as null. Objects with names cost up
-- to 40 % more (250 events: 5.9 ms of server time against 4.2); an array for each column costs as much as this.
create or replace function noetl.fn_execution_flush(p_engine uuid, p_shards smallint[], p_epochs bigint[], p_batch jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_held integer;
  v_written bigint;
  v_moved text;
begin
  select count(*) into v_held
    from (select from noetl.execution_shard s
           where s.shard_id = any (p_shards) and s.owner = p_engine and s.epoch = p_epochs[array_position(p_shards, s.shard_id)]
           order by s.shard_id for share) l;
  if v_held is distinct from cardinality(p_shards) or v_held is distinct from cardinality(p_epochs) then
    perform noetl.fn_engine_raise_lease_lost(p_engine);
  end if;
  if exists (select from jsonb_object_keys(p_batch) k
              where k <> all ('{follows,events,commands,commands_cancelled,waits,waits_ended,messages,inbox,checkpoints,paused,ended,collect,outbox}')) then
    raise exception using errcode = 'SD001', message = 'Unknown part of a flush; see noetl.fn_execution_flush';
  end if;
  if p_batch ? 'follows' then
    select f ->> 0 into v_moved from jsonb_array_elements(p_batch -> 'follows') f
     where not exists (select from noetl.event l where l.execution_id = (f ->> 0)::bigint and l.seq = (f ->> 1)::integer) limit 1;
    if found then
      raise exception using
        errcode = 'SD814',
        message = format('The log of the execution %s is not where the engine left it', v_moved),
        detail = json_build_object('execution', v_moved)::text;
    end if;
  end if;
  if p_batch ? 'events' then
    insert into noetl.event (
      execution_id, event_id, seq, event_type, catalog_id, parent_event_id, node_id, node_name, node_type, status,
      meta, result, context, error, current_index, current_item, parent_execution_id, worker_id)
    select (e ->> 0)::bigint, (e ->> 1)::bigint, (e ->> 2)::integer, e ->> 3, (e ->> 4)::bigint, (e ->> 5)::bigint,
           e ->> 6, e ->> 7, e ->> 8, e ->> 9,
           nullif(e -> 10, 'null'), nullif(e -> 11, 'null'), nullif(e -> 12, 'null'),
           e ->> 13, (e ->> 14)::integer, nullif(e -> 15, 'null'), (e ->> 16)::bigint, p_engine
      from jsonb_array_elements(p_batch -> 'events') e
     where noetl.fn_shard_of((e ->> 0)::bigint) = any (p_shards);
    get diagnostics v_written = row_count;
    if v_written <> jsonb_array_length(p_batch -> 'events') then
      raise exception using errcode = 'SD001', message = 'An event belongs to none of the given shards';
    end if;
  end if;
  if p_batch ? 'inbox' then
    delete from noetl.inbox where inbox_id = any (array(select i::bigint from jsonb_array_elements_text(p_batch -> 'inbox') i));
  end if;
  if p_batch ?| '{commands,commands_cancelled}' then
    perform noetl.fn_execution_flush_commands(p_batch);
  end if;
  if p_batch ?| '{waits,waits_ended}' then
    perform noetl.fn_execution_flush_waits(p_batch);
  end if;
  if p_batch ? 'messages' then
    perform noetl.fn_execution_flush_messages(p_batch -> 'messages');
  end if;
  if p_batch ?| '{checkpoints,ended}' then
    perform noetl.fn_execution_flush_checkpoints(p_batch);
  end if;
  if p_batch ? 'paused' then
    perform noetl.fn_execution_flush_pauses(p_batch -> 'paused');
  end if;
  if p_batch ? 'collect' then
    perform noetl.fn_execution_flush_loop_results(p_batch -> 'collect');
  end if;
  if p_batch ? 'outbox' then
    perform noetl.fn_execution_flush_outbox(p_batch -> 'outbox');
  end if;
end $$;

grant execute on function noetl.fn_execution_flush(uuid, smallint[], bigint[], jsonb) to dot_executor;

-- The commands of a flush: first deletes those that are no longer needed, also from engines that run them; then adds the new
-- ones, so that a loop that ends and is entered again does not delete its own. Internal.
--
-- handed_over: a command that its owner cannot run itself. The owner may repeat it after a restart or a change of owner: that
-- counts only while the command is not dispatched. Only the owner adds commands, or takes outcomes out of the inbox.
--
-- The caller wakes the engines that can run them after its commit.
create or replace function noetl.fn_execution_flush_commands(p_batch jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Locked in the order of their ids, as by those who end them.
  delete from noetl.command where command_id = any (array(
    select c.command_id from noetl.command c
      join jsonb_to_recordset(p_batch -> 'commands_cancelled') as g (execution_id bigint, loop_id bigint)
        on c.execution_id = g.execution_id and (g.loop_id is null or c.loop_id = g.loop_id)
     order by c.command_id for update of c));
  insert into noetl.command (command_id, execution_id, shard_id, catalog_id, loop_id, node_id, node_name, item_index, item, needs,
                             scope, attempt, process_after)
  select n.command_id, n.execution_id, noetl.fn_shard_of(n.execution_id), n.catalog_id, n.loop_id, n.node_id, n.node_name, n.item_index,
         n.item, nullif(n.needs, '{}'), n.scope, coalesce(n.attempt, 1), coalesce(n.process_after, clock_timestamp())
    from jsonb_to_recordset(p_batch -> 'commands') as n (
      command_id text, execution_id bigint, catalog_id bigint, loop_id bigint, node_id text, node_name text, item_index integer,
      item jsonb, needs text[], scope jsonb, attempt smallint, process_after timestamptz, handed_over boolean)
   where n.handed_over is not true or not noetl.fn_command_is_dispatched(n.execution_id, n.command_id);
end $$;

-- The waits of a flush: deletes those whose execution ended before they were woken, and adds new ones. Internal.
create or replace function noetl.fn_execution_flush_waits(p_batch jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  -- Locked in the order of their key, as by those who wake them.
  with removed as materialized (
    select w.execution_id, w.node_id from noetl.wait w
      join jsonb_to_recordset(p_batch -> 'waits_ended') as g (execution_id bigint, node_id text)
        on w.execution_id = g.execution_id and w.node_id = g.node_id
     order by w.execution_id, w.node_id for update of w
  )
  delete from noetl.wait w using removed where w.execution_id = removed.execution_id and w.node_id = removed.node_id;
  insert into noetl.wait (execution_id, node_id, shard_id, kind, wake_at, event_domain, event_type, subject, match, staging_record_id, since_at)
  select n.execution_id, n.node_id, noetl.fn_shard_of(n.execution_id), n.kind, n.wake_at, n.event_domain, n.event_type, n.subject, n.match,
         n.staging_record_id, case when n.kind = 'event' then noetl.fn_wait_since_at(n.execution_id, n.since_node) end
    from jsonb_to_recordset(p_batch -> 'waits') as n (
      execution_id bigint, node_id text, kind text, wake_at timestamptz, event_domain text, event_type text, subject text, match jsonb,
      staging_record_id uuid, since_node text)
$$;

-- Messages between executions: a parent to its children (start, cancel), a child to its parent (child_ended). Internal.
create or replace function noetl.fn_execution_flush_messages(p_messages jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into noetl.inbox (execution_id, shard_id, kind, body)
  select m.execution_id, noetl.fn_shard_of(m.execution_id), m.kind, coalesce(m.body, '{}')
    from jsonb_to_recordset(p_messages) as m (execution_id bigint, kind text, body jsonb)
$$;

-- The snapshots of a flush, each stored as a whole, and which executions have ended. Internal.
create or replace function noetl.fn_execution_flush_checkpoints(p_batch jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended bigint[] := array(select i::bigint from jsonb_array_elements_text(p_batch -> 'ended') i);
begin
  insert into noetl.checkpoint as c (execution_id, shard_id, epoch, last_event_id, last_seq, fold_version, state, ended)
  select n.execution_id, noetl.fn_shard_of(n.execution_id), n.epoch, n.last_event_id, n.last_seq, n.fold_version, nullif(n.state, 'null'),
         n.execution_id = any (v_ended)
    from jsonb_to_recordset(p_batch -> 'checkpoints') as n (
      execution_id bigint, epoch bigint, last_event_id bigint, last_seq integer, fold_version smallint, state jsonb)
   order by n.execution_id
  on conflict (execution_id) do update set
    epoch = excluded.epoch, last_event_id = excluded.last_event_id, last_seq = excluded.last_seq, fold_version = excluded.fold_version,
    state = excluded.state, ended = c.ended or excluded.ended, committed_at = clock_timestamp();
  if cardinality(v_ended) > 0 then
    update noetl.checkpoint set ended = true, committed_at = clock_timestamp() where execution_id = any (v_ended) and not ended;
  end if;
end $$;

-- Which executions a flush paused or resumed, as {execution_id, paused}. Their commands stay as they are, each with the time of
-- its retry: a claim skips all commands of a paused execution, also those dispatched or freed meanwhile. Internal.
create or replace function noetl.fn_execution_flush_pauses(p_pauses jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update noetl.checkpoint k set paused = p.paused
    from jsonb_to_recordset(p_pauses) as p (execution_id bigint, paused boolean)
   where k.execution_id = p.execution_id and k.paused <> p.paused
$$;

-- Registers the results of ended loops that others refer to: each is one result, which stays in the log until it is read for
-- the first time (fn_loop_results). A flush delays every execution of its engine, and combining a million items takes seconds.
-- It refers to the loop's collection, if that is a result of its own. Internal.
create or replace function noetl.fn_execution_flush_loop_results(p_collect jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into noetl.result_ref (ref_id, execution_id, node_name, name, parent_ref_id, store_tier, physical_uri, content_hash, bytes)
  select c.ref_id, c.execution_id, c.node_name, 'results',
         (select regexp_replace(s.context ->> 'collection_ref', '^.*/', '')::bigint from noetl.event s
           where s.execution_id = c.execution_id and s.meta ->> 'loop_id' = c.loop_id::text and s.event_type = 'loop.started'),
         'eventlog', 'eventlog:noetl.event/' || c.loop_id, '', 0
    from jsonb_to_recordset(p_collect) as c (execution_id bigint, loop_id bigint, ref_id bigint, node_name text)
$$;

-- Emits the events of ended executions in the flush that ends them: references only. The actor is the starter of the execution,
-- via the engine, and the cause is what it was started by, if that is still known. Internal.
create or replace function noetl.fn_execution_flush_outbox(p_outbox jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via,
    safe_payload)
  select n.id, 'dot', n.event_type, 'execution:' || n.execution_id, n.workspace_id, coalesce(n.correlation_id, cause.correlation_id, n.id),
         cause.id, coalesce(cause.causation_depth + 1, 0), coalesce(n.started_by, iu_core.fn_actor()),
         nullif(iu_core.fn_actor(), coalesce(n.started_by, iu_core.fn_actor())),
         jsonb_build_object('execution_id', n.execution_id::text, 'playbook', n.playbook, 'status', upper(split_part(n.event_type, '.', 2)))
    from (select iu_core.fn_time_uuid() as id, o.*
            from jsonb_to_recordset(p_outbox) as o (
              execution_id bigint, event_type text, workspace_id uuid, playbook text, started_by text, cause uuid,
              correlation_id uuid)
           where o.event_type in ('execution.completed', 'execution.failed', 'execution.cancelled') offset 0) n
    left join iu_core.event_outbox cause on cause.id = n.cause
$$;
