-- The statement that makes a table that a dataset names and the database does not have; NULL for one that is in no
-- schema of ours to guess. Internal.
create or replace function iu_core.fn_ingest_table_ddl(p_definition jsonb, p_table text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := (select string_agg(quote_ident(part), '.') from unnest(parse_ident(p_table)) part);
  v_client jsonb := p_definition -> 'client';
  v_spec jsonb;
begin
  if p_table = v_client ->> 'table' then
    return format('create table %s (%I uuid primary key default gen_random_uuid(), %I uuid not null, %I text not null);',
                  v_name, v_client ->> 'id', v_client ->> 'workspace', v_client ->> 'name');
  elsif p_table = p_definition ->> 'uploads' then
    return format('create table %s (%s);', v_name, (
      select string_agg(format('%I %s%s', column_name, type, case column_name when 'id' then ' primary key' else '' end), ', ')
        from iu_core.fn_ingest_uploads_columns()));
  end if;
  select spec into v_spec from jsonb_array_elements(p_definition -> 'rows') spec where spec ->> 'target' = p_table limit 1;
  return format('create table %s (%s, unique nulls not distinct (%s));', v_name,
    (select string_agg(definition, ', ') from (
       select format('%I uuid primary key default gen_random_uuid()', v_spec ->> 'id') as definition where v_spec ->> 'id' is not null
       union all
       -- What says whose row it is cannot be missing; other parts of the key may.
       select format('%I %s%s', c, iu_core.fn_ingest_source_type(p_definition, v_spec, c),
                     case when c = iu_core.fn_ingest_key_parent(p_definition, v_spec) then ' not null' else '' end)
         from jsonb_object_keys(v_spec -> 'columns') c where c is distinct from v_spec ->> 'id') d),
    (select string_agg(quote_ident(k), ', ') from jsonb_array_elements_text(v_spec -> 'key') k));
end $$;
