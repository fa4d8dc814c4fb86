-- Takes a template away; what was staged from it stays. Returns whether it was there.
create or replace function iu_core.fn_iu_auto_instantiate_template_remove(p_template_code text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.iu_auto_instantiate_template where template_code = p_template_code;
  return found;
end $$;

grant execute on function iu_core.fn_iu_auto_instantiate_template_remove(text) to service_role;
