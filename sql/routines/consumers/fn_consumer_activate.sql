-- From now on the consumer's events become jobs. Administrators only, and only what somebody else has reviewed.
create or replace function iu_core.fn_consumer_activate(p_consumer_id text) returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry := iu_core.fn_consumer_require(p_consumer_id);
begin
  if c.reviewed_by is null then
    raise exception using
      errcode = 'SD322',
      message = format('The consumer %s has not been reviewed', p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id)::text;
  end if;
  update iu_core.consumer_registry set enabled = true, dry_run = false
   where consumer_id = p_consumer_id and (not enabled or dry_run);
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;
