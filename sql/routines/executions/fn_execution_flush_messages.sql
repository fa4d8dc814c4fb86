-- What executions tell each other: a parent its children (start, cancel), a child its parent (child_ended). Internal.
create or replace function noetl.fn_execution_flush_messages(p_messages jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shards text;
begin
  with sent as (
    insert into noetl.inbox (execution_id, shard_id, kind, body)
    select m.execution_id, noetl.fn_shard_of(m.execution_id), m.kind, coalesce(m.body, '{}')
      from jsonb_to_recordset(p_messages) as m (execution_id bigint, kind text, body jsonb)
    returning shard_id
  )
  select string_agg(distinct shard_id::text, ',') into v_shards from sent;
  if v_shards is not null then
    perform pg_notify('stagedoor_inbox', v_shards);
  end if;
end $$;
