-- Whether any key repeats among the lines in `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_plan_repeats(p_layout jsonb, p_leaf jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_found boolean;
begin
  select string_agg('l.' || iu_core.fn_ingest_line_column(p_layout, case when source = '$identity' then '$' || (p_leaf ->> 'name') else source end), ', ')
    into v_key
    from jsonb_array_elements_text(p_leaf -> 'key') as k, lateral (select p_leaf -> 'columns' ->> k) as s (source)
   where p_layout -> 'fields' ? source or p_layout -> 'row_types' ? substr(source, 2) or source = '$identity';
  if v_key is null then
    return false;
  end if;
  execute format('select exists (select from pg_temp.ingest_line l group by %s having count(*) > 1)', v_key) into v_found;
  return v_found;
end $$;
