-- Takes a plan away with all that was derived for it: entities, resolutions, a review that is still open. What was
-- approved stays approved and expires; it names a plan that is no more, so nothing can be promoted by it. Internal.
create or replace function iu_core.fn_ingest_plan_forget(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_review uuid;
begin
  delete from iu_core.ingest_plan_row where upload_id = p_upload.upload_id;
  delete from public.staging_id_resolution where upload_id = p_upload.upload_id;
  delete from public.staging_rows
   where upload_id = p_upload.upload_id
     -- Named one by one, because only then the index finds them without passing over every line.
     and row_type = any (array(select t from jsonb_array_elements_text(p_upload.reading -> 'layout' -> 'row_types') t
                                where t <> p_upload.reading -> 'layout' ->> 'leaf'));
  -- What the plan found wrong with a line was wrong with that plan.
  update public.staging_rows s
     set (validation_errors, validation_status, updated_at) = (
           select e.errors, (case when e.errors = '[]' then 'valid' else 'invalid' end)::public.staging_validation_status, now()
             from (select coalesce(jsonb_agg(x order by o), '[]') as errors
                     from jsonb_array_elements(s.validation_errors) with ordinality as a (x, o)
                    where x ->> 'scope' is distinct from 'plan') e)
   where s.upload_id = p_upload.upload_id and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')
     and s.validation_errors @> '[{"scope": "plan"}]';
  if found then
    perform iu_core.fn_ingest_recount(p_upload.upload_id, p_upload.reading -> 'layout' ->> 'leaf', p_upload.line_count);
  end if;
  delete from iu_core.ingest_plan where upload_id = p_upload.upload_id returning review_record_id into v_review;
  perform from iu_core.iu_staging_record
    where staging_record_id = v_review and lifecycle_status = 'pending' and expires_at > clock_timestamp() for update;
  if found then
    perform iu_core.fn_iu_staging_end(v_review, iu_core.fn_actor(), 'the plan was replaced');
  end if;
end $$;
