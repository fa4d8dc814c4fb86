-- Folds an execution's projection from its log anew, in one transaction. Nothing to do with how it stood before: an
-- execution whose log is gone loses its row, too.
create or replace function noetl.rebuild_execution_projection(p_execution_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_execution_id is null then
    raise exception using errcode = 'SD001', message = 'Name the execution to rebuild, not NULL';
  end if;
  -- As fn_execution_project does: one of both at a time, each on top of what the other wrote.
  perform from noetl.projection_checkpoint where shard_id = noetl.fn_shard_of(p_execution_id) for update;
  delete from noetl.execution where execution_id = p_execution_id;
  insert into noetl.execution select * from noetl.fn_execution_fold(array[p_execution_id], true);
end $$;

grant execute on function noetl.rebuild_execution_projection(bigint) to dot_executor, service_role;
