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
    from iu_core.ingest_plan_row p
   where p.upload_id = p_upload.upload_id and p.row_type = v_leaf and p.action = 'refused'
     and s.upload_id = p.upload_id and s.row_type = p.row_type and s.row_number = p.row_number and s.validation_status = 'valid';
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, v_leaf, p_upload.line_count);
  end if;
end $$;
