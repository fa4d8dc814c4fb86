-- What holds for every change of a consumer, also one made by hand: templates compile, what it matches and makes can only
-- change together with a new review, nobody signs for another, and where it begins is where it is switched on.
create or replace function iu_core.fn_consumer_registry_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
  v_new boolean := tg_op = 'INSERT';
begin
  if v_new or row(new.idempotency_key_template, new.payload_ref_template)
              is distinct from row(old.idempotency_key_template, old.payload_ref_template) then
    perform iu_core.fn_consumer_template_sql(new.idempotency_key_template, true);
    if new.payload_ref_template is not null then
      perform iu_core.fn_consumer_template_sql(new.payload_ref_template, false);
    end if;
  end if;
  if v_new or row(new.consumer_id, new.event_domain, new.event_type, new.event_stream, new.workspace_id, new.job_kind,
                  new.executor, new.idempotency_key_template, new.payload_ref_template)
              is distinct from
              row(old.consumer_id, old.event_domain, old.event_type, old.event_stream, old.workspace_id, old.job_kind,
                  old.executor, old.idempotency_key_template, old.payload_ref_template) then
    if new.registered_via = v_actor then
      -- Only a service may: whoever else names another has it refused.
      perform iu_core.fn_actor_for(new.registered_by);
    else
      new.registered_by := v_actor;
      new.registered_via := null;
    end if;
    new.registered_at := clock_timestamp();
    new.enabled := false;
    new.dry_run := true;
    new.reviewed_by := null;
    new.reviewed_via := null;
    new.reviewed_at := null;
    if not v_new then
      perform iu_core.fn_consumer_give_up(old.consumer_id, 'the consumer was changed');
    end if;
  else
    new.registered_by := old.registered_by;
    new.registered_via := old.registered_via;
    new.registered_at := old.registered_at;
    if new.reviewed_by is not null and row(new.reviewed_by, new.reviewed_via) is distinct from row(old.reviewed_by, old.reviewed_via)
       and new.reviewed_via is distinct from (select a.via from iu_core.fn_actor_for(new.reviewed_by) a) then
      raise exception using
        errcode = 'SD203',
        message = format('%s cannot act as %L', v_actor, new.reviewed_by),
        detail = json_build_object('actor', v_actor, 'named', new.reviewed_by)::text;
    end if;
  end if;
  if not new.enabled then
    new.active_from := null;
    new.activated_at := null;
  elsif not old.enabled or old.dry_run <> new.dry_run then
    -- The dispatcher holds its reader's row while it works. Waiting for it here and changing it, so that a dispatcher
    -- under an older snapshot fails instead, nobody passes over an event that this snapshot calls ours.
    perform iu_core.fn_event_reader_register('consumers');
    update iu_core.event_reader set reader = reader where reader = 'consumers';
    new.active_from := iu_core.fn_event_reading_snapshot();
    new.activated_at := clock_timestamp();
  end if;
  return new;
end $$;

create or replace trigger consumer_registry_is_guarded
  before insert or update on iu_core.consumer_registry
  for each row execute function iu_core.fn_consumer_registry_guard();
