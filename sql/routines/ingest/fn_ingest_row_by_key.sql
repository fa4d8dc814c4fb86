-- A row that is named by its key, as the ledger may know it: by the id that it has in its table, where a dataset gives it
-- one, or by the key itself, in the types of its columns. All of the key has to be there: less would be a search through
-- the table, and would find others' rows. Internal.
create or replace function iu_core.fn_ingest_row_by_key(
  p_workspace_id uuid, p_target text, p_key jsonb, out id uuid, out key jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_target constant regclass := to_regclass(p_target);
  v_spec record;
  v_given jsonb;
  v_known text;
  v_found boolean := false;
begin
  for v_spec in
    select distinct spec ->> 'id' as id_column, spec -> 'key' as columns,
           (select coalesce(jsonb_object_agg(k, p_workspace_id), '{}') from jsonb_array_elements_text(spec -> 'key') k
             where spec -> 'columns' ->> k = '$workspace') as own
      from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
     where to_regclass(spec ->> 'target') = v_target
  loop
    v_given := v_spec.own || p_key;
    v_known := (select string_agg(k, ', ') from jsonb_array_elements_text(v_spec.columns) k);
    continue when not v_spec.columns @> (select jsonb_agg(k) from jsonb_object_keys(v_given) k)
      or not v_given ?& array(select jsonb_array_elements_text(v_spec.columns));
    v_found := true;
    begin
      execute format('select jsonb_build_object(%s) from jsonb_populate_record(null::%s, $1) as b',
                     (select string_agg(format('%1$L, b.%1$I', k), ', ') from jsonb_array_elements_text(v_spec.columns) k), iu_core.fn_ingest_table_sql(v_target))
        into key using v_given;
      if v_spec.id_column is not null then
        execute format('select t.%I from %s t, jsonb_populate_record(null::%2$s, $1) as b where %3$s limit 1', v_spec.id_column, iu_core.fn_ingest_table_sql(v_target),
                       (select string_agg(format(case when v_given -> k = 'null' then 't.%1$I is null' else 't.%1$I = b.%1$I' end, k), ' and ')
                          from jsonb_array_elements_text(v_spec.columns) k))
          into id using v_given;
      end if;
    exception when data_exception then
      raise exception using errcode = 'SD001', message = format('The key does not fit the columns of %s: %s', p_target, sqlerrm);
    end;
  end loop;
  if not v_found then
    raise exception using errcode = 'SD001',
      message = case when v_known is null then format('No dataset writes %s', p_target)
                     else format('A row of %s is known by %s, all of them', p_target, v_known) end;
  end if;
end $$;
