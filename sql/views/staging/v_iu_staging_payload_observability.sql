-- What each record's payload is made of, without the payload.
create or replace view iu_core.v_iu_staging_payload_observability with (security_invoker = true) as
select r.staging_record_id,
       r.workspace_id,
       r.staging_kind,
       r.payload_type,
       r.lifecycle_status,
       r.content_hash,
       r.part_count,
       r.byte_len,
       count(p.staging_payload_id)::integer as parts_present,
       coalesce(sum(p.byte_len), 0)::bigint as bytes_present,
       count(*) filter (where p.payload_kind = 'json')::integer as json_parts,
       count(*) filter (where p.payload_kind = 'text')::integer as text_parts,
       count(*) filter (where p.payload_kind = 'blob_ref')::integer as blob_parts,
       r.part_digests
  from iu_core.iu_staging_record r
  left join iu_core.iu_staging_payload p on p.staging_record_id = r.staging_record_id
 group by r.staging_record_id;

grant select on iu_core.v_iu_staging_payload_observability to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
