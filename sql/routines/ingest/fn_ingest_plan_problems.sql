-- Lines that a plan refuses (a value that its column cannot hold, a parent that is not certain) carry the error like those that
-- the reader refused. The scope says that it is the plan's: planned again, it is looked at again. Internal.
create or replace function iu_core.fn_ingest_plan_problems(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_set: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
begin
  update public.staging_rows s
     set validation_status = 'invalid',
         validation_errors = coalesce(s.validation_errors, '[]') || jsonb_build_object(
           'scope', 'plan', 'line', s.row_number, 'rule', 'plan.refused', 'message', p.reason || '.',
           'suggestion', 'Correct the line, or what it refers to, and plan again.'),
         updated_at = now()
    -- Line by line through the key, and then by place: as a join the planner may look through the whole plan for each line (74 s for 12,000).
    from (select l.place, r.reason
            from (select * from iu_core.ingest_plan_row
                   where upload_id = p_upload.upload_id and row_type = v_leaf and action = 'refused' offset 0) r
           cross join lateral (select x.ctid as place from public.staging_rows x
                                where x.upload_id = p_upload.upload_id and x.row_type = v_leaf and x.row_number = r.row_number
                                  and x.validation_status = 'valid' offset 0) l) p
   where s.ctid = p.place;
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_leaf, p_upload.line_count);
  end if;
end $$;
