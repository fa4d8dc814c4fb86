-- It can be started again. Back-end code only.
create or replace function noetl.fn_playbook_enable(p_path text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from noetl.catalog where path = p_path) then
    raise exception using
      errcode = 'SD802',
      message = format('There is no playbook %s', p_path),
      detail = json_build_object('playbook', p_path)::text;
  end if;
  update noetl.catalog set disabled_at = null where path = p_path and disabled_at is not null;
end $$;

grant execute on function noetl.fn_playbook_enable(text) to service_role, dot_executor;
