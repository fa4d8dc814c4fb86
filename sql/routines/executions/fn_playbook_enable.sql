-- It can be started again. Back-end code only.
create or replace function noetl.fn_playbook_enable(p_path text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select noetl.fn_playbook_switch(p_path, true) $$;

grant execute on function noetl.fn_playbook_enable(text) to service_role, dot_executor;
