-- The PostgreSQL type of a field's values in the normalised payload. Internal.
create or replace function iu_core.fn_ingest_field_type(p_field jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case p_field ->> 'type'
           when 'integer' then 'bigint'
           when 'decimal' then 'numeric' when 'money' then 'numeric' when 'percent' then 'numeric'
           when 'date' then 'date' when 'boolean' then 'boolean'
           else 'text' end
$$;
