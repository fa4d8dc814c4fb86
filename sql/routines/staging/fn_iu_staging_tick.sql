-- Ticks an item of a pending record's checklist, or takes the tick away.
create or replace function iu_core.fn_iu_staging_tick(
  p_staging_record_id uuid,
  p_item_id text,
  p_ticked boolean default true,
  p_note text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  if p_ticked is null then
    raise exception using errcode = 'SD001', message = 'An item is ticked (true) or not (false), not NULL';
  end if;
  perform iu_core.fn_iu_staging_tick_as(p_staging_record_id, p_item_id, p_ticked, iu_core.fn_actor(), p_note);
end $$;

grant execute on function iu_core.fn_iu_staging_tick(uuid, text, boolean, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;
