-- A list of names in a contract, checked to be one. Internal.
create or replace function iu_core.fn_sql_route_strings(p_contract jsonb, p_field text) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_contract -> p_field is null then
    return null;
  end if;
  if jsonb_typeof(p_contract -> p_field) <> 'array'
     or exists (select from jsonb_array_elements(p_contract -> p_field) e where jsonb_typeof(e) <> 'string' or e #>> '{}' = '') then
    raise exception using
      errcode = 'SD311',
      message = format('%s of the payload contract is not a list of names', p_field),
      detail = json_build_object('reason', format('%s of its payload contract is not a list of names', p_field))::text;
  end if;
  return array(select jsonb_array_elements_text(p_contract -> p_field));
end $$;
