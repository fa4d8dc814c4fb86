-- Records with the parts that are still there, their age and the days left.
create or replace view iu_core.v_iu_staging_record with (security_invoker = true) as
select r.*,
       (select count(*) from iu_core.iu_staging_payload p where p.staging_record_id = r.staging_record_id)::integer as parts_present,
       round((extract(epoch from r.expires_at - now()) / 86400)::numeric, 2) as days_to_expiry,
       now() - r.created_at as age
  from iu_core.iu_staging_record r;

grant select on iu_core.v_iu_staging_record to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
