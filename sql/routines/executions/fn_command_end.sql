-- Commands have ended: each leaves its table for the inbox of its execution, if the lease is still the one it ran under.
-- Answers the ids that counted. An array of {command_id, lease_epoch, status, result, error, retryable}.
-- Locked in the order of their ids, as by everybody who locks several.
create or replace function noetl.fn_command_end(p_engine uuid, p_outcomes jsonb) returns setof text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counted text[];
  v_shards text;
begin
  if jsonb_typeof(p_outcomes) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'fn_command_end takes a JSON array of outcomes';
  end if;
  with given as materialized (
    select o.* from jsonb_to_recordset(p_outcomes) as o (
      command_id text, lease_epoch integer, status text, result jsonb, error text, retryable boolean)
  ), held as materialized (
    select c.command_id, g.status, g.result, g.error, g.retryable
      from given g join noetl.command c on c.command_id = g.command_id
     where c.leased_by = p_engine and c.lease_epoch = g.lease_epoch and g.status in ('completed', 'failed')
     order by c.command_id for update of c
  ), gone as (
    delete from noetl.command c using held h where c.command_id = h.command_id
    returning c.execution_id, c.shard_id, c.command_id, c.node_id, c.loop_id, c.item_index, c.attempt, h.status, h.result, h.error, h.retryable
  ), told as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select g.execution_id, g.shard_id, 'command_ended', jsonb_build_object(
             'command_id', g.command_id, 'node_id', g.node_id, 'loop_id', g.loop_id::text, 'index', g.item_index,
             'attempt', g.attempt, 'status', g.status, 'result', g.result, 'error', g.error, 'retryable', coalesce(g.retryable, true))
      from gone g
  )
  select array_agg(g.command_id), string_agg(distinct g.shard_id::text, ',') into v_counted, v_shards from gone g;
  if v_shards is not null then
    perform pg_notify('stagedoor_inbox', v_shards);
  end if;
  return query select unnest(v_counted);
end $$;

grant execute on function noetl.fn_command_end(uuid, jsonb) to dot_executor;
