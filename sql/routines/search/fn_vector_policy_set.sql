-- How long search waits for quiet after an edit (120 to 180 seconds) and before it takes out what was deleted (30 to 60); NULL leaves one as
-- it is. It holds for what is enqueued from now on. For back-end code. Returns whether it changed anything.
create or replace function iu_core.fn_vector_policy_set(
  p_quiet_window interval default null,
  p_delete_delay interval default null,
  p_reason text default null
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed boolean;
begin
  perform iu_core.require_member(null, 'administer');
  if p_quiet_window not between '120 seconds' and '180 seconds' then
    raise exception using errcode = 'SD001', message = 'The quiet window has 120 to 180 seconds';
  end if;
  if p_delete_delay not between '30 seconds' and '60 seconds' then
    raise exception using errcode = 'SD001', message = 'What was deleted is taken out after 30 to 60 seconds';
  end if;
  perform set_config('stagedoor.policy_reason', coalesce(p_reason, ''), true);
  update iu_core.vector_policy w
     set quiet_window = coalesce(p_quiet_window, w.quiet_window), delete_delay = coalesce(p_delete_delay, w.delete_delay)
   where (w.quiet_window, w.delete_delay) is distinct from (coalesce(p_quiet_window, w.quiet_window), coalesce(p_delete_delay, w.delete_delay));
  v_changed := found;
  perform set_config('stagedoor.policy_reason', '', true);
  return v_changed;
end $$;

grant execute on function iu_core.fn_vector_policy_set(interval, interval, text) to dot_executor, service_role;
