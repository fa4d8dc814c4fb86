-- What an undo would do now: how many rows of each type are reversed, kept or refused, a sample of those that stay, and a
-- digest of all decisions. Changes nothing.
create or replace function iu_core.fn_ingest_undo_plan(
  p_upload_id uuid, out totals jsonb, out stays jsonb, out digest text, out undo_until timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; nobody needs to hear that they do not.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
  v_promotion iu_core.ingest_promotion;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  v_promotion := iu_core.fn_ingest_undoable(p_upload_id);
  perform iu_core.fn_ingest_undo_decide(v_promotion, false);
  select * into totals, stays, digest from iu_core.fn_ingest_undo_summary(p_upload_id);
  undo_until := v_promotion.undo_until;
end $$;

grant execute on function iu_core.fn_ingest_undo_plan(uuid) to service_role, dot_executor, authenticated, stagedoor_reviewer;
