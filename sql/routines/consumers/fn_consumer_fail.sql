-- Events that a consumer cannot take. fail_closed: dead letters, and an issue for people to look at; otherwise the log
-- says it and that is all. A chain of causes that is too deep is always an issue. Where somebody is just resolving that
-- issue in an open transaction, the events are deferred: waiting would hold up everybody, and not to count them would
-- lose them behind a resolution that never knew of them. Internal.
create or replace function iu_core.fn_consumer_fail(c iu_core.consumer_registry, p_event_ids uuid[], p_detail jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  v_too_deep boolean := p_detail ->> 'problem' = 'too_deep';
begin
  perform iu_core.fn_consumer_log(
    c.consumer_id, p_event_ids,
    case when v_too_deep then 'too_deep' when c.fail_closed then 'dead_letter' else 'failed' end, p_detail);
  if v_too_deep or c.fail_closed then
    perform iu_core.fn_system_issue_open(
      case when v_too_deep then 'consumer_too_deep' else 'consumer_failed' end,
      'error',
      'consumer:' || c.consumer_id,
      format(case when v_too_deep then 'Events reach %s through more than %s causes: does it feed itself?'
                  else '%s cannot take some of its events' end, c.consumer_id, c.max_depth),
      p_detail || jsonb_build_object('consumer_id', c.consumer_id, 'event_id', p_event_ids[1]),
      c.workspace_id,
      cardinality(p_event_ids));
  end if;
exception when lock_not_available then
  perform iu_core.fn_consumer_log(c.consumer_id, p_event_ids, 'deferred', p_detail);
end $$;
