-- Why a column cannot hold a value, in the words of PostgreSQL; NULL: it can. A subtransaction for each value, so only
-- asked when a whole column was refused. Internal.
create or replace function iu_core.fn_ingest_misfit(p_value text, p_from text, p_to text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  execute format('select ($1::%s)::%s', p_from, p_to) using p_value;
  return null;
exception
  when data_exception or check_violation or not_null_violation then
    get stacked diagnostics v_reason = message_text;
    return v_reason;
end $$;
