-- Somebody else than the registrant looked at the evidence of the dry run and agrees. p_evidence: how many of its lines
-- they saw, at least one: nobody reviews what they have not looked at. More than there are: they looked at another definition, whose evidence has gone with it.
create or replace function iu_core.fn_consumer_review(p_consumer_id text, p_evidence integer, p_actor text default null)
returns iu_core.consumer_registry
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.consumer_registry;
  v_actor record;
  v_evidence bigint;
begin
  perform iu_core.require_member(iu_core.fn_consumer_workspace(p_consumer_id), 'review');
  if p_evidence is null or p_evidence < 1 then
    raise exception using errcode = 'SD001', message = 'p_evidence is how many lines of evidence you saw, one or more';
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  -- Under its lock: a change of the definition that comes first, comes first.
  select * into c from iu_core.consumer_registry where consumer_id = p_consumer_id for no key update;
  if v_actor.actor = c.registered_by or v_actor.via = c.registered_by or v_actor.actor = c.registered_via then
    raise exception using
      errcode = 'SD324',
      message = format('%s registered the consumer %s, so somebody else has to review it', c.registered_by, p_consumer_id),
      detail = json_build_object('consumer', p_consumer_id, 'actor', c.registered_by)::text;
  end if;
  select count(*) into v_evidence from iu_core.event_dispatch_log
   where consumer_id = p_consumer_id and outcome = 'dry_run' and dispatched_at >= c.registered_at;
  if not (c.enabled and c.dry_run) or p_evidence > v_evidence then
    raise exception using
      errcode = 'SD323',
      message = case when c.enabled and c.dry_run
                     then format('The consumer %s has %s of the %s lines of evidence that you saw', p_consumer_id, v_evidence, p_evidence)
                     else format('The consumer %s is %s: only one in a dry run is reviewed', p_consumer_id, iu_core.fn_consumer_state(c)) end,
      detail = json_build_object('consumer', p_consumer_id, 'state', iu_core.fn_consumer_state(c),
                                 'evidence', v_evidence, 'seen', p_evidence)::text;
  end if;
  update iu_core.consumer_registry
     set reviewed_by = v_actor.actor, reviewed_via = v_actor.via, reviewed_at = clock_timestamp()
   where consumer_id = p_consumer_id;
  return iu_core.fn_consumer_require(p_consumer_id);
end $$;

grant execute on function iu_core.fn_consumer_review(text, integer, text) to stagedoor_reviewer, service_role;
