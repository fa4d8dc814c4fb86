-- A result for those who may read its execution's workspace: the body of one that the database holds, or puts together now.
-- Of one on disk (`object` is its older name, and read as disk) the body is null, and the server that has the file reads it after this has let the caller through.
create or replace function noetl.fn_result_read(
  p_ref_id bigint,
  out execution_id bigint, out node_name text, out command_id text, out parent_ref_id bigint,
  out store_tier text, out media_type text, out bytes bigint, out created_at timestamptz, out body jsonb
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_collected timestamptz;
begin
  perform iu_core.require_member(noetl.fn_result_workspace(p_ref_id), 'read');
  if exists (select from noetl.result_ref r where r.ref_id = p_ref_id and r.store_tier = 'eventlog') then
    perform noetl.fn_loop_results(p_ref_id);
  end if;
  select r.execution_id, r.node_name, r.command_id, r.parent_ref_id, case r.store_tier when 'object' then 'disk' else r.store_tier end, r.media_type, r.bytes, r.created_at, b.body, r.collected_at
    into execution_id, node_name, command_id, parent_ref_id, store_tier, media_type, bytes, created_at, body, v_collected
    from noetl.result_ref r left join noetl.result_body b on b.ref_id = r.ref_id
   where r.ref_id = p_ref_id;
  if v_collected is not null then
    raise exception using
      errcode = 'SD811',
      message = format('The result %s is not kept any more', p_ref_id),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
end $$;

grant execute on function noetl.fn_result_read(bigint) to authenticated, service_role, dot_executor, stagedoor_reviewer;
