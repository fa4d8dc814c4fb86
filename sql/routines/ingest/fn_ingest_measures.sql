-- The measures of an upload: numbers of its lines that may be summed, in the order of the declaration, with the column of
-- the table that takes them and that of `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_measures(p_definition jsonb, p_layout jsonb)
returns table (place integer, field text, title text, "column" text, is_money boolean, slot text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select row_number() over (order by o.ordinality, c.key)::integer, c.value,
         coalesce(d.field ->> 'title', replace(c.value, '_', ' ')), c.key, d.field ->> 'type' = 'money',
         iu_core.fn_ingest_line_column(p_layout, c.value)
    from jsonb_array_elements(p_definition -> 'rows') as leaf
    cross join jsonb_each_text(leaf -> 'columns') as c
    cross join lateral (select p_definition -> 'fields' -> c.value) as d (field)
    left join jsonb_array_elements_text(p_definition -> 'field_order') with ordinality as o on o.value = c.value
   where leaf ->> 'name' = p_layout ->> 'leaf' and p_layout -> 'fields' ? c.value and not leaf -> 'key' ? c.key
     and d.field ->> 'type' in ('integer', 'money', 'decimal')
     and coalesce((d.field ->> 'additive')::boolean, d.field ->> 'type' in ('integer', 'money'))
$$;
