-- pending → approved, for exactly the bytes that the reviewer saw: their digest is an argument.
create or replace function iu_core.fn_iu_staging_approve(
  p_staging_record_id uuid,
  p_digest text,
  p_approved_by text default null,
  p_approval_doc_id text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_actor record;
  v_open text;
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_approved_by);
  select * into r from iu_core.iu_staging_record
   where staging_record_id = p_staging_record_id and lifecycle_status = 'pending' and expires_at > clock_timestamp()
     for update;
  -- Asked again under the lock: it may have been a long wait.
  if not found or r.expires_at <= clock_timestamp() then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'approved');
  end if;
  if p_digest is distinct from r.content_hash then
    raise exception using
      errcode = 'SD504',
      message = format('The digest %s is not that of record %s, which is %s',
                       coalesce(p_digest, 'NULL'), p_staging_record_id, r.content_hash),
      detail = json_build_object('record', p_staging_record_id, 'seen', p_digest, 'actual', r.content_hash)::text;
  end if;
  perform iu_core.fn_iu_staging_verify(p_staging_record_id);
  perform iu_core.fn_iu_staging_four_eyes(r, v_actor.actor, v_actor.via);
  if r.checklist_required then
    select string_agg(c.item_id, ', ') into v_open
      from iu_core.fn_iu_staging_checklist(p_staging_record_id) c
     where c.required and (c.ticked_at is null or (r.four_eyes and lower(c.ticked_by) in (lower(r.owner_actor), lower(r.owner_via))));
    if v_open is not null then
      raise exception using
        errcode = 'SD509',
        message = format('The checklist of record %s has open items: %s', p_staging_record_id, v_open),
        detail = json_build_object('record', p_staging_record_id, 'items', v_open)::text;
    end if;
  end if;
  update iu_core.iu_staging_record
     set lifecycle_status = 'approved', approved_at = clock_timestamp(), approved_by = v_actor.actor,
         approved_via = v_actor.via, approval_doc_id = p_approval_doc_id
   where staging_record_id = p_staging_record_id
  returning * into r;
  perform iu_core.fn_iu_staging_emit(r, 'record_approved', v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_iu_staging_approve(uuid, text, text, text) to
  dot_executor, service_role, directus, stagedoor_reviewer;
