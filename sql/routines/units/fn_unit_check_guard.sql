-- The checker's word is written by fn_unit_check, which back-end code calls; not by the owner of the table.
-- A superuser is of every role and can: whoever can also disable this trigger is not kept out by it.
create or replace function iu_core.fn_unit_check_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role name := iu_core.fn_caller_role();
begin
  if tg_op in ('INSERT', 'UPDATE') and (pg_has_role(v_role, 'dot_executor', 'USAGE') or pg_has_role(v_role, 'service_role', 'USAGE')) then
    return null;
  end if;
  raise exception using
    errcode = '42501',
    message = format('%s of iu_core.unit_check is refused: the checker alone writes it', lower(tg_op)),
    hint = 'iu_core.fn_unit_check checks units, as dot_executor.';
end $$;

-- Before each statement, not each row: who writes is the same for all of them.
create or replace trigger unit_check_is_the_checkers
  before insert or update or delete or truncate on iu_core.unit_check
  for each statement execute function iu_core.fn_unit_check_guard();
