-- What an undo would do with every row of a promotion, into the temporary table `ingest_undo`: reversed, kept (it is not
-- as we left it) or refused (something else depends on it). Children are decided before their parents. With p_lock the
-- rows are locked first, so that what is decided still holds when it is done. Internal.
create or replace function iu_core.fn_ingest_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
begin
  drop table if exists pg_temp.ingest_undo;
  create temporary table ingest_undo (
    type_order smallint, row_type text, row_number integer, action text, target regclass, target_key jsonb, before jsonb,
    row_table oid, row_tid tid, outcome text, reason text) on commit drop;
  for v_type in
    select t.ordinality::smallint as type_order, t.spec, t.spec ->> 'name' as row_type, t.spec ->> 'target' as target_name,
           to_regclass(t.spec ->> 'target') as target, t.spec ->> 'id' as id_column
      from jsonb_array_elements(p_promotion.definition -> 'rows') with ordinality as t (spec, ordinality)
     where exists (select from iu_core.ingest_ledger l
                    where l.upload_id = p_promotion.upload_id and l.type_order = t.ordinality)
     order by t.ordinality desc
  loop
    perform iu_core.fn_ingest_undo_decide_type(p_promotion.upload_id, v_type, p_lock);
  end loop;
end $$;
