-- The condition that finds the target row `t` of what is planned, by its natural key, compared as the column will hold it
-- (a decimal rounded to its scale, a text that is a uuid there). What the file does not have is NULL in the table (a
-- campaign's metrics have no ad); what is empty in some lines (p_nullable) matches NULL, too, which costs the hash join, so
-- only there. Internal.
create or replace function iu_core.fn_ingest_key_match_sql(
  p_key text[], p_spec jsonb, p_written jsonb, p_layout jsonb, p_upload iu_core.ingest_upload, p_nullable text[]
) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(
           case when s.expression is null then format('t.%I is null', k.name)
                when s.source = any (p_nullable) then format('t.%I is not distinct from (%s)::%s', k.name, s.expression, s.type)
                else format('t.%I = (%s)::%s', k.name, s.expression, s.type) end, ' and ' order by k.position)
    from unnest(p_key) with ordinality as k (name, position),
         lateral (select p_spec -> 'columns' ->> k.name,
                         iu_core.fn_ingest_source_sql(p_spec -> 'columns' ->> k.name, p_layout, p_upload),
                         (select w.type from jsonb_to_recordset(p_written) as w ("column" text, type text)
                           where w."column" = k.name)) as s (source, expression, type)
$$;
