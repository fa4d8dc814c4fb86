-- The keys that a route's payload may not have, in lower case: always the ten, and those that its contract adds. Internal.
create or replace function iu_core.fn_sql_route_forbidden(p_contract jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array['body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password', 'ssn', 'personal_data']
      || array(select lower(k) from jsonb_array_elements_text(coalesce(p_contract -> 'forbid_keys', '[]')) k)
$$;
