-- The execution on whose behalf this transaction acts, as the tools of playbooks say in stagedoor.execution. NULL: none. Internal.
create or replace function iu_core.fn_execution_current() returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := current_setting('stagedoor.execution', true);
begin
  if coalesce(v_id, '') = '' then
    return null;
  end if;
  if v_id !~ '^[0-9]{1,19}$' then
    raise exception using errcode = 'SD001', message = format('stagedoor.execution is the id of an execution, not %L', v_id);
  end if;
  return v_id::bigint;
end $$;
