-- Recomputes the digests of a record's parts from their bytes and compares them with what was recorded at create.
-- Returns the record's digest, or raises: somebody changed the bytes behind our back.
create or replace function iu_core.fn_iu_staging_verify(p_staging_record_id uuid) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_recorded jsonb;
  v_hash text;
  v_found jsonb;
begin
  select part_digests, content_hash into v_recorded, v_hash
    from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
  if not found then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'verified');
  end if;
  select jsonb_agg(jsonb_build_object(
           'part_index', p.part_index, 'part_name', p.part_name, 'payload_kind', p.payload_kind,
           'byte_len', p.byte_len,
           -- Neither the bytes nor the digest beside them may differ.
           'content_hash', case when p.payload_kind = 'blob_ref'
              or p.content_hash = iu_core.fn_iu_staging_payload_hash(p.payload_json, p.payload_text)
              then p.content_hash end) order by p.part_index)
    into v_found
    from iu_core.iu_staging_payload p
   where p.staging_record_id = p_staging_record_id;
  if v_found is distinct from v_recorded or iu_core.fn_iu_staging_record_digest(v_found) is distinct from v_hash then
    raise exception using
      errcode = 'SD514',
      message = format('The bytes of record %s are not those that were staged', p_staging_record_id),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return v_hash;
end $$;
