-- What a filter asks for, as an array; one value alone is one of its own. Internal.
create or replace function iu_core.fn_search_filter_values(p_filters jsonb, p_key text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_filters -> p_key)
           when 'array' then p_filters -> p_key
           when 'string' then jsonb_build_array(p_filters -> p_key)
           else '[]' end;
end $$;
