-- The key column that holds the outermost parent of a row type, where nothing else in the key says whose row it is. Internal.
create or replace function iu_core.fn_ingest_key_parent(p_definition jsonb, p_spec jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select k
    from jsonb_array_elements(p_definition -> 'rows') with ordinality as p (spec, place),
         jsonb_array_elements_text(p_spec -> 'key') k
   where p_spec -> 'columns' ->> k = '$' || (p.spec ->> 'name') and p.spec ->> 'name' <> p_spec ->> 'name' and p.spec ? 'identity'
     and not exists (select from jsonb_array_elements_text(p_spec -> 'key') o
                      where p_spec -> 'columns' ->> o in ('$client', '$workspace'))
   order by p.place limit 1
$$;
