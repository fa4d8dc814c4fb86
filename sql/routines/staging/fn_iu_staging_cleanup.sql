-- consumed, rejected or expired → cleaned, past retention: the payload goes, the record stays as a tombstone with its
-- digests, counts and sizes. One batch a call, so that it can stop and go on.
-- p_scope: {"limit": 1000, "dry_run": false, "kinds": ["mark_manifest"], "workspace_id": "…"}, all optional.
create or replace function iu_core.fn_iu_staging_cleanup(p_scope jsonb default '{}') returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
  v_limit integer;
  v_dry_run boolean;
  v_kinds text[];
  v_workspace uuid;
  -- Once, as in expire.
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
  v_parts bigint;
  v_bytes bigint;
begin
  perform iu_core.require_member(null, 'administer');
  perform iu_core.fn_gate_require('iu_core.staging_cleanup_enabled');
  if jsonb_typeof(p_scope) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The scope of a cleanup must be a JSON object, not NULL';
  end if;
  select case key
           when 'limit' then case when value::text !~ '^[1-9][0-9]{0,6}$' then 'The limit must be a whole number from 1 to 9999999' end
           when 'dry_run' then case when jsonb_typeof(value) <> 'boolean' then 'dry_run must be true or false' end
           when 'kinds' then case when jsonb_typeof(value) <> 'array' then 'kinds must be an array of staging kinds' end
           when 'workspace_id' then case when value::text !~* '^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$'
             then 'workspace_id must be a uuid' end
           else format('A cleanup has no setting %L', key)
         end as problem
    into v_problem from jsonb_each(p_scope) order by problem nulls last limit 1;
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem;
  end if;
  v_limit := coalesce((p_scope ->> 'limit')::integer, 1000);
  v_dry_run := coalesce((p_scope ->> 'dry_run')::boolean, false);
  v_workspace := (p_scope ->> 'workspace_id')::uuid;
  if p_scope ? 'kinds' then
    v_kinds := array(select jsonb_array_elements_text(p_scope -> 'kinds'));
    select format('There is no staging kind %L', kind) into v_problem from unnest(v_kinds) as kind
     where not exists (select from iu_core.iu_staging_kind_policy p where p.staging_kind = kind) limit 1;
    if v_problem is not null then
      raise exception using errcode = 'SD507', message = v_problem;
    end if;
  end if;
  select array_agg(staging_record_id), sum(part_count), sum(byte_len) into v_ids, v_parts, v_bytes from (
    select staging_record_id, part_count, byte_len from iu_core.iu_staging_record
     where lifecycle_status in ('consumed', 'rejected', 'expired') and retain_until <= v_now
       and (v_kinds is null or staging_kind = any (v_kinds))
       and (v_workspace is null or workspace_id = v_workspace)
     order by retain_until limit v_limit
       for update skip locked) as ended;
  if v_ids is not null and not v_dry_run then
    with gone as (
      delete from iu_core.iu_staging_payload where staging_record_id = any (v_ids) returning blob_ref
    )
    insert into iu_core.iu_staging_blob_trash (blob_ref)
    select distinct blob_ref from gone where blob_ref is not null order by blob_ref
    -- An update, not nothing: it locks the row, so that nobody takes it as one that a record still has.
    on conflict (blob_ref) do update set trashed_at = excluded.trashed_at;
    update iu_core.iu_staging_record
       set lifecycle_status = 'cleaned', cleaned_at = clock_timestamp()
     where staging_record_id = any (v_ids);
    perform iu_core.fn_iu_staging_emit(r, 'record_cleaned', iu_core.fn_actor())
       from iu_core.iu_staging_record r where r.staging_record_id = any (v_ids);
  end if;
  return jsonb_build_object('cleaned', coalesce(cardinality(v_ids), 0), 'parts', coalesce(v_parts, 0),
                            'bytes', coalesce(v_bytes, 0), 'dry_run', v_dry_run);
end $$;

grant execute on function iu_core.fn_iu_staging_cleanup(jsonb) to dot_executor, service_role, directus;
