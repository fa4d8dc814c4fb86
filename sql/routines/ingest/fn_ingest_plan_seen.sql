-- The plan of an upload, if it is the one whose digest was seen. Internal.
create or replace function iu_core.fn_ingest_plan_seen(p_upload_id uuid, p_plan_digest text) returns iu_core.ingest_plan
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan iu_core.ingest_plan;
  v_other uuid;
begin
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if v_plan.digest = p_plan_digest then
    return v_plan;
  end if;
  if p_plan_digest is null then
    raise exception using errcode = 'SD606', message = 'Name the digest of the plan that you saw',
      detail = json_build_object('upload', p_upload_id, 'reason', 'its digest was not named')::text;
  end if;
  -- Whoever copied the digest from the wrong page is told so; of other workspaces nothing.
  select p.upload_id into v_other
    from iu_core.ingest_plan p join iu_core.ingest_upload o using (upload_id)
    join iu_core.ingest_upload u on u.upload_id = p_upload_id and u.workspace_id = o.workspace_id
   where p.digest = p_plan_digest limit 1;
  if v_other is not null then
    raise exception using errcode = 'SD606',
      message = format('This digest is that of the plan of upload %s, not of %s', v_other, p_upload_id),
      hint = format('`stagedoor upload show %s` prints the digest of its own plan.', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the digest is that of another upload''s plan')::text;
  end if;
  raise exception using
    errcode = 'SD606',
    message = format('Upload %s has another plan than the one with this digest', p_upload_id),
    hint = 'If it was planned again since you looked, look at the plan that there is now, and decide on that.',
    detail = json_build_object('upload', p_upload_id, 'reason', 'it has another plan than the one with this digest')::text;
end $$;
