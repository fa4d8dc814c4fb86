-- Health check of the staging zone.

-- Checks the staging zone: exclusion from vectors, digests of a sample, lifecycle counts, overdue records, gates.
create or replace function iu_core.fn_iu_staging_healthcheck(p_sample integer default 100) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks jsonb := '[]';
  v_count bigint;
  v_bad text;
  v_counts jsonb;
  v_gates jsonb;
begin
  perform iu_core.require_member(null, 'administer');
  if p_sample is null or p_sample < 0 then
    raise exception using errcode = 'SD001', message = 'The sample must be 0 or more';
  end if;
  select jsonb_object_agg(status, coalesce(c.count, 0)) into v_counts
    from unnest(array['pending', 'approved', 'consumed', 'rejected', 'expired', 'cleaned']) as status
    left join (select lifecycle_status, count(*) from iu_core.iu_staging_record group by 1) c on c.lifecycle_status = status;
  select jsonb_object_agg(key, value = 'true') into v_gates from iu_core.dot_config
   where key in ('iu_core.staging_writes_enabled', 'iu_core.staging_cleanup_enabled', 'iu_core.no_vector_staging_excluded');

  select string_agg(t, ', ') into v_bad
    from unnest(array['iu_core.iu_staging_record', 'iu_core.iu_staging_payload', 'iu_core.iu_staging_check',
                      'iu_core.v_iu_staging_record', 'iu_core.v_iu_staging_payload_observability']) t
   where has_table_privilege('vector_worker', t, 'select, insert, update, delete, references, trigger');
  v_checks := v_checks || jsonb_build_object('name', 'vector worker shut out', 'ok', v_bad is null,
    'detail', coalesce('vector_worker has rights on ' || v_bad, 'vector_worker has no right on any staging table'));

  v_checks := v_checks || jsonb_build_object('name', 'exclusion gate',
    'ok', coalesce((v_gates ->> 'iu_core.no_vector_staging_excluded')::boolean, false),
    'detail', case when (v_gates ->> 'iu_core.no_vector_staging_excluded')::boolean
                   then 'staging is excluded from vectors' else 'iu_core.no_vector_staging_excluded is closed or missing' end);

  select count(*) into v_count from iu_core.iu_staging_record where not vector_excluded;
  v_checks := v_checks || jsonb_build_object('name', 'exclusion of every record', 'ok', v_count = 0,
    'detail', format('%s records are not excluded', v_count));

  -- The newest, and as many from a random place on (from the oldest again when there are not enough behind it), so
  -- that every part is checked sooner or later.
  with place as (
    select iu_core.fn_time_uuid_floor(oldest.created_at + random() * (newest.created_at - oldest.created_at)) as id
      from (select created_at from iu_core.iu_staging_payload order by staging_payload_id limit 1) as oldest,
           (select created_at from iu_core.iu_staging_payload order by staging_payload_id desc limit 1) as newest
  ), sample as (
    (select staging_payload_id from iu_core.iu_staging_payload order by staging_payload_id desc limit (p_sample + 1) / 2)
    union
    (select staging_payload_id from (
       (select staging_payload_id, 1 as lap from iu_core.iu_staging_payload
         where staging_payload_id >= (select id from place) order by staging_payload_id limit p_sample / 2)
       union all
       (select staging_payload_id, 2 from iu_core.iu_staging_payload order by staging_payload_id limit p_sample / 2)) as laps
      order by lap, staging_payload_id limit p_sample / 2)
  )
  select count(*), string_agg(distinct p.staging_record_id::text, ', ') filter (where
           p.content_hash <> iu_core.fn_iu_staging_payload_hash(p.payload_json, p.payload_text)
           or r.part_digests -> p.part_index is distinct from jsonb_build_object(
                'part_index', p.part_index, 'part_name', p.part_name, 'payload_kind', p.payload_kind,
                'byte_len', p.byte_len, 'content_hash', p.content_hash)
           or iu_core.fn_iu_staging_record_digest(r.part_digests) <> r.content_hash
           or (select count(*) from iu_core.iu_staging_payload o where o.staging_record_id = r.staging_record_id) <> r.part_count)
    into v_count, v_bad
    from sample s
    join iu_core.iu_staging_payload p using (staging_payload_id)
    join iu_core.iu_staging_record r using (staging_record_id);
  v_checks := v_checks || jsonb_build_object('name', 'digests', 'ok', v_bad is null,
    'detail', coalesce('bytes differ from their digest in ' || v_bad, format('%s parts looked at, all as staged', v_count)));

  -- A record whose parts were deleted is not in any sample of parts.
  select string_agg(s.staging_record_id::text, ', ') into v_bad
    from ((select staging_record_id, part_count from iu_core.iu_staging_record
            where lifecycle_status <> 'cleaned' order by staging_record_id desc limit (p_sample + 1) / 2)
          union
          (select staging_record_id, part_count from iu_core.iu_staging_record
            where lifecycle_status <> 'cleaned' order by staging_record_id limit p_sample / 2)) as s
   where s.part_count <> (select count(*) from iu_core.iu_staging_payload p where p.staging_record_id = s.staging_record_id);
  v_checks := v_checks || jsonb_build_object('name', 'parts present', 'ok', v_bad is null,
    'detail', coalesce('parts are missing of ' || v_bad, 'the newest and the oldest records have all their parts'));

  -- Only a problem if expiry should be running.
  select count(*) into v_count from iu_core.iu_staging_record
   where lifecycle_status in ('pending', 'approved') and expires_at <= now() - interval '1 hour';
  v_checks := v_checks || jsonb_build_object('name', 'overdue expiries',
    'ok', v_count = 0 or not coalesce((v_gates ->> 'iu_core.staging_cleanup_enabled')::boolean, false),
    'detail', format('%s records are more than an hour past their expiry', v_count));

  return jsonb_build_object(
    'ok', not exists (select from jsonb_array_elements(v_checks) c where not (c ->> 'ok')::boolean),
    'checks', v_checks, 'lifecycle', v_counts, 'gates', v_gates);
end $$;

grant execute on function iu_core.fn_iu_staging_healthcheck(integer) to dot_executor, service_role, directus;

-- Kind, size and digest of each part of a record, without the payload.
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
