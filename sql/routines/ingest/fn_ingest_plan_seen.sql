-- The plan of an upload, if it is the one whose digest was seen. Internal.
create or replace function iu_core.fn_ingest_plan_seen(p_upload_id uuid, p_plan_digest text) returns iu_core.ingest_plan
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan iu_core.ingest_plan;
begin
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if p_plan_digest is null or v_plan.digest is distinct from p_plan_digest then
    raise exception using
      errcode = 'SD606',
      message = case when p_plan_digest is null then 'Name the digest of the plan that you saw'
                     else 'This is not the plan that you saw: it was made anew' end,
      detail = json_build_object('upload', p_upload_id, 'reason', 'it was made anew after you looked at it')::text;
  end if;
  return v_plan;
end $$;
