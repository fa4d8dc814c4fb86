-- A review is of one definition, by somebody else than its registrant. Whatever changes in it, whoever changes it and however:
-- the review is gone and nothing is sent, and nobody signs for another. Evidence and triggers of the old definition count no
-- more, by the revision.
create or replace function iu_core.fn_sql_route_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
begin
  if tg_op = 'UPDATE'
     and (new.route_code, new.source_object_kind, new.source_schema, new.source_table, new.sql_event, new.target_event_domain,
          new.target_event_type, new.target_event_stream, new.fail_closed, new.idempotency_policy, new.payload_contract,
          new.workspace_id, new.workspace_column, new.registered_by, new.registered_via)
         is not distinct from
         (old.route_code, old.source_object_kind, old.source_schema, old.source_table, old.sql_event, old.target_event_domain,
          old.target_event_type, old.target_event_stream, old.fail_closed, old.idempotency_policy, old.payload_contract,
          old.workspace_id, old.workspace_column, old.registered_by, old.registered_via) then
    new.revision := old.revision;
    new.registered_at := old.registered_at;
    if new.reviewed_by is not null and row(new.reviewed_by, new.reviewed_via) is distinct from row(old.reviewed_by, old.reviewed_via)
       and new.reviewed_via is distinct from (select a.via from iu_core.fn_actor_for(new.reviewed_by) a) then
      raise exception using
        errcode = 'SD203',
        message = format('%s cannot act as %L', v_actor, new.reviewed_by),
        detail = json_build_object('actor', v_actor, 'named', new.reviewed_by)::text;
    end if;
    return new;
  end if;
  if new.registered_via = v_actor then
    -- Only a service may: whoever else names another has it refused.
    perform iu_core.fn_actor_for(new.registered_by);
  else
    new.registered_by := v_actor;
    new.registered_via := null;
  end if;
  new.registered_at := clock_timestamp();
  new.revision := case tg_op when 'UPDATE' then old.revision + 1 else 1 end;
  new.disabled_reason := case when tg_op = 'UPDATE' and old.enabled then 'its definition was changed' end;
  new.enabled := false;
  new.dry_run := true;
  new.reviewed_by := null;
  new.reviewed_via := null;
  new.reviewed_at := null;
  new.evidence_seen := null;
  new.activated_by := null;
  new.activated_at := null;
  return new;
end $$;

create or replace trigger iu_sql_event_route_review_is_of_one_definition
  before insert or update on iu_core.iu_sql_event_route
  for each row execute function iu_core.fn_sql_route_guard();
