-- No version of it is started any more; what runs goes on. Back-end code only.
create or replace function noetl.fn_playbook_disable(p_path text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select noetl.fn_playbook_switch(p_path, false) $$;

grant execute on function noetl.fn_playbook_disable(text) to service_role, dot_executor;
