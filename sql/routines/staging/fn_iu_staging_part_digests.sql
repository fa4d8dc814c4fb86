-- Checks the parts and gives name, kind, length and digest of each, in order.
create or replace function iu_core.fn_iu_staging_part_digests(p_parts jsonb[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
  v_digest record;
  v_digests jsonb[] := '{}';
  v_total bigint := 0;
  v_problem text;
begin
  if coalesce(cardinality(p_parts), 0) = 0 then
    raise exception using errcode = 'SD506', message = 'A record needs at least one part';
  end if;
  if cardinality(p_parts) > 100 then
    raise exception using errcode = 'SD506', message = format('%s parts; a record holds at most 100', cardinality(p_parts));
  end if;
  foreach v_part in array p_parts loop
    v_problem := case
      when jsonb_typeof(v_part) is distinct from 'object' then 'it must be a JSON object'
      when jsonb_typeof(v_part -> 'part_name') is distinct from 'string' or v_part ->> 'part_name' !~ '\S'
        then 'part_name is missing'
      when length(v_part ->> 'part_name') > 200 then 'part_name has more than 200 characters'
      when jsonb_typeof(v_part -> 'payload_kind') is distinct from 'string' or v_part ->> 'payload_kind' not in ('json', 'text', 'blob_ref')
        then 'payload_kind must be json, text or blob_ref'
      when v_part ->> 'payload_kind' = 'json' and not v_part ? 'payload_json' then 'payload_json is missing'
      when v_part ->> 'payload_kind' = 'text' and jsonb_typeof(v_part -> 'payload_text') is distinct from 'string'
        then 'payload_text is missing or not a string'
      when v_part ->> 'payload_kind' = 'blob_ref' and (jsonb_typeof(v_part -> 'blob_ref') is distinct from 'string' or v_part ->> 'blob_ref' = '') then 'blob_ref is missing'
      when v_part ->> 'payload_kind' = 'blob_ref' and (jsonb_typeof(v_part -> 'content_hash') is distinct from 'string' or v_part ->> 'content_hash' !~ '^[0-9a-f]{64}$')
        then 'content_hash must be the sha-256 of the blob, in hex'
      when v_part ->> 'payload_kind' = 'blob_ref'
           and (jsonb_typeof(v_part -> 'byte_len') is distinct from 'number' or v_part ->> 'byte_len' !~ '^[0-9]{1,15}$')
        then 'byte_len must be the length of the blob: a whole number, less than 10^15'
      end;
    if v_problem is not null then
      raise exception using
        errcode = 'SD506',
        message = format('Part %s: %s', cardinality(v_digests), v_problem),
        detail = json_build_object('part', cardinality(v_digests))::text;
    end if;
    case v_part ->> 'payload_kind'
      when 'json' then
        select d.content_hash, d.byte_len into v_digest from iu_core.fn_iu_staging_json_digest(v_part -> 'payload_json') d;
      when 'text' then
        select iu_core.fn_iu_staging_payload_hash(null, v_part ->> 'payload_text') as content_hash,
               octet_length(convert_to(v_part ->> 'payload_text', 'UTF8'))::bigint as byte_len into v_digest;
      else
        select v_part ->> 'content_hash' as content_hash, (v_part ->> 'byte_len')::bigint as byte_len into v_digest;
    end case;
    if v_part ->> 'payload_kind' <> 'blob_ref' then
      if v_digest.byte_len > 10485760 then
        raise exception using
          errcode = 'SD506',
          message = format('Part %s (%s) has %s bytes; json and text parts hold at most 10 MiB',
                           cardinality(v_digests), v_part ->> 'part_name', v_digest.byte_len),
          hint = 'Store it as a blob and give the reference (blob_ref).';
      end if;
      v_total := v_total + v_digest.byte_len;
    end if;
    v_digests := v_digests || jsonb_build_object(
      'part_index', cardinality(v_digests),
      'part_name', v_part ->> 'part_name',
      'payload_kind', v_part ->> 'payload_kind',
      'byte_len', v_digest.byte_len,
      'content_hash', v_digest.content_hash);
  end loop;
  if v_total > 67108864 then
    raise exception using
      errcode = 'SD506',
      message = format('The json and text parts have %s bytes together; a record holds at most 64 MiB of them', v_total),
      hint = 'Store the large ones as blobs and give the references (blob_ref).';
  end if;
  return to_jsonb(v_digests);
end $$;
