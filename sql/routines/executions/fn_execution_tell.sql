-- Puts a row into the inbox of an execution and wakes its owner. Internal.
create or replace function noetl.fn_execution_tell(p_execution_id bigint, p_kind text, p_body jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into noetl.inbox (execution_id, shard_id, kind, body)
  values (p_execution_id, noetl.fn_shard_of(p_execution_id), p_kind, p_body);
  select pg_notify('stagedoor_inbox', noetl.fn_shard_of(p_execution_id)::text)
$$;
