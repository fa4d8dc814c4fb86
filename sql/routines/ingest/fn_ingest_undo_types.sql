-- The row types that a promotion wrote, children first, as they were declared then. Internal.
create or replace function iu_core.fn_ingest_undo_types(p_promotion iu_core.ingest_promotion)
returns table (
  type_order smallint, row_type text, spec jsonb, target regclass, id_column text,
  -- Those that the table had when it was promoted; NULL: not known.
  columns text[]
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select t.ordinality::smallint, t.spec ->> 'name', t.spec, to_regclass(t.spec ->> 'target'), t.spec ->> 'id',
         (select array_agg(c) from jsonb_array_elements_text(p_promotion.definition -> 'columns' -> (t.spec ->> 'target')) c)
    from jsonb_array_elements(p_promotion.definition -> 'rows') with ordinality as t (spec, ordinality)
   where exists (select from iu_core.ingest_ledger l
                  where l.upload_id = p_promotion.upload_id and l.type_order = t.ordinality)
   order by t.ordinality desc
$$;
