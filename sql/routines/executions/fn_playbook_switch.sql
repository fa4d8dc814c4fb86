-- Turns a playbook on or off, in all its versions. Internal.
create or replace function noetl.fn_playbook_switch(p_path text, p_is_on boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from noetl.catalog where path = p_path) then
    raise exception using
      errcode = 'SD802',
      message = format('There is no playbook %s', p_path),
      detail = json_build_object('playbook', p_path)::text;
  end if;
  update noetl.catalog set disabled_at = case when not p_is_on then clock_timestamp() end
   where path = p_path and (disabled_at is null) <> p_is_on;
end $$;
