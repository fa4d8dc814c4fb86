-- Totals, a sample of what stays, and the digest of the decisions in `ingest_undo`. Internal.
create or replace function iu_core.fn_ingest_undo_summary(p_upload_id uuid, out totals jsonb, out stays jsonb, out digest text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  select coalesce(jsonb_object_agg(t.row_type, t.outcomes), '{}') into totals
    from (select row_type, jsonb_object_agg(outcome, rows) as outcomes
            from (select row_type, outcome, count(*) as rows from pg_temp.ingest_undo group by 1, 2) c group by 1) t;
  select coalesce(jsonb_agg(jsonb_build_object('row_type', s.row_type, 'line', s.row_number, 'target', s.target::text,
           'target_key', s.target_key, 'outcome', s.outcome, 'reason', s.reason) order by s.type_order, s.row_number), '[]')
    into stays
    from (select * from pg_temp.ingest_undo where outcome <> 'reversed' order by type_order, row_number limit 200) s;
  select encode(sha256(convert_to(p_upload_id::text || coalesce(
           string_agg(concat_ws(':', type_order, row_number, outcome), ',' order by type_order, row_number), ''), 'UTF8')), 'hex')
    into digest from pg_temp.ingest_undo;
end $$;
