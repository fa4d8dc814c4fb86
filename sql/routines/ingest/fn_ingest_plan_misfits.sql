-- Takes the lines out of `ingest_line` that hold a value which its column cannot: they are planned as refused, with the
-- reason. Texts that are too long always, because a cast would cut them; everything else only with p_all, when casting a
-- column as a whole has failed. Internal.
create or replace function iu_core.fn_ingest_plan_misfits(p_upload iu_core.ingest_upload, p_definition jsonb, p_all boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_column record;
  v_reason text;
begin
  for v_column in
    select t.target_name, w.*, iu_core.fn_ingest_line_column(v_layout, w.source) as slot,
           iu_core.fn_ingest_field_type(p_definition -> 'fields' -> w.source) as from_type
      from iu_core.fn_ingest_row_types(p_definition, v_layout) t,
           jsonb_to_recordset(t.written) as w ("column" text, source text, type text, max_length integer)
     where v_layout -> 'fields' ? w.source and (p_all or w.max_length is not null)
  loop
    v_reason := format('case when char_length(rtrim(l.%1$I::text)) > %2$L then %3$L end', v_column.slot, v_column.max_length,
                       format('it is longer than the %s characters of the column', v_column.max_length));
    if p_all then
      v_reason := format('coalesce(%s, iu_core.fn_ingest_misfit(l.%I::text, %L, %L))',
                         v_reason, v_column.slot, v_column.from_type, v_column.type);
    end if;
    execute format($sql$
      with misfits as (
        delete from pg_temp.ingest_line l where %1$s is not null
        returning l.row_number, l.staging_row_id, %2$L || ' cannot hold ' || coalesce(left(l.%3$I::text, 100), 'NULL') || ': ' || %1$s as reason
      )
      insert into iu_core.ingest_plan_row (upload_id, type_order, row_type, row_number, staging_row_id, action, reason, row_hash)
      select $1, iu_core.fn_ingest_type_order($2, $3), $3, row_number, staging_row_id, 'refused', reason,
             sha256(convert_to(concat_ws('|', row_number, 'refused', reason), 'UTF8'))
        from misfits
    $sql$, v_reason, format('%s.%s', v_column.target_name, v_column."column"), v_column.slot)
      using p_upload.upload_id, p_definition, v_layout ->> 'leaf';
  end loop;
end $$;
