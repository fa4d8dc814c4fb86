-- Rows whose parent failed a moment ago fail with it, without being tried one by one: all of one parent type at once.
-- Internal.
create or replace function iu_core.fn_ingest_fail_orphans(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent record;
  v_rows integer[];
begin
  for v_parent in
    -- An array, which is hashed: the planner knows nothing of a plan that was made a moment ago and would join in loops.
    select p.row_type, w.slot, array_agg(p.target_id) as failed
      from iu_core.ingest_plan_row p, jsonb_to_recordset(p_type.written) as w (slot text, source text)
     where p.upload_id = p_upload_id and p.type_order < p_type.type_order and p.action = 'refused' and p.reason like 'failed: %'
       and w.source = '$' || p.row_type
     group by 1, 2
  loop
    execute format('select array_agg("#row") from pg_temp.ingest_now where %I = any ($1)', v_parent.slot)
      into v_rows using v_parent.failed;
    if v_rows is not null then
      perform iu_core.fn_ingest_fail_rows(p_upload_id, p_type, v_rows, format('its %s failed', v_parent.row_type));
    end if;
  end loop;
end $$;
