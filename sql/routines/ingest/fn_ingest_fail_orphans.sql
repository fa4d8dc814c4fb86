-- Rows whose parent failed a moment ago fail with it, without being tried one by one. Internal.
create or replace function iu_core.fn_ingest_fail_orphans(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent record;
  v_row integer;
begin
  for v_parent in
    select distinct p.row_type, p.type_order, w."column"
      from iu_core.ingest_plan_row p, jsonb_to_recordset(p_type.written) as w ("column" text, source text)
     where p.upload_id = p_upload_id and p.type_order < p_type.type_order and p.action = 'refused' and p.reason like 'failed: %'
       and w.source = '$' || p.row_type
  loop
    for v_row in execute format($sql$
      select n."#row" from pg_temp.ingest_now n
        join iu_core.ingest_plan_row p on p.target_id = n.%I
       where p.upload_id = $1 and p.type_order = $2 and p.action = 'refused' and p.reason like 'failed: %%'
    $sql$, v_parent."column") using p_upload_id, v_parent.type_order
    loop
      perform iu_core.fn_ingest_fail_row(p_upload_id, p_type, v_row, format('its %s failed', v_parent.row_type));
    end loop;
  end loop;
end $$;
