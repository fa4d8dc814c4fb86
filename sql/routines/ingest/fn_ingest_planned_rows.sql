-- The rows of a plan that belong in a table, as the typed temporary table `ingest_now`; how many there are of each action; and
-- the conditions that find the row `t` of a planned row `n` by what it is known by and by its key, and another planned row `o`
-- with the same key. Internal.
--
-- A table of their own, because the plan's has no useful statistics for an upload that was planned a moment ago, and with those
-- the planner joins in nested loops (measured: 10,000 rows took minutes).
create or replace function iu_core.fn_ingest_planned_rows(
  p_upload_id uuid, p_type record,
  out inserts bigint, out updates bigint, out unchanged bigint, out row_match text, out key_match text, out own_match text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unpacked record;
  v_key record;
  v_nulls text[];
begin
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
    into inserts, updates, unchanged, v_nulls;
  if inserts + updates + unchanged = 0 then
    return;
  end if;
  for v_key in
    select k as name, w.slot
      from unnest(p_type.key_columns) as k
      left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text) on w."column" = k
  loop
    key_match := concat_ws(' and ', key_match, format(
      case when v_key.slot is null then 't.%1$I is null' when v_key.name = any (v_nulls) then 't.%1$I is not distinct from n.%2$I'
           else 't.%1$I = n.%2$I' end, v_key.name, v_key.slot));
  end loop;
  select string_agg(format('o.%1$I is not distinct from n.%1$I', w.slot), ' and ') into own_match
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text) where w."column" = any (p_type.key_columns);
  row_match := case when p_type.id_column is null then key_match else format('t.%I = n."#id"', p_type.id_column) end;
end $$;
