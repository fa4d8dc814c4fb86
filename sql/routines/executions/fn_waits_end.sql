-- Ends waits: each row that is still there becomes an inbox row with what it is told. Returns how many were. Internal.
-- Locked in the order of their key, as by everybody who locks several.
create or replace function noetl.fn_waits_end(p_executions bigint[], p_nodes text[], p_bodies jsonb[]) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended integer;
  v_shards text;
begin
  if coalesce(cardinality(p_executions), 0) = 0 then
    return 0;
  end if;
  with held as materialized (
    select w.execution_id, w.node_id, told.body
      from unnest(p_executions, p_nodes, p_bodies) as told (execution_id, node_id, body)
      join noetl.wait w on w.execution_id = told.execution_id and w.node_id = told.node_id
     order by w.execution_id, w.node_id
       for update of w
  ), gone as (
    delete from noetl.wait w using held h
     where w.execution_id = h.execution_id and w.node_id = h.node_id
    returning w.execution_id, w.shard_id, w.node_id, h.body
  ), heard as (
    insert into noetl.wait_heard (execution_id, event_id)
    select distinct g.execution_id, (g.body ->> 'event_id')::uuid from gone g where g.body ? 'event_id'
    on conflict do nothing
  ), told as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select g.execution_id, g.shard_id, 'woken', jsonb_build_object('node_id', g.node_id) || g.body from gone g
  )
  select count(*), string_agg(distinct g.shard_id::text, ',') into v_ended, v_shards from gone g;
  if v_shards is not null then
    perform pg_notify('stagedoor_inbox', v_shards);
  end if;
  return v_ended;
end $$;
