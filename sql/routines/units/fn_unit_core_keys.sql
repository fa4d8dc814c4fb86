-- What a profile may not hold, because the unit itself does: a copy would be a second truth. Internal.
create or replace function iu_core.fn_unit_core_keys() returns text[]
language sql immutable parallel safe
as $$
  select '{unit_id,workspace_id,canonical_address,unit_kind,container_id,container_ref,position,source_ref,owner_actor,owner_via,born_at,current_version_id,unit_version_id,version_no,content_hash,title,body,language,lifecycle_status,apr_ref,deleted_at,superseded_by,supersedes,conformance,drift,vector,embedding}'::text[]
$$;
