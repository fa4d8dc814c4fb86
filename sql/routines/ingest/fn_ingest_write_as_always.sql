-- How a row reads as text depends on the session: time zone, date style, digits. What is hashed in one session and
-- compared in another must read the same, so these are set while images are taken, and set back before anything is
-- written, because triggers and defaults of the tables may look at them. Until the end of the calling function's
-- transaction at the latest. Internal.
create or replace function iu_core.fn_ingest_write_as_always(p_back_to jsonb default null) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb;
begin
  select jsonb_object_agg(name, current_setting(name)) into v_before
    from unnest(array['timezone', 'datestyle', 'intervalstyle', 'extra_float_digits', 'bytea_output']) as name;
  perform set_config(key, value, true)
    from jsonb_each_text(coalesce(p_back_to,
      '{"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "postgres", "extra_float_digits": "1", "bytea_output": "hex"}'));
  return v_before;
end $$;
