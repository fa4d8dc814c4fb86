-- Opens an upload whose file has been spooled: its length and sha-256 are known. The same bytes for the same client are
-- recognised and nothing is opened, unless the earlier upload came to nothing. Whoever gets a token reads the file.
create or replace function iu_core.fn_ingest_begin(
  p_workspace_id uuid,
  p_dataset text,
  p_platform text,
  p_file_name text,
  p_file_hash text,
  p_byte_len bigint,
  p_client_id uuid default null,
  p_run_mode text default 'SAFE_PROD',
  p_options jsonb default '{}',
  p_cursor_name text default null,
  p_cursor_value jsonb default null,
  p_uploaded_by text default null,
  out upload_id uuid,
  out created boolean,
  out status text,
  out reader_token uuid
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_dataset iu_core.ingest_dataset;
  v_actor record;
  v_client uuid;
  v_limit iu_core.ingest_limit;
  v_reading integer;
begin
  perform iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_uploaded_by);
  select * into v_dataset from iu_core.ingest_dataset d where d.dataset = p_dataset;
  if not found or not coalesce(v_dataset.definition -> 'platforms' ? p_platform, false) then
    raise exception using
      errcode = 'SD604',
      message = case when v_dataset.dataset is null then format('There is no dataset %L', p_dataset)
        else format('The dataset %s has no platform %L; it has %s', p_dataset, p_platform,
                    (select string_agg(k, ', ') from jsonb_object_keys(v_dataset.definition -> 'platforms') k)) end,
      detail = json_build_object('dataset', p_dataset, 'platform', p_platform)::text;
  end if;
  if p_file_name is null or p_file_name !~ '\S' or p_file_hash is null or p_file_hash !~ '^[0-9a-f]{64}$'
     or p_byte_len is null or p_byte_len < 0 then
    raise exception using errcode = 'SD001', message = 'An upload needs a file name, its sha-256 and its length';
  end if;
  if p_run_mode is null or p_run_mode not in ('FULL_DRY_RUN', 'STAGING_ONLY', 'SAFE_PROD') then
    raise exception using errcode = 'SD001',
      message = format('The run mode %L is none of FULL_DRY_RUN, STAGING_ONLY, SAFE_PROD', p_run_mode);
  end if;
  if p_options ->> 'repeated_keys' not in ('refuse', 'sum', 'last', 'first') then
    raise exception using errcode = 'SD001',
      message = format('Repeated keys: %L is none of refuse, sum, last, first', p_options ->> 'repeated_keys');
  end if;
  v_client := iu_core.fn_ingest_client(v_dataset.definition, p_workspace_id, p_client_id);
  v_limit := iu_core.fn_ingest_limits(p_workspace_id);
  if p_byte_len > v_limit.max_bytes then
    raise exception using
      errcode = 'SD603',
      message = format('The file has %s bytes; uploads of this workspace may have %s', p_byte_len, v_limit.max_bytes),
      detail = json_build_object('limit', v_limit.max_bytes, 'what', 'bytes')::text;
  end if;

  -- One at a time per workspace: otherwise two callers would both count two and make four.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.ingest.begin.' || p_workspace_id, 0));
  perform iu_core.fn_ingest_sweep(p_workspace_id);
  if p_run_mode <> 'FULL_DRY_RUN' then
    select u.upload_id, false, u.status into upload_id, created, status
      from iu_core.ingest_upload u
     where u.workspace_id = p_workspace_id and u.client_id = v_client and u.dataset = p_dataset
       and u.platform = p_platform and u.file_hash = p_file_hash
       and u.status in ('reading', 'staged', 'planned', 'promoted') and u.run_mode <> 'FULL_DRY_RUN';
    if found then
      return;
    end if;
  end if;
  select count(*) into v_reading from iu_core.ingest_upload u where u.workspace_id = p_workspace_id and u.status = 'reading';
  if v_reading >= v_limit.max_at_once then
    raise exception using
      errcode = 'SD613',
      message = format('%s uploads of this workspace are being read already', v_reading),
      detail = json_build_object('limit', v_limit.max_at_once)::text;
  end if;
  reader_token := gen_random_uuid();
  insert into iu_core.ingest_upload (
    workspace_id, client_id, dataset, platform, file_name, file_hash, byte_len, run_mode, options, repeated_keys, cursor_name, cursor_value,
    reader_token, reader_seen_at, uploaded_by, uploaded_via, changed_by)
  values (
    p_workspace_id, v_client, p_dataset, p_platform, left(p_file_name, 500), p_file_hash, p_byte_len, p_run_mode,
    coalesce(p_options, '{}'), p_options ->> 'repeated_keys', p_cursor_name, p_cursor_value, reader_token, clock_timestamp(), v_actor.actor, v_actor.via,
    array_remove(array[v_actor.actor, v_actor.via], null))
  returning ingest_upload.upload_id into upload_id;
  created := true;
  status := 'reading';
  perform iu_core.fn_ingest_tell_uploads_table(upload_id, 'pending', null);
end $$;

grant execute on function iu_core.fn_ingest_begin(
  uuid, text, text, text, text, bigint, uuid, text, jsonb, text, jsonb, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
