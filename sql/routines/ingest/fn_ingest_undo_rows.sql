-- The ledger's rows of one row type as a typed temporary table `ingest_now`, as in promotion: the planner must know how
-- many there are. Returns the condition that finds the row `t` of a ledger row `n`; NULL: the table has no longer what it
-- was known by. Internal.
create or replace function iu_core.fn_ingest_undo_rows(p_upload_id uuid, p_type record) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text[] := case when p_type.id_column is null then array(select jsonb_array_elements_text(p_type.spec -> 'key'))
                       else array[p_type.id_column] end;
  v_record text;
  v_slots text;
  v_match text;
  v_found bigint;
begin
  -- In `ingest_now` key columns are c1, c2, …: their own names could meet those of ours.
  select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '),
         string_agg(format('x.%I as c%s', a.attname, a.attnum), ', '),
         string_agg(format(case when a.attnotnull then 't.%I = n.c%s' else 't.%I is not distinct from n.c%s' end, a.attname, a.attnum), ' and '),
         count(*)
    into v_record, v_slots, v_match, v_found
    from unnest(v_key) k
    join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped;
  if v_found < cardinality(v_key)
     or exists (select from unnest(p_type.columns) c
                 where not exists (select from pg_attribute a
                                    where a.attrelid = p_type.target and a.attname = c and not a.attisdropped)) then
    return null;
  end if;
  if p_type.id_column is not null then
    v_match := format('t.%I = n."#id"', p_type.id_column);
    v_record := 'none text';
    v_slots := 'x.none as "#none"';
  end if;
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select l.row_number as "#row", l.action as "#action", l.target_id as "#id", l.target_key as "#key", l.before as "#before",
           l.after_hash as "#after", %s
      from iu_core.ingest_ledger l, jsonb_to_record(coalesce(l.target_key, '{}')) as x (%s)
     where l.upload_id = %L and l.type_order = %s
  $sql$, v_slots, v_record, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;
  return v_match;
end $$;
