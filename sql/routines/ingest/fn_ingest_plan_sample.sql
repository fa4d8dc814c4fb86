-- A few rows of each row type and action, for whoever decides. Internal.
create or replace function iu_core.fn_ingest_plan_sample(p_upload_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'row_type', r.row_type, 'line', r.row_number, 'action', r.action, 'target_key', r.target_key, 'reason', r.reason,
           'changed', (select jsonb_object_agg(c, jsonb_build_array(r.before -> c, r.after -> c)) from unnest(r.changed) as c),
           'values', case when r.action = 'insert' then iu_core.fn_ingest_plan_image(p.inserted_columns, r) end))
           order by r.type_order, r.action, r.row_number), '[]')
    from (select upload_id, type_order, row_number, row_number() over (partition by type_order, action order by row_number) as place
            from iu_core.ingest_plan_row where upload_id = p_upload_id and action <> 'unchanged') s
    join iu_core.ingest_plan_row r using (upload_id, type_order, row_number)
    join iu_core.ingest_plan p using (upload_id)
   where place <= 5
$$;
