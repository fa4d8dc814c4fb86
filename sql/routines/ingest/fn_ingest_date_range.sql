-- From when to when the promoted rows are: the leaf's date column, if it has one. Internal.
create or replace function iu_core.fn_ingest_date_range(p_upload iu_core.ingest_upload, p_definition jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_column text;
  v_range jsonb;
begin
  select c.key into v_column
    from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
   where spec ->> 'name' = v_leaf and spec -> 'key' ? c.key and p_definition -> 'fields' -> c.value ->> 'type' = 'date';
  if v_column is null then
    return '{}';
  end if;
  -- Dates as ISO writes them: their bytes are in order, too.
  select jsonb_build_object('date_from', min(day collate "C"), 'date_to', max(day collate "C")) into v_range
    from (select after ->> v_column as day from iu_core.ingest_plan_row
           where upload_id = p_upload.upload_id and row_type = v_leaf and action in ('insert', 'update') offset 0) d;
  return v_range;
end $$;
