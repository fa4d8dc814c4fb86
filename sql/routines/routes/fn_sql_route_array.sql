-- The values of these columns as one JSON array, as an expression; NULL without columns. Internal.
create or replace function iu_core.fn_sql_route_array(p_relation regclass, p_alias text, p_columns text[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('jsonb_build_array(%s)', string_agg(c.expression, ', ' order by position))
    from unnest(p_columns) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, p_alias, name) c
  having count(*) > 0
$$;
