-- Items of a loop that no engine can run fail for good: each leaves its table for the inbox, as one that has ended. What
-- somebody runs already is left alone. Locked in the order of their ids, as by everybody who locks several.
create or replace function noetl.fn_command_refuse(p_execution_id bigint, p_loop_id bigint, p_error text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with free as materialized (
    select command_id from noetl.command
     where execution_id = p_execution_id and loop_id = p_loop_id and leased_by is null order by command_id for update skip locked
  ), gone as (
    delete from noetl.command c using free f where c.command_id = f.command_id
    returning c.shard_id, c.command_id, c.node_id, c.item_index, c.attempt
  )
  insert into noetl.inbox (execution_id, shard_id, kind, body)
  select p_execution_id, g.shard_id, 'command_ended', jsonb_build_object(
           'command_id', g.command_id, 'node_id', g.node_id, 'loop_id', p_loop_id::text, 'index', g.item_index,
           'attempt', g.attempt, 'status', 'failed', 'error', p_error, 'retryable', false)
    from gone g;
  perform pg_notify('stagedoor_inbox', noetl.fn_shard_of(p_execution_id)::text);
end $$;

grant execute on function noetl.fn_command_refuse(bigint, bigint, text) to dot_executor;
