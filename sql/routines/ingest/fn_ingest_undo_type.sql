-- Restores what was updated and deletes what was inserted, for one row type, as decided. A trigger of the table that leaves
-- a row out, or a constraint that no longer lets the old row back in, ends the whole undo. Internal.
create or replace function iu_core.fn_ingest_undo_type(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_sets text;
  v_match text;
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_decided bigint;
  v_deleted bigint;
  v_restored bigint;
  v_reason text := 'a trigger left rows out';
begin
  select count(*) into v_decided from pg_temp.ingest_undo where type_order = p_type.type_order and outcome = 'reversed';
  if v_decided = 0 then
    return;
  end if;
  -- Only what the image holds: a column that was added since keeps its value.
  select string_agg(format('%1$I = b.%1$I', attname), ', ') into v_sets
    from pg_attribute
   where attrelid = p_type.target and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a'
     and (p_type.columns is null or attname = any (p_type.columns));
  -- The triggers of what was deleted before may have moved these rows (a parent's counter).
  if exists (select from pg_temp.ingest_undo u join pg_trigger g on g.tgrelid = u.target and not g.tgisinternal) then
    v_match := iu_core.fn_ingest_undo_rows(p_upload_id, p_type);
    execute format($sql$
      update pg_temp.ingest_undo u set row_table = t.tableoid, row_tid = t.ctid
        from pg_temp.ingest_now n join %s t on %s
       where u.type_order = $1 and u.row_number = n."#row" and u.outcome = 'reversed'
    $sql$, v_target, v_match) using p_type.type_order;
  end if;
  begin
    execute format($sql$
      delete from %s t using pg_temp.ingest_undo u
       where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'insert'
         and t.tableoid = u.row_table and t.ctid = u.row_tid
    $sql$, v_target) using p_type.type_order;
    get diagnostics v_deleted = row_count;
    execute format($sql$
      update %1$s t set %2$s
        from pg_temp.ingest_undo u, jsonb_populate_record(null::%1$s, u.before) as b
       where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'update'
         and t.tableoid = u.row_table and t.ctid = u.row_tid
    $sql$, v_target, v_sets) using p_type.type_order;
    get diagnostics v_restored = row_count;
    if v_deleted + v_restored = v_decided then
      return;
    end if;
  exception when integrity_constraint_violation or data_exception or raise_exception then
    get stacked diagnostics v_reason = message_text;
  end;
  raise exception using
    errcode = 'SD611',
    message = format('The table %s refuses the undo: %s', p_type.target, v_reason),
    detail = json_build_object('target', p_type.target::text, 'line', null, 'reason', v_reason)::text;
end $$;
