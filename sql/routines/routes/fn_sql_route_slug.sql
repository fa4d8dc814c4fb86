-- A name in the letters that codes and event types have. Internal.
create or replace function iu_core.fn_sql_route_slug(p_name text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when slug ~ '^[a-z]' then slug else 't_' || slug end
    from (select left(regexp_replace(lower(p_name), '[^a-z0-9_]+', '_', 'g'), 50)) s (slug)
$$;
