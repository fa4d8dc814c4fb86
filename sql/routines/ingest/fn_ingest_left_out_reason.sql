-- Why a line is left out: the rule that did it. Its other warnings do not. Internal.
create or replace function iu_core.fn_ingest_left_out_reason(p_warnings jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    jsonb_path_query_first(p_warnings, '$[*].rule ? (@ == "row.total" || @ == "row.subtotal" || @ == "row.sum" || @ == "key.repeated" || @ == "line.left_out")') #>> '{}',
    p_warnings -> 0 ->> 'rule', 'unknown')
$$;
