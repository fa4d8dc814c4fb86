-- What an undo would do with every row of a promotion, into the temporary table `ingest_undo`: reversed, kept (it is not
-- as we left it) or refused (something else depends on it). With p_lock the rows are locked first, so that what is decided
-- still holds when it is done. Internal.
create or replace function iu_core.fn_ingest_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
  v_refused bigint;
begin
  drop table if exists pg_temp.ingest_undo;
  create temporary table ingest_undo (
    type_order smallint, row_type text, row_number integer, action text, target regclass, target_key jsonb, before jsonb,
    row_table oid, row_tid tid, outcome text, reason text) on commit drop;
  for v_type in select * from iu_core.fn_ingest_undo_types(p_promotion) loop
    perform iu_core.fn_ingest_undo_decide_type(p_promotion.upload_id, v_type, p_lock);
  end loop;
  analyze pg_temp.ingest_undo;
  -- What stays holds what it refers to: children before their parents, and again while a row that was to go has to stay,
  -- because rows of one table may refer to each other, and tables in a circle.
  loop
    v_refused := 0;
    for v_type in select * from iu_core.fn_ingest_undo_types(p_promotion) where target is not null loop
      v_refused := v_refused + iu_core.fn_ingest_undo_dependents(v_type);
    end loop;
    exit when v_refused = 0;
  end loop;
end $$;
