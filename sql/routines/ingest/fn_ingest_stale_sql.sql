-- The planned rows `n` whose row `t` is not what they were planned on: changed, gone, or there by now though it was to be
-- inserted. p_columns: what to select of both. Internal.
create or replace function iu_core.fn_ingest_stale_sql(p_type record, p_row_match text, p_key_match text, p_columns text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format($sql$
    select %5$s from pg_temp.ingest_now n left join %1$s t on %2$s
     where n."#action" <> 'insert' and n."#hash" is distinct from %4$s
    union all
    select %5$s from pg_temp.ingest_now n join %1$s t on %3$s where n."#action" = 'insert'
  $sql$, iu_core.fn_ingest_table_sql(p_type.target), p_row_match, p_key_match,
     iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), p_columns);
end $$;
