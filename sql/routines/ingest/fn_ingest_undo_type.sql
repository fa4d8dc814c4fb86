-- Restores what was updated and deletes what was inserted, for one row type, as decided. A trigger of the table that leaves
-- a row out, or another row that came to depend on one, ends the whole undo. Internal.
create or replace function iu_core.fn_ingest_undo_type(p_type_order smallint, p_target regclass) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_sets text;
  v_decided bigint;
  v_deleted bigint;
  v_restored bigint;
begin
  select string_agg(format('%1$I = b.%1$I', attname), ', ') into v_sets
    from pg_attribute
   where attrelid = p_target and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a';
  select count(*) into v_decided from pg_temp.ingest_undo where type_order = p_type_order and outcome = 'reversed';
  execute format($sql$
    delete from %s t using pg_temp.ingest_undo u
     where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'insert'
       and t.tableoid = u.row_table and t.ctid = u.row_tid
  $sql$, p_target) using p_type_order;
  get diagnostics v_deleted = row_count;
  execute format($sql$
    update %1$s t set %2$s
      from pg_temp.ingest_undo u, jsonb_populate_record(null::%1$s, u.before) as b
     where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'update'
       and t.tableoid = u.row_table and t.ctid = u.row_tid
  $sql$, p_target, v_sets) using p_type_order;
  get diagnostics v_restored = row_count;
  if v_deleted + v_restored <> v_decided then
    raise exception using
      errcode = 'SD611',
      message = format('A trigger of %s left rows out of the undo', p_target),
      detail = json_build_object('target', p_target::text, 'line', null, 'reason', 'a trigger left rows out')::text;
  end if;
end $$;
