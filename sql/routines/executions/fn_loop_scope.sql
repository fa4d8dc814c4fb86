-- What a loop was begun with: its collection and what its items' expressions see, inline or by reference.
create or replace function noetl.fn_loop_scope(p_execution_id bigint, p_loop_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context jsonb;
begin
  select e.context into v_context from noetl.event e
   where e.execution_id = p_execution_id and e.meta ->> 'loop_id' = p_loop_id::text and e.event_type = 'loop.started';
  if not found then
    raise exception using
      errcode = 'SD803',
      message = format('There is no loop %s in an execution %s', p_loop_id, p_execution_id),
      detail = json_build_object('execution', p_execution_id::text)::text;
  end if;
  return v_context;
end $$;

grant execute on function noetl.fn_loop_scope(bigint, bigint) to dot_executor;
