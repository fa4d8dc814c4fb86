-- Rows whose parent failed a moment ago fail with it, without being tried one by one. Internal.
create or replace function iu_core.fn_ingest_fail_orphans(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.ingest_plan_row
                  where upload_id = p_upload_id and type_order < p_type.type_order and action = 'refused' and reason like 'failed: %') then
    return;
  end if;
  update iu_core.ingest_plan_row c
     set action = 'refused', reason = format('failed: its %s failed', p.row_type)
    from iu_core.ingest_plan_row p, jsonb_to_recordset(p_type.written) as w ("column" text, source text)
   where c.upload_id = p_upload_id and c.type_order = p_type.type_order and c.action in ('insert', 'update')
     and p.upload_id = p_upload_id and p.type_order < p_type.type_order and p.action = 'refused' and p.reason like 'failed: %'
     and w.source = '$' || p.row_type and c.after ->> w."column" = p.target_id::text;
end $$;
