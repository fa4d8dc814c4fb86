-- The records that an execution, or one of the same origin, has read, and that still lack the approval that they require. Internal.
create or replace function iu_core.fn_execution_unapproved(p_execution_id bigint) returns setof uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select u.staging_record_id from iu_core.execution_unapproved_read u
   where u.origin_execution_id = iu_core.fn_execution_origin(p_execution_id)
     and not exists (select from iu_core.iu_staging_record r
                      where r.staging_record_id = u.staging_record_id and r.approved_at is not null)
$$;
