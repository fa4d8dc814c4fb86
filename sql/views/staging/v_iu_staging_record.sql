-- Records with the parts that are still there, their age and the days left.
create or replace view iu_core.v_iu_staging_record with (security_invoker = true) as
select r.staging_record_id, r.workspace_id, r.staging_kind, r.payload_type, r.purpose, r.lifecycle_status,
       r.owner_actor, r.owner_via, r.source_kind, r.source_ref, r.idempotency_key, r.content_hash,
       r.byte_len, r.part_count, r.part_digests, r.metadata, r.referenced_iu_ids, r.approval_required,
       r.four_eyes, r.checklist_required, r.created_at, r.expires_at, r.approved_at, r.approved_by,
       r.approved_via, r.approval_doc_id, r.rejected_at, r.rejected_by, r.rejected_reason, r.consumed_at,
       r.consumed_by_run_id, r.expired_at, r.retain_until, r.cleaned_at, r.vector_excluded,
       (select count(*) from iu_core.iu_staging_payload p where p.staging_record_id = r.staging_record_id)::integer as parts_present,
       round((extract(epoch from r.expires_at - now()) / 86400)::numeric, 2) as days_to_expiry,
       now() - r.created_at as age
  from iu_core.iu_staging_record r;

grant select on iu_core.v_iu_staging_record to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
