-- Uploads: from the first byte to staged rows, their limits and their statuses.

-- Opens an upload whose file has been spooled, so that its length and sha-256 are known. If the same bytes were uploaded for
-- the same client, that upload is returned and none is opened, unless it failed, was discarded, expired or was undone. The
-- caller that gets a token reads the file.
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
  select * into v_dataset from iu_core.ingest_dataset d
   where d.dataset = p_dataset and (d.workspace_id is null or d.workspace_id = p_workspace_id);
  if not found or not coalesce(v_dataset.definition -> 'platforms' ? p_platform, false) then
    raise exception using
      errcode = 'SD604',
      message = case when v_dataset.dataset is null then format('There is no dataset %L', p_dataset)
        else format('The dataset %s has no platform %L; it has %s', p_dataset, p_platform,
                    (select string_agg(k, ', ') from jsonb_object_keys(v_dataset.definition -> 'platforms') k)) end,
      detail = json_build_object('dataset', p_dataset, 'platform', p_platform)::text;
  end if;
  if iu_core.fn_proposal_is_statement(v_dataset.definition) and p_options ->> 'source' is distinct from 'sql' then
    raise exception using errcode = 'SD660',
      message = format('The dataset %s takes statements, not files', p_dataset),
      hint = 'Propose a statement (`stagedoor propose`), or make a dataset for files: `stagedoor init TABLE FILE`.',
      detail = json_build_object('reason', 'the dataset takes statements, not files')::text;
  end if;
  if p_file_name is null or p_file_name !~ '\S' or p_file_hash is null or p_file_hash !~ '^[0-9a-f]{64}$'
     or p_byte_len is null or p_byte_len < 0 then
    raise exception using errcode = 'SD001', message = 'An upload needs a file name, its sha-256 and its length';
  end if;
  if p_run_mode is null or p_run_mode not in ('FULL_DRY_RUN', 'STAGING_ONLY', 'SAFE_PROD') then
    raise exception using errcode = 'SD001',
      message = format('The run mode %L is none of FULL_DRY_RUN, STAGING_ONLY, SAFE_PROD', p_run_mode);
  end if;
  perform iu_core.fn_ingest_repeated_keys_check(p_options ->> 'repeated_keys');
  v_client := iu_core.fn_ingest_resolve_client(v_dataset.definition, p_workspace_id, p_client_id);
  v_limit := iu_core.fn_ingest_limits(p_workspace_id);
  if p_byte_len > v_limit.max_bytes then
    raise exception using
      errcode = 'SD603',
      message = format('The file has %s bytes; uploads of this workspace may have %s', p_byte_len, v_limit.max_bytes),
      detail = json_build_object('limit', v_limit.max_bytes, 'what', 'bytes')::text;
  end if;

  -- One at a time per workspace: otherwise two callers would both count two and make four.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.ingest.begin.' || p_workspace_id, 0));
  perform iu_core.fn_ingest_fail_stalled(p_workspace_id);
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
  perform iu_core.fn_ingest_notify_uploads_table(upload_id, 'pending', null);
end $$;

grant execute on function iu_core.fn_ingest_begin(
  uuid, text, text, text, text, bigint, uuid, text, jsonb, text, jsonb, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The client of an upload, if it belongs to the workspace; the workspace itself if the dataset has no clients. Internal.
create or replace function iu_core.fn_ingest_resolve_client(p_definition jsonb, p_workspace_id uuid, p_client_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_clients jsonb := p_definition -> 'client';
  v_found boolean;
begin
  if coalesce(v_clients, 'null') = 'null' then
    if p_client_id is not null and p_client_id <> p_workspace_id then
      raise exception using errcode = 'SD610',
        message = format('The dataset %s has no clients', p_definition ->> 'name'),
        detail = json_build_object('client', p_client_id)::text;
    end if;
    return p_workspace_id;
  end if;
  execute format('select exists (select from %s c where c.%I = $1 and c.%I = $2)',
                 iu_core.fn_ingest_table_sql((v_clients ->> 'table')::regclass), v_clients ->> 'id', v_clients ->> 'workspace')
    into v_found using p_client_id, p_workspace_id;
  if not v_found then
    raise exception using
      errcode = 'SD610',
      message = case when p_client_id is null then 'This upload needs a client'
                     else format('The workspace has no client %s', p_client_id) end,
      detail = json_build_object('client', p_client_id)::text;
  end if;
  return p_client_id;
end $$;

-- A heartbeat of the reader, with its progress.
create or replace function iu_core.fn_ingest_progress(p_upload_id uuid, p_token uuid, p_progress jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_lock_for_reader(p_upload_id, p_token);
  update iu_core.ingest_upload set progress = p_progress, reader_seen_at = clock_timestamp() where upload_id = p_upload_id;
end $$;

grant execute on function iu_core.fn_ingest_progress(uuid, uuid, jsonb) to service_role;

-- The reader has written every line (in this transaction): reading → staged. The checks across lines run now (p_check), or with
-- the plan if it follows at once, which finds the same on typed columns for less.
create or replace function iu_core.fn_ingest_complete_reading(p_upload_id uuid, p_token uuid, p_reading jsonb, p_notes jsonb, p_check boolean default true)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_unknown text;
  v_at timestamptz;
begin
  u := iu_core.fn_ingest_lock_for_reader(p_upload_id, p_token);
  select * into v_dataset from iu_core.ingest_dataset where dataset = u.dataset for share;
  -- Out of its compressed form, once: each of the hundred reads of a member below would decompress it again.
  v_dataset.definition := v_dataset.definition || '{}';
  if p_reading -> 'layout' ->> 'leaf' is null or jsonb_typeof(p_reading -> 'layout' -> 'fields') is distinct from 'array'
     or jsonb_typeof(p_reading -> 'layout' -> 'row_types') is distinct from 'array' or p_reading ->> 'lines' is null then
    raise exception using errcode = 'SD001',
      message = 'p_reading needs the number of lines, and a layout with fields, row types and leaf';
  end if;
  -- Rows staged by plain SQL have no file; the fields shown about a file get placeholders.
  p_reading := jsonb_build_object(
    'format', 'rows', 'definition_digest', v_dataset.definition_digest, 'encoding', '', 'delimiter', null, 'headers', '[]'::jsonb, 'preamble', '[]'::jsonb, 'header_line', 0,
    'styles', '{"decimal": "dot", "dates": "unknown"}'::jsonb, 'period', null, 'values', '{}'::jsonb,
    'map', jsonb_build_object('headers', '[]'::jsonb, 'fields', '{}'::jsonb, 'unknown', '[]'::jsonb, 'missing', '[]'::jsonb,
                              'rowTypes', p_reading -> 'layout' -> 'row_types', 'leaf', p_reading -> 'layout' -> 'leaf', 'notes', '[]'::jsonb))
    || p_reading;
  u.reading := p_reading;
  perform iu_core.fn_ingest_require_same_dataset(u);
  -- From one row type to the next by the index, not over all rows.
  with recursive types (row_type) as (
    (select row_type from iu_core.ingest_staged_row where upload_id = p_upload_id order by row_type limit 1)
    union all
    select (select s.row_type from iu_core.ingest_staged_row s where s.upload_id = p_upload_id and s.row_type > t.row_type
             order by s.row_type limit 1) from types t where t.row_type is not null
  )
  select t.row_type into v_unknown from types t
   where t.row_type is not null
     and not exists (select from iu_core.ingest_row_type k where k.platform = u.platform and k.row_type = t.row_type) limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'SD604', message = format('No dataset has registered %s rows of %s', u.platform, v_unknown),
      detail = json_build_object('dataset', u.dataset, 'platform', v_unknown)::text;
  end if;
  -- The keys of its rows, without which nobody can read them.
  if p_reading #> '{layout,packing}' is not null then
    update iu_core.ingest_upload
       set staged_cells = array(select jsonb_array_elements_text(p_reading #> '{layout,packing,cells}')),
           staged_members = array(select jsonb_array_elements_text(p_reading #> '{layout,packing,members}')),
           staged_json = array(select jsonb_array_elements_text(p_reading #> '{layout,packing,json}')::boolean)
     where upload_id = p_upload_id;
  end if;
  v_at := clock_timestamp();
  if p_check then
    perform iu_core.fn_ingest_check_across_lines(u, v_dataset.definition);
  else
    perform iu_core.fn_ingest_check_subtotals(u, v_dataset.definition);
  end if;
  update iu_core.ingest_upload
     set check_steps = jsonb_build_array(iu_core.fn_ingest_step(case when p_check then 'across_lines' else 'subtotals' end, v_at)), reading = p_reading, notes = coalesce(p_notes, '[]'),
         changed_by = array(select distinct unnest(changed_by || iu_core.fn_ingest_mapping_authors(u, p_reading))),
         -- The plan that follows at once counts on typed columns for less.
         control = case when p_check then iu_core.fn_ingest_control_totals(u, v_dataset.definition, false) else '[]' end,
         own_totals = case when p_check then iu_core.fn_ingest_own_totals(u, v_dataset.definition) end
   where upload_id = p_upload_id;
  perform iu_core.fn_ingest_recount(p_upload_id, p_reading -> 'layout' ->> 'leaf', (p_reading ->> 'lines')::integer);
  update iu_core.ingest_upload
     set status = 'staged', staged_at = clock_timestamp(),
         read_ms = extract(epoch from clock_timestamp() - created_at) * 1000, reader_token = null, reader_seen_at = null, progress = null
   where upload_id = p_upload_id returning * into u;
  -- The process that received the file read it itself and has it; a job still has the plan to make.
  delete from iu_core.ingest_reading where upload_id = p_upload_id and job_id is null;
  perform iu_core.fn_event_emit('staging', 'ingestion_staged',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
      'lines', u.line_count, 'valid', u.valid_count, 'invalid', u.invalid_count, 'skipped', u.skipped_count,
      'left_out', u.left_out));
end $$;

grant execute on function iu_core.fn_ingest_complete_reading(uuid, uuid, jsonb, jsonb, boolean) to service_role;

-- The reader reports that the file cannot be read: {"code", "message", "hint"}.
create or replace function iu_core.fn_ingest_fail(p_upload_id uuid, p_token uuid, p_error jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_lock_for_reader(p_upload_id, p_token);
  perform iu_core.fn_ingest_set_failed(p_upload_id, p_error);
  perform iu_core.fn_ingest_reading_close(p_upload_id, false);
end $$;

grant execute on function iu_core.fn_ingest_fail(uuid, uuid, jsonb) to service_role;

-- reading → failed: stores the reason and deletes the staged rows. The caller holds the lock of the upload. Internal.
create or replace function iu_core.fn_ingest_set_failed(p_upload_id uuid, p_error jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  delete from iu_core.ingest_staged_row where upload_id = p_upload_id;
  update iu_core.ingest_upload
     set status = 'failed', error = p_error, reader_token = null, reader_seen_at = null, progress = null,
         ended_at = clock_timestamp()
   where upload_id = p_upload_id returning * into u;
  perform iu_core.fn_ingest_notify_uploads_table(p_upload_id, 'failed', null);
  perform iu_core.fn_event_emit('staging', 'ingestion_failed',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
                                         'code', p_error ->> 'code'));
end $$;

-- Discards an upload that was not promoted: deletes its lines and its plan. The upload itself stays in the list. While it is being read,
-- or waits for that, this cancels it: the reader's token is no longer valid, whichever process it is.
create or replace function iu_core.fn_ingest_discard(p_upload_id uuid, p_discarded_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_actor record;
  v_job uuid;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  v_actor := iu_core.fn_actor_for(p_discarded_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['reading', 'staged', 'planned', 'failed'], 'discarded');
  perform iu_core.fn_ingest_plan_delete(u);
  delete from iu_core.ingest_staged_row where upload_id = p_upload_id;
  update iu_core.ingest_upload
     set status = 'discarded', ended_at = clock_timestamp(), reader_token = null, reader_seen_at = null, progress = null
   where upload_id = p_upload_id;
  delete from iu_core.ingest_reading where upload_id = p_upload_id returning job_id into v_job;
  if v_job is not null then
    perform iu_core.fn_job_cancel_waiting(v_job, v_actor.actor, 'its upload was discarded');
  end if;
  perform iu_core.fn_ingest_notify_uploads_table(p_upload_id, 'failed', null);
  perform iu_core.fn_event_emit('staging', 'ingestion_discarded',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_discarded_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform));
end $$;

grant execute on function iu_core.fn_ingest_discard(uuid, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Sets the limits of one workspace, or (NULL) of all workspaces without their own. For workflow_admin.
create or replace function iu_core.fn_ingest_limit_set(
  p_workspace_id uuid, p_max_bytes bigint, p_max_lines integer, p_max_at_once integer
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_limit as l (workspace_id, max_bytes, max_lines, max_at_once)
  select p_workspace_id, coalesce(p_max_bytes, d.max_bytes), coalesce(p_max_lines, d.max_lines), coalesce(p_max_at_once, d.max_at_once)
    from iu_core.fn_ingest_limits(p_workspace_id) d
  on conflict (workspace_id) do update
     set max_bytes = excluded.max_bytes, max_lines = excluded.max_lines, max_at_once = excluded.max_at_once;
end $$;

-- Checks that staged rows match their upload: its workspace, client and platform, and a row type that a dataset has registered
-- for that platform. One lookup for all rows of a statement. These columns cannot be changed later, also not by the owner.
create or replace function iu_core.fn_ingest_rows_check() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  if tg_op = 'UPDATE' then
    raise exception using
      errcode = 'SD520',
      message = format('The upload, platform and row type of staged rows of upload %s cannot be changed', old.upload_id),
      detail = json_build_object('upload', old.upload_id, 'reason', 'a staged row does not change whose it is')::text;
  end if;
  select a.upload_id, a.platform, a.row_type, u.upload_id is null as unknown,
         (a.workspace_id, a.client_id, a.platform) is distinct from (u.workspace_id, u.client_id, u.platform) as foreign_row
    into v_wrong
    from (select distinct upload_id, workspace_id, client_id, platform, row_type from added) a
    left join iu_core.ingest_upload u on u.upload_id = a.upload_id
   where (a.workspace_id, a.client_id, a.platform) is distinct from (u.workspace_id, u.client_id, u.platform)
      or not exists (select from iu_core.ingest_row_type t where t.platform = a.platform and t.row_type = a.row_type)
   limit 1;
  if found then
    raise exception using
      errcode = 'SD520',
      message = case
        when v_wrong.unknown then format('There is no upload %s to stage rows for', v_wrong.upload_id)
        when v_wrong.foreign_row then format('Rows of upload %s have another workspace, client or platform than the upload', v_wrong.upload_id)
        else format('No dataset has registered %s rows of %s', v_wrong.platform, v_wrong.row_type) end,
      detail = json_build_object('upload', v_wrong.upload_id, 'reason', case
        when v_wrong.unknown then 'there is no such upload'
        when v_wrong.foreign_row then 'workspace, client and platform of a row are those of its upload'
        else format('no dataset has registered %s rows of %s', v_wrong.platform, v_wrong.row_type) end)::text;
  end if;
  return null;
end $$;

create or replace trigger staging_rows_of_their_upload after insert on iu_core.ingest_staged_row
  referencing new table as added for each statement execute function iu_core.fn_ingest_rows_check();
-- Named columns, so that nothing is evaluated for an update of others.
create or replace trigger staging_rows_stay_of_their_upload
  before update of upload_id, workspace_id, client_id, platform, row_type on iu_core.ingest_staged_row
  for each row when ((old.upload_id, old.workspace_id, old.client_id, old.platform, old.row_type)
                     is distinct from (new.upload_id, new.workspace_id, new.client_id, new.platform, new.row_type))
  execute function iu_core.fn_ingest_rows_check();

-- Changes and deletes rows through the view public.staging_rows, with the rights of the caller, and inserts those of COPY (INSERT has a rule).
-- A changed row keeps what the view showed of it. Internal.
create or replace function iu_core.fn_staging_rows_write() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unmarked boolean;
begin
  if tg_op = 'INSERT' then
    insert into iu_core.ingest_staged_row (
      id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
      normalized_payload, validation_status, validation_errors, validation_warnings, processing_action, processed_at, target_internal_id,
      created_at, updated_at)
    select new.*;
    return new;
  elsif tg_op = 'DELETE' then
    delete from iu_core.ingest_staged_row
     where upload_id = old.upload_id and row_type = old.row_type and row_number = old.row_number;
    return old;
  end if;
  if (old.upload_id, old.workspace_id, old.client_id, old.platform, old.row_type, old.row_number, old.id)
     is distinct from (new.upload_id, new.workspace_id, new.client_id, new.platform, new.row_type, new.row_number, new.id) then
    update iu_core.ingest_staged_row
       set upload_id = new.upload_id, workspace_id = new.workspace_id, client_id = new.client_id, platform = new.platform,
           row_type = new.row_type, row_number = new.row_number, id = new.id
     where upload_id = old.upload_id and row_type = old.row_type and row_number = old.row_number;
  end if;
  v_unmarked := old.processing_action = 'insert' and exists (
    select from iu_core.ingest_promotion i where i.upload_id = old.upload_id and old.row_type = any (i.inserted_types));
  -- Only what the statement changes: the rest may have changed since it saw the row. A payload that changed is an object from then on.
  update iu_core.ingest_staged_row s
     set raw_payload = case when new.raw_payload is distinct from old.raw_payload then new.raw_payload else s.raw_payload end,
         raw_values = case when new.raw_payload is distinct from old.raw_payload then null else s.raw_values end,
         normalized_payload = case when new.normalized_payload is distinct from old.normalized_payload then new.normalized_payload else s.normalized_payload end,
         normalized_values = case when new.normalized_payload is distinct from old.normalized_payload then null else s.normalized_values end,
         batch_id = case when new.batch_id is distinct from old.batch_id then new.batch_id else s.batch_id end,
         request_id = case when new.request_id is distinct from old.request_id then new.request_id else s.request_id end,
         entity_external_id = case when new.entity_external_id is distinct from old.entity_external_id then new.entity_external_id else s.entity_external_id end,
         validation_status = case when new.validation_status is distinct from old.validation_status then new.validation_status else s.validation_status end,
         validation_errors = case when new.validation_errors is distinct from old.validation_errors then new.validation_errors else s.validation_errors end,
         validation_warnings = case when new.validation_warnings is distinct from old.validation_warnings then new.validation_warnings else s.validation_warnings end,
         created_at = case when new.created_at is distinct from old.created_at then new.created_at else s.created_at end,
         updated_at = case when new.updated_at is distinct from old.updated_at then new.updated_at else s.updated_at end,
         -- A promotion that inserted all lines of the type did not mark this one (inserted_types): its marks are written with the first change.
         processing_action = case when v_unmarked or new.processing_action is distinct from old.processing_action then new.processing_action else s.processing_action end,
         processed_at = case when v_unmarked or new.processed_at is distinct from old.processed_at then new.processed_at else s.processed_at end,
         target_internal_id = case when v_unmarked or new.target_internal_id is distinct from old.target_internal_id then new.target_internal_id else s.target_internal_id end
   where upload_id = new.upload_id and row_type = new.row_type and row_number = new.row_number
   returning updated_at into new.updated_at;
  return case when found then new end;
end $$;

create or replace trigger staging_rows_are_written_through instead of insert or update or delete on public.staging_rows
  for each row execute function iu_core.fn_staging_rows_write();

-- Sets updated_at to the time of the write, whatever the statement says. A BEFORE trigger, so that RETURNING and other triggers
-- see it. Our own statements set it to now(), so bulk writes evaluate only the condition.
create or replace function iu_core.fn_ingest_set_updated_at() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.updated_at := now();
  return new;
end $$;

create or replace trigger staging_rows_updated_at before update on iu_core.ingest_staged_row
  for each row when (new.updated_at is distinct from now()) execute function iu_core.fn_ingest_set_updated_at();
create or replace trigger staging_id_resolution_updated_at before update on public.staging_id_resolution
  for each row when (new.updated_at is distinct from now()) execute function iu_core.fn_ingest_set_updated_at();

-- The limits of a workspace: its own, or the default; NULL: the default.
create or replace function iu_core.fn_ingest_limits(p_workspace_id uuid) returns iu_core.ingest_limit
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select l from iu_core.ingest_limit l
   where workspace_id = p_workspace_id or workspace_id is null
   order by workspace_id nulls last limit 1
$$;

grant execute on function iu_core.fn_ingest_limits(uuid) to
  authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- Locks an upload and returns it. Raises if it is in none of the given statuses. Internal.
create or replace function iu_core.fn_ingest_lock(p_upload_id uuid, p_states text[], p_to_be text)
returns iu_core.ingest_upload
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id for update;
  if u.status <> all (p_states) then
    raise exception using
      errcode = 'SD602',
      message = case when u.status = p_to_be then format('Upload %s is already %s', p_upload_id, u.status)
                     when p_to_be = 'undone' then format('Upload %s is %s and was never promoted: there is nothing to undo', p_upload_id, u.status)
                     else format('Upload %s is %s and cannot be %s', p_upload_id, u.status, p_to_be) end,
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', p_to_be)::text;
  end if;
  return u;
end $$;

-- Locks the upload that a reader holds. Raises reader_replaced if the upload was failed meanwhile, so that the reader changes
-- nothing. Internal.
create or replace function iu_core.fn_ingest_lock_for_reader(p_upload_id uuid, p_token uuid) returns iu_core.ingest_upload
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
begin
  select * into u from iu_core.ingest_upload
   where upload_id = p_upload_id and status = 'reading' and reader_token = p_token for update;
  if not found then
    perform iu_core.fn_ingest_raise_replaced(p_upload_id);
  end if;
  return u;
end $$;

-- Writes the status of an upload to the user's table that the dataset names (public.data_uploads). The search path includes
-- public, so that the triggers of that table find what they call by plain names. Internal.
create or replace function iu_core.fn_ingest_notify_uploads_table(p_upload_id uuid, p_status text, p_row_count bigint)
returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_table regclass;
begin
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  select to_regclass(definition ->> 'uploads') into v_table from iu_core.ingest_dataset where dataset = u.dataset;
  -- A dry run is not written to the user's table.
  if v_table is null or u.run_mode = 'FULL_DRY_RUN' then
    return;
  end if;
  if p_status = 'again' then
    execute format('update %s set status = $2 where id = $1', v_table) using u.upload_id, 'pending';
  elsif p_status = 'pending' then
    execute format('insert into %s (id, workspace_id, client_id, platform, file_name, status) values ($1, $2, $3, $4, $5, $6)', v_table)
      using u.upload_id, u.workspace_id, u.client_id, u.platform, u.file_name, p_status;
  else
    begin
      execute format('update %s set status = $2, row_count = coalesce($3, row_count) where id = $1', v_table)
        using u.upload_id, p_status, p_row_count;
    exception when check_violation or invalid_text_representation or datatype_mismatch then
      -- The user's table may not accept the status undone; that must not fail the undo.
      if p_status <> 'undone' then
        raise;
      end if;
      execute format('update %s set status = $2, row_count = coalesce($3, row_count) where id = $1', v_table)
        using u.upload_id, 'failed', p_row_count;
    end;
  end if;
end $$;

-- The workspace of an upload that the caller may see. Another workspace's upload gives the same error as a missing one.
-- Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_ingest_upload_workspace(p_upload_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_role text;
begin
  select workspace_id,
         case when iu_core.fn_caller_is_service() then 'service'
              else iu_core.fn_member_role(workspace_id, iu_core.fn_actor()) end
    into v_workspace, v_role
    from iu_core.ingest_upload where upload_id = p_upload_id;
  -- An agent knows of its own uploads only.
  if v_role is null
     or ((v_role = 'agent' or iu_core.fn_caller_role() = 'stagedoor_agent')
         and not exists (select from iu_core.ingest_upload
                          where upload_id = p_upload_id and uploaded_by = iu_core.fn_actor())) then
    raise exception using
      errcode = 'SD601',
      message = format('There is no upload %s', coalesce(p_upload_id::text, 'NULL')),
      detail = json_build_object('upload', p_upload_id)::text;
  end if;
  return v_workspace;
end $$;

-- Uploads as people list them: with their plan, review and promotion.
create or replace view iu_core.v_ingest_upload with (security_invoker = true) as
  select u.upload_id, u.workspace_id, u.client_id, u.dataset, u.platform, u.file_name, u.file_hash, u.byte_len, u.run_mode,
         u.status, u.options, u.reading, u.notes, u.line_count, u.valid_count, u.invalid_count, u.skipped_count, u.warning_count, u.left_out,
         coalesce(m.control, p.control, u.control) as control, coalesce(p.repeated_keys, u.repeated_keys) as repeated_keys,
         coalesce(p.notes, '[]') as plan_notes,
         u.progress, u.error, u.cursor_name, u.cursor_value, u.uploaded_by, u.uploaded_via, u.changed_by, u.created_at,
         u.staged_at, u.read_ms, u.ended_at,
         p.digest as plan_digest, p.gate_mode, p.threshold, p.totals as plan_totals, p.refusal as plan_refusal, p.planned_by,
         p.planned_at, p.took_ms as plan_took_ms, p.review_record_id, d.approval_required,
         -- not_submitted, pending, approved, rejected, expired; NULL: nothing to approve.
         case when u.status <> 'planned' or not d.approval_required then null
              when r.staging_record_id is null then 'not_submitted'
              when r.lifecycle_status in ('pending', 'approved') and r.expires_at <= clock_timestamp() then 'expired'
              else r.lifecycle_status end as review_status,
         r.rejected_reason as review_reason,
         coalesce(m.approved_by, r.approved_by) as approved_by, coalesce(m.approved_at, r.approved_at) as approved_at, m.promoted_by, m.promoted_at, m.totals as promotion_totals, m.undo_until, m.undone_by,
         m.undone_at, m.undo_reason, m.undo_totals, p.snapshot as plan_snapshot,
         -- Promotions that failed: the newest twenty, and how many there are in all.
         (select coalesce(jsonb_agg(jsonb_build_object('plan_digest', f.plan_digest, 'tried_by', f.tried_by, 'tried_via', f.tried_via,
                                                       'failed_at', f.failed_at, 'error', f.error) order by f.failure_id desc), '[]')
            from (select * from iu_core.ingest_promotion_failure x where x.upload_id = u.upload_id
                   order by x.failure_id desc limit 20) f) as promotion_failures,
         (select count(*)::integer from iu_core.ingest_promotion_failure x where x.upload_id = u.upload_id) as promotion_failure_count,
         (select c.number from iu_core.change c where c.subject_id = u.upload_id and c.kind = 'upload') as change,
         -- Checks over all lines and the steps of the plan, with the time that each took.
         u.check_steps || coalesce(p.steps, '[]') as steps, u.own_totals,
         -- Everybody who approved the plan, with the time.
         iu_core.fn_change_approvers(u.upload_id) as approvers,
         -- Whose values count where production had moved on, as somebody said, newest first.
         (select coalesce(jsonb_agg(jsonb_build_object('answer', a.answer, 'cells', a.cells, 'rows', a.row_count, 'columns', a.columns,
                                                       'answered_by', a.answered_by, 'answered_via', a.answered_via, 'answered_at', a.answered_at)
                                    order by a.answer_id desc), '[]')
            from (select * from iu_core.ingest_conflict_answer x where x.upload_id = u.upload_id order by x.answer_id desc limit 20) a) as conflict_answers,
         -- The upload failed, and its file is kept until then: it can be read again.
         (select g.kept_until from iu_core.ingest_reading g where g.upload_id = u.upload_id) as file_kept_until,
         (select c.title from iu_core.change c where c.subject_id = u.upload_id and c.kind = 'upload') as title,
         -- Of a pull request in SQL; NULL: it is a file.
         (select jsonb_build_object('statement', s.statement, 'operation', s.operation, 'target', s.target, 'took_ms', s.took_ms, 'locked_ms', s.locked_ms)
            from iu_core.ingest_proposal s where s.upload_id = u.upload_id) as proposal
    from iu_core.ingest_upload u
    join iu_core.ingest_dataset d on d.dataset = u.dataset
    left join iu_core.ingest_plan p on p.upload_id = u.upload_id
    left join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
    left join iu_core.ingest_promotion m on m.upload_id = u.upload_id;

grant select on iu_core.v_ingest_upload to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
