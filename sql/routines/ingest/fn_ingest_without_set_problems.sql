-- Problems of a row less those that a rule over the whole upload found. Internal.
create or replace function iu_core.fn_ingest_without_set_problems(p_problems jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(p order by position), '[]')
    from jsonb_array_elements(p_problems) with ordinality as e (p, position)
   where p ->> 'scope' is distinct from 'set'
$$;
