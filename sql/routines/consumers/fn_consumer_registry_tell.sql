-- Every change of a consumer is an event, also one made by hand. What belongs to one that is gone goes or ends.
create or replace function iu_core.fn_consumer_registry_tell() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry := coalesce(new, old);
begin
  if tg_op = 'UPDATE' and to_jsonb(new) - 'active_from' = to_jsonb(old) - 'active_from' then
    return null;
  end if;
  if tg_op = 'DELETE' then
    perform iu_core.fn_consumer_give_up(old.consumer_id, 'the consumer was removed');
    delete from iu_core.consumer_rate where consumer_id = old.consumer_id;
  end if;
  perform iu_core.fn_event_emit(
    'governance', 'consumer_changed',
    p_event_subject_ref => c.consumer_id,
    p_canonical_address => 'stagedoor://consumers/' || c.consumer_id,
    p_workspace_id => c.workspace_id,
    p_safe_payload => jsonb_build_object(
      'consumer_id', c.consumer_id,
      'state', case when tg_op = 'DELETE' then 'removed' else iu_core.fn_consumer_state(c) end));
  return null;
end $$;

create or replace trigger consumer_registry_tells
  after insert or update or delete on iu_core.consumer_registry
  for each row execute function iu_core.fn_consumer_registry_tell();
