-- The workspace of a result's execution, for those who may know of it; one of others is answered like one that is not there.
-- From the log, whose first event says it: the projection may be a moment behind. Internal: fn_result_read gives it to
-- require_member.
create or replace function noetl.fn_result_workspace(p_ref_id bigint) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select (e.meta ->> 'workspace_id')::uuid into v_workspace
    from noetl.result_ref r join noetl.event e on e.execution_id = r.execution_id and e.seq = 1
   where r.ref_id = p_ref_id;
  if not found
     or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD811',
      message = format('There is no result %s', coalesce(p_ref_id::text, 'NULL')),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
  return v_workspace;
end $$;
