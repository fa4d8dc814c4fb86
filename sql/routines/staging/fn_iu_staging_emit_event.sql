-- Tells of something that happened to a record: references only. The functions of the lifecycle write theirs themselves.
create or replace function iu_core.fn_iu_staging_emit_event(
  p_staging_record_id uuid,
  p_event_type text,
  p_actor text default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'read');
  if not iu_core.fn_gate_open('iu_core.staging_cleanup_enabled') then
    perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  end if;
  select * into v_actor from iu_core.fn_actor_for(p_actor);
  if not exists (select from iu_core.event_vocabulary where event_domain = 'staging' and event_type = p_event_type) then
    raise exception using
      errcode = 'SD301',
      message = format('staging.%s is not in the event vocabulary', p_event_type),
      detail = json_build_object('event', concat_ws('.', 'staging', p_event_type))::text;
  end if;
  -- Locked, so that of two who tell of the same transition the second sees the event of the first.
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id for update;
  if not found then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'told of');
  end if;
  -- A transition has one event, and its own function writes it: nobody tells of one that was not.
  if p_event_type like 'record\_%' then
    if not (case p_event_type
             when 'record_created' then true
             when 'record_approved' then r.approved_at is not null
             when 'record_rejected' then r.rejected_at is not null
             when 'record_consumed' then r.consumed_at is not null
             when 'record_expired' then r.expired_at is not null
             when 'record_cleaned' then r.cleaned_at is not null
             else false end)
       or exists (select from iu_core.event_outbox e
                   where e.event_domain = 'staging' and e.event_type = p_event_type
                     and e.event_subject_ref = p_staging_record_id::text) then
      raise exception using errcode = 'SD001',
        message = format('staging.%s is not true of record %s, or was told already', p_event_type, p_staging_record_id);
    end if;
  end if;
  return iu_core.fn_iu_staging_emit(r, p_event_type, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_iu_staging_emit_event(uuid, text, text) to dot_executor, service_role, directus;
