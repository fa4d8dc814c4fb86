-- A trigger of one table may have changed rows of another that were written before (a parent's counter): what we left
-- behind is what stands there at the end. Tables without triggers have nothing to say. Internal.
create or replace function iu_core.fn_ingest_after_triggers(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings jsonb;
  v_match text;
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
begin
  if not exists (
       select from iu_core.ingest_promotion p, jsonb_array_elements(p.definition -> 'rows') spec, pg_trigger g
        where p.upload_id = p_upload_id and g.tgrelid = to_regclass(spec ->> 'target') and not g.tgisinternal) then
    return;
  end if;
  v_settings := iu_core.fn_ingest_write_as_always();
  v_match := case when p_type.id_column is not null then format('t.%I = l.target_id', p_type.id_column)
    else (select string_agg(format('t.%1$I is not distinct from (jsonb_populate_record(null::%2$s, l.target_key)).%1$I', k, v_target), ' and ')
            from unnest(p_type.key_columns) k) end;
  execute format($sql$
    update iu_core.ingest_ledger l set after_hash = h.hash
      from %1$s t, lateral (select %3$s as hash) h
     where l.upload_id = $1 and l.type_order = $2 and %2$s and l.after_hash <> h.hash
  $sql$, v_target, v_match, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*')) using p_upload_id, p_type.type_order;
  perform iu_core.fn_ingest_write_as_always(v_settings);
end $$;
