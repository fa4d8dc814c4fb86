-- Tells an execution that has not ended to do something. Internal: for those who have asked require_member.
create or replace function noetl.fn_execution_steer(p_execution_id bigint, p_kind text, p_reason text default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := noetl.fn_execution_status(p_execution_id);
begin
  if v_status not in ('RUNNING', 'PAUSED') then
    raise exception using
      errcode = 'SD804',
      message = format('The execution %s has ended: it is %s', p_execution_id, v_status),
      detail = json_build_object('execution', p_execution_id::text, 'status', v_status)::text;
  end if;
  if p_kind = 'resume' and v_status <> 'PAUSED' then
    raise exception using
      errcode = 'SD808',
      message = format('The execution %s is not paused: it is %s', p_execution_id, v_status),
      detail = json_build_object('execution', p_execution_id::text, 'status', v_status)::text;
  end if;
  if p_kind = 'pause' and v_status = 'PAUSED' then
    return;
  end if;
  perform noetl.fn_execution_tell(p_execution_id, p_kind, case p_kind
    when 'cancel' then jsonb_build_object('by', iu_core.fn_actor(), 'reason', left(p_reason, 2000))
    else jsonb_build_object('by', iu_core.fn_actor()) end);
end $$;
