-- One row type of a plan into its table: rows to be updated are locked in the order of their keys, everything that was
-- planned is compared with what is there, then it is written, with both images in the ledger. Returns how many rows it
-- wrote. Internal.
--
-- The rows are taken into a typed temporary table first. The plan's own table has no useful statistics for an upload that
-- was planned a moment ago, and with those the planner joins in nested loops (measured: 10,000 rows took minutes).
create or replace function iu_core.fn_ingest_promote_type(p_upload_id uuid, p_type record, p_gate_mode text) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_unpacked record;
  v_columns text;
  v_sets text;
  v_match text;
  v_key_match text;
  v_key record;
  v_nulls text[];
  v_own_match text;
  v_inserts bigint;
  v_updates bigint;
  v_unchanged bigint;
  v_stale bigint;
  v_known bigint;
  v_hash text := iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*');
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_slots text;
  v_settings jsonb := iu_core.fn_ingest_write_as_always();
begin
  select string_agg(quote_ident(w."column"), ', '), string_agg('n.' || w.slot, ', '), string_agg(format('%I = n.%I', w."column", w.slot), ', ')
    into v_columns, v_slots, v_sets
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text);
  v_unpacked := iu_core.fn_ingest_unpack_sql('coalesce(p.after, p.target_key)', p_type.written, 'p.inserted',
    (select inserted_columns -> p_type.row_type from iu_core.ingest_plan where upload_id = p_upload_id));
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select p.row_number as "#row", p.staging_row_id as "#staged", p.action as "#action", p.target_id as "#id",
           p.before as "#before", p.before_hash as "#hash", %s
      from iu_core.ingest_plan_row p%s
     where p.upload_id = %L and p.type_order = %s and p.action in ('insert', 'update', 'unchanged')
  $sql$, v_unpacked.selected, v_unpacked.joined, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;
  -- Equality can be hashed; where a key column is NULL in some row it cannot. Of what is not inserted only the id is known,
  -- where there is one.
  execute format($sql$
    select count(*) filter (where "#action" = 'insert'), count(*) filter (where "#action" = 'update'),
           count(*) filter (where "#action" = 'unchanged'), array_remove(array[%1$s]::text[], null)
      from pg_temp.ingest_now
  $sql$, (select string_agg(format('case when bool_or(%I is null and ("#action" = ''insert'' or %L)) then %L end',
                                   w.slot, p_type.id_column is null, w."column"), ', ')
            from jsonb_to_recordset(p_type.written) as w ("column" text, slot text)
           where w."column" = any (p_type.key_columns) and not iu_core.fn_ingest_column_not_null(p_type.target, w."column")))
    into v_inserts, v_updates, v_unchanged, v_nulls;
  if v_inserts + v_updates + v_unchanged = 0 then
    perform iu_core.fn_ingest_write_as_always(v_settings);
    return 0;
  end if;
  for v_key in
    select k as name, w.slot
      from unnest(p_type.key_columns) as k
      left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = k
  loop
    v_key_match := concat_ws(' and ', v_key_match, format(
      case when v_key.slot is null then 't.%1$I is null' when v_key.name = any (v_nulls) then 't.%1$I is not distinct from n.%2$I'
           else 't.%1$I = n.%2$I' end, v_key.name, v_key.slot));
  end loop;
  select string_agg(format('o.%1$I is not distinct from n.%1$I', w.slot), ' and ') into v_own_match
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text) where w."column" = any (p_type.key_columns);
  v_match := case when p_type.id_column is null then v_key_match else format('t.%I = n."#id"', p_type.id_column) end;

  if v_updates > 0 then
    execute format($sql$
      select count(*) from (select from pg_temp.ingest_now n join %1$s t on %2$s
                             where n."#action" = 'update' order by %3$s for no key update of t) locked
    $sql$, v_target, v_match, (select string_agg(format('t.%I', k), ', ') from unnest(p_type.key_columns) k));
  end if;
  -- A statement of its own: it sees what was committed while we waited for the locks.
  execute format($sql$
    select (select count(*) from pg_temp.ingest_now n left join %1$s t on %2$s
             where n."#action" <> 'insert' and n."#hash" is distinct from %4$s)
         + (select count(*) from pg_temp.ingest_now n join %1$s t on %3$s where n."#action" = 'insert')
  $sql$, v_target, v_match, v_key_match, v_hash) into v_stale;
  if v_stale > 0 then
    perform iu_core.fn_ingest_refuse_stale(p_upload_id, v_stale, p_type.target_name);
  end if;

  perform iu_core.fn_ingest_write_as_always(v_settings);
  perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'insert', format($sql$
    insert into %1$s (%2$s) select %3$s from pg_temp.ingest_now n
     where n."#action" = 'insert' and n."#row" between $1 and $2
  $sql$, v_target,
     v_columns || case when p_type.id_column is null then '' else format(', %I', p_type.id_column) end,
     v_slots || case when p_type.id_column is null then '' else ', n."#id"' end),
    -- Somebody else's row with the same key, committed while we waited for it: not one of our own earlier lines.
    format($sql$
      select count(*) from pg_temp.ingest_now n join %1$s t on %2$s
       where n."#action" = 'insert' and n."#row" between $1 and $2
         and not exists (select from pg_temp.ingest_now o where o."#action" = 'insert' and o."#row" < $1 and %3$s)
    $sql$, v_target, v_key_match, v_own_match));
  if v_updates > 0 then
    perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'update', format($sql$
      update %1$s t set %2$s from pg_temp.ingest_now n
       where n."#action" = 'update' and n."#row" between $1 and $2 and %3$s
    $sql$, v_target, v_sets, v_match));
  end if;

  -- Read back: defaults and triggers had their say.
  perform iu_core.fn_ingest_write_as_always();
  execute format($sql$
    insert into iu_core.ingest_ledger (
      upload_id, type_order, row_type, row_number, target, target_id, target_key, action, before, after_hash)
    select %1$L, %2$s, %3$L, n."#row", %4$L, n."#id",
           %7$s, n."#action", n."#before",
           %8$s
      from pg_temp.ingest_now n join %5$s t on %6$s where n."#action" in ('insert', 'update')
  $sql$, p_upload_id, p_type.type_order, p_type.row_type, p_type.target_name, v_target, v_match,
    case when p_type.id_column is not null then 'null'
         else format('jsonb_build_object(%s)', (select string_agg(format('%1$L, t.%1$I', k), ', ') from unnest(p_type.key_columns) k)) end, v_hash);
  get diagnostics v_known = row_count;
  -- What is not found again would have no lineage, and no undo. (LENIENT may have left rows out.)
  if v_known <> v_inserts + v_updates
     and (p_gate_mode = 'STRICT' or v_known <> (select count(*) from pg_temp.ingest_now where "#action" in ('insert', 'update'))) then
    raise exception using
      errcode = 'SD611',
      message = format('A trigger of %s changed the key of a row, so that it cannot be found again', p_type.target_name),
      detail = json_build_object('target', p_type.target_name, 'line', null, 'reason', 'a trigger changed the key of a row')::text;
  end if;
  perform iu_core.fn_ingest_write_as_always(v_settings);
  perform iu_core.fn_ingest_mark(p_upload_id, p_type.row_type, p_type.id_column is not null and v_updates + v_unchanged = 0
    and (select case when p_type.is_leaf then u.valid_count = v_known
                     else p.totals -> p_type.row_type = jsonb_build_object('insert', v_known) end
           from iu_core.ingest_upload u join iu_core.ingest_plan p using (upload_id) where upload_id = p_upload_id));
  return v_known;
end $$;
