-- The version of a playbook that would be started: the newest, or the one that is asked for. Internal.
create or replace function noetl.fn_playbook_require(p_path text, p_version integer default null) returns noetl.catalog
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c noetl.catalog;
begin
  select * into c from noetl.catalog where path = p_path and (p_version is null or version = p_version) order by version desc limit 1;
  if c.catalog_id is null then
    raise exception using
      errcode = 'SD802',
      message = format('There is no playbook %s%s', p_path, ' in version ' || p_version),
      detail = json_build_object('playbook', concat(p_path, ' in version ' || p_version))::text;
  end if;
  if c.disabled_at is not null then
    raise exception using
      errcode = 'SD802',
      message = format('The playbook %s is disabled', p_path),
      hint = format('`stagedoor playbook enable %s` lets it be started again.', p_path),
      detail = json_build_object('playbook', p_path || ' that can be started: it is disabled')::text;
  end if;
  return c;
end $$;
