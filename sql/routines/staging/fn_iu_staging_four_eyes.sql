-- Whoever staged a record that two people decide on, or put something into the upload that it reviews, neither ticks nor approves it:
-- not under their own name, not as a service that names another, not by the service that staged it for somebody. A service that acts
-- for named others is one party, whoever it names. Names that differ in case only are one person's. Internal.
create or replace function iu_core.fn_iu_staging_four_eyes(r iu_core.iu_staging_record, p_actor text, p_via text default null) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_by record;
begin
  if not r.four_eyes then
    return;
  end if;
  if array[lower(p_actor), lower(p_via)] && array[lower(r.owner_actor), lower(r.owner_via)] then
    raise exception using
      errcode = 'SD508',
      message = format('Record %s is %s''s own%s; somebody else must decide', r.staging_record_id, r.owner_actor,
                       case when lower(p_via) = lower(r.owner_via) then format(', staged through %s, and so is this', r.owner_via) else '' end),
      detail = json_build_object('record', r.staging_record_id)::text;
  end if;
  select * into u from iu_core.ingest_upload
   where upload_id in (select p.upload_id from iu_core.ingest_plan p where p.review_record_id = r.staging_record_id);
  if found then
    select p_actor as actor, p_via as via into v_by;
    perform iu_core.fn_ingest_four_eyes(u, r.staging_record_id, v_by);
  end if;
end $$;
