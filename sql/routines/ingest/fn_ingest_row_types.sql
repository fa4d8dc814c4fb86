-- The row types of a file in dependency order, each with what the SQL of plan, promotion and undo is made of. Only
-- columns whose source is in the file are written: a column that the export does not have stays as it is. Internal.
create or replace function iu_core.fn_ingest_row_types(p_definition jsonb, p_layout jsonb)
returns table (
  type_order smallint,
  row_type text,
  is_leaf boolean,
  -- It has an identity of its own: lines share it, or (as the leaf) it may be known by its name.
  is_entity boolean,
  spec jsonb,
  target regclass,
  target_name text,
  id_column text,
  key_columns text[],
  -- In the table's own order, with their types: {"column", "slot", "source", "type", "max_length"}. Slot (c1, c2, …) is its
  -- column in temporary tables, where its own name could meet one of ours. Texts without their length:
  -- a cast would cut them without a word, so what is too long is found by the rule of its own.
  written jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.ordinality::smallint, t.spec ->> 'name', t.spec ->> 'name' = p_layout ->> 'leaf', t.spec ? 'identity', t.spec,
         to_regclass(t.spec ->> 'target'), t.spec ->> 'target', t.spec ->> 'id',
         array(select jsonb_array_elements_text(t.spec -> 'key')),
         (select jsonb_agg(jsonb_build_object('column', a.attname, 'slot', 'c' || a.attnum, 'source', c.value,
                                              'type', iu_core.fn_ingest_column_type(a),
                                              'max_length', case when a.atttypid in ('varchar'::regtype, 'bpchar'::regtype)
                                                                  and a.atttypmod > 4 then a.atttypmod - 4 end) order by a.attnum)
            from jsonb_each_text(t.spec -> 'columns') c
            join pg_attribute a on a.attrelid = to_regclass(t.spec ->> 'target') and a.attname = c.key
                               and not a.attisdropped
           where p_layout -> 'fields' ? c.value
              or c.value in ('$client', '$workspace', '$platform', '$identity')
              or p_layout -> 'row_types' ? substr(c.value, 2))
    from jsonb_array_elements(p_definition -> 'rows') with ordinality as t (spec, ordinality)
   where p_layout -> 'row_types' ? (t.spec ->> 'name')
   order by t.ordinality;
end $$;
