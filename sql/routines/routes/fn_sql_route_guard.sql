-- A review is of one definition. Whatever changes in it, whoever changes it and however: the review is gone and nothing is
-- sent. Evidence and triggers of the old definition count no more, by the revision.
create or replace function iu_core.fn_sql_route_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.route_code, new.source_object_kind, new.source_schema, new.source_table, new.sql_event, new.target_event_domain,
      new.target_event_type, new.target_event_stream, new.fail_closed, new.idempotency_policy, new.payload_contract,
      new.workspace_id, new.workspace_column, new.registered_by, new.registered_via)
     is not distinct from
     (old.route_code, old.source_object_kind, old.source_schema, old.source_table, old.sql_event, old.target_event_domain,
      old.target_event_type, old.target_event_stream, old.fail_closed, old.idempotency_policy, old.payload_contract,
      old.workspace_id, old.workspace_column, old.registered_by, old.registered_via) then
    new.revision := old.revision;
    return new;
  end if;
  new.revision := old.revision + 1;
  new.enabled := false;
  new.dry_run := true;
  new.reviewed_by := null;
  new.reviewed_via := null;
  new.reviewed_at := null;
  new.evidence_seen := null;
  new.activated_by := null;
  new.activated_at := null;
  new.disabled_reason := case when old.enabled then 'its definition was changed' end;
  return new;
end $$;

create or replace trigger iu_sql_event_route_review_is_of_one_definition
  before update on iu_core.iu_sql_event_route
  for each row execute function iu_core.fn_sql_route_guard();
