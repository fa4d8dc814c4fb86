-- Row type → action → rows. Internal.
create or replace function iu_core.fn_ingest_plan_totals(p_upload_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(row_type, actions), '{}')
    from (select row_type, jsonb_object_agg(action, rows) as actions
            from (select row_type, action, count(*) as rows from iu_core.ingest_plan_row
                   where upload_id = p_upload_id group by 1, 2) a
           group by 1) t
$$;
