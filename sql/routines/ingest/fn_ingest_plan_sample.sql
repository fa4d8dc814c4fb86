-- A few rows of each row type and action, for whoever decides. Internal.
create or replace function iu_core.fn_ingest_plan_sample(p_upload_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'row_type', s.row_type, 'line', s.row_number, 'action', s.action, 'target_key', s.target_key, 'reason', s.reason,
           'changed', (select jsonb_object_agg(c, jsonb_build_array(s.before -> c, s.after -> c)) from unnest(s.changed) as c),
           'values', case when s.action = 'insert' then s.after end)) order by s.type_order, s.action, s.row_number), '[]')
    from (select *, row_number() over (partition by type_order, action order by row_number) as place
            from iu_core.ingest_plan_row where upload_id = p_upload_id and action <> 'unchanged') s
   where place <= 5
$$;
