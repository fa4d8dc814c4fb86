-- Reading an upload as a job: queued with its file, taken by a process that shares the store, taken again when that process dies.

-- Records where the file of an upload is and how far the upload is to go; in the transaction of fn_ingest_begin, by the caller that got
-- the token. p_enqueue: a job reads it (returns the job); else the caller does, and the token stays valid.
create or replace function iu_core.fn_ingest_queue_reading(
  p_upload_id uuid, p_token uuid, p_file_ref text, p_store text, p_until text, p_plan jsonb, p_request_id uuid, p_enqueue boolean
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_job uuid;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  u := iu_core.fn_ingest_lock_for_reader(p_upload_id, p_token);
  if p_file_ref is null or right(p_file_ref, 64) <> u.file_hash then
    raise exception using errcode = 'SD001', message = 'The reference of the file does not name the sha-256 of the upload';
  end if;
  insert into iu_core.ingest_reading (upload_id, file_ref, store, until, plan, request_id, token)
  values (p_upload_id, p_file_ref, p_store, p_until, coalesce(p_plan, '{}'), p_request_id, p_token);
  if not p_enqueue then
    return null;
  end if;
  v_job := iu_core.fn_ingest_reading_enqueue(u, p_store);
  -- Nobody has the new token, until a process takes the job.
  update iu_core.ingest_reading set job_id = v_job, token = gen_random_uuid() where upload_id = p_upload_id;
  update iu_core.ingest_upload set reader_token = gen_random_uuid(), reader_seen_at = null where upload_id = p_upload_id;
  return v_job;
end $$;

grant execute on function iu_core.fn_ingest_queue_reading(uuid, uuid, text, text, text, jsonb, uuid, boolean)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Enqueues the job that reads an upload. Its kind names the store. Internal.
create or replace function iu_core.fn_ingest_reading_enqueue(u iu_core.ingest_upload, p_store text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job iu_core.job_queue;
begin
  v_job.job_kind := iu_core.fn_ingest_reading_kind(p_store);
  v_job.target_ref := u.upload_id::text;
  v_job.workspace_id := u.workspace_id;
  v_job.actor := u.uploaded_by;
  v_job.actor_via := u.uploaded_via;
  return iu_core.fn_job_put_one(v_job);
end $$;

-- The kind of job that reads files of this store, registered with its settings: a file that ends five processes is given up.
create or replace function iu_core.fn_ingest_reading_kind(p_store text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text := 'upload_read:' || p_store;
begin
  if not exists (select from iu_core.job_kind where job_kind = v_kind) then
    insert into iu_core.job_kind (job_kind, description, max_attempts, max_crashes, backoff, max_backoff)
    values (v_kind, 'Reads uploaded files of the store ' || p_store, 5, 5, '2 seconds', '1 minute')
    on conflict do nothing;
  end if;
  return v_kind;
end $$;

grant execute on function iu_core.fn_ingest_reading_kind(text) to dot_executor, service_role;

-- A process begins the job: what there is to read, under a new token, so that whoever read it before writes nothing any more. What an
-- earlier attempt had staged is deleted. NULL: nothing remains to be done. last: no further attempt follows if this one fails.
create or replace function iu_core.fn_ingest_reading_take(p_upload_id uuid, p_job_id uuid, p_epoch integer) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  r iu_core.ingest_reading;
  v_last boolean;
  v_token uuid := gen_random_uuid();
begin
  select q.attempts >= k.max_attempts into v_last
    from iu_core.job_queue q join iu_core.job_kind k on k.job_kind = q.job_kind
   where q.job_id = p_job_id and q.lease_epoch = p_epoch and q.leased_by is not null and q.target_ref = p_upload_id::text
     for share of q;
  if not found then
    perform iu_core.fn_ingest_raise_replaced(p_upload_id);
  end if;
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id for update;
  select * into r from iu_core.ingest_reading where upload_id = p_upload_id and job_id = p_job_id for update;
  if r.upload_id is null then
    return null;
  end if;
  if u.status not in ('reading', 'staged', 'planned') then
    delete from iu_core.ingest_reading where upload_id = p_upload_id;
    return null;
  end if;
  update iu_core.ingest_reading set token = v_token where upload_id = p_upload_id;
  if u.status = 'reading' then
    delete from iu_core.ingest_staged_row where upload_id = p_upload_id;
    update iu_core.ingest_upload set reader_token = v_token, reader_seen_at = clock_timestamp(), progress = null
     where upload_id = p_upload_id;
  end if;
  return jsonb_build_object('status', u.status, 'file_ref', r.file_ref, 'store', r.store, 'byte_len', u.byte_len, 'until', r.until, 'plan', r.plan,
                            'request_id', r.request_id, 'uploaded_by', u.uploaded_by, 'reader_token', v_token, 'last', v_last);
end $$;

grant execute on function iu_core.fn_ingest_reading_take(uuid, uuid, integer) to dot_executor, service_role;

-- Locks the reading until the end of the transaction. Raises if another process has taken it, or if the upload was cancelled: what
-- is written in this transaction counts only if this reader is still the one.
create or replace function iu_core.fn_ingest_reading_require(p_upload_id uuid, p_token uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from iu_core.ingest_upload where upload_id = p_upload_id for update;
  perform from iu_core.ingest_reading where upload_id = p_upload_id and token = p_token for update;
  if not found then
    perform iu_core.fn_ingest_raise_replaced(p_upload_id);
  end if;
end $$;

grant execute on function iu_core.fn_ingest_reading_require(uuid, uuid) to service_role;

-- An attempt failed. p_outcome: retry (the job comes again), keep (the upload fails, and its file is kept for a retry by a person), or
-- fail (the upload fails; the file itself is wrong, and reading it again would not help).
create or replace function iu_core.fn_ingest_reading_failed(p_upload_id uuid, p_token uuid, p_error jsonb, p_outcome text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token uuid := gen_random_uuid();
  v_status text;
begin
  if p_outcome is null or p_outcome not in ('retry', 'keep', 'fail') then
    raise exception using errcode = 'SD001', message = 'The outcome of a failed reading is one of retry, keep, fail';
  end if;
  perform iu_core.fn_ingest_reading_require(p_upload_id, p_token);
  select status into v_status from iu_core.ingest_upload where upload_id = p_upload_id;
  if p_outcome = 'retry' then
    update iu_core.ingest_reading set token = v_token, last_error = p_error where upload_id = p_upload_id;
    if v_status = 'reading' then
      delete from iu_core.ingest_staged_row where upload_id = p_upload_id;
      update iu_core.ingest_upload
         set reader_token = v_token, reader_seen_at = null,
             progress = jsonb_build_object('stage', 'read', 'done', 0, 'total', 0, 'problem', left(p_error ->> 'message', 500))
       where upload_id = p_upload_id;
    end if;
    return;
  end if;
  if v_status = 'reading' then
    perform iu_core.fn_ingest_set_failed(p_upload_id, p_error);
  end if;
  perform iu_core.fn_ingest_reading_close(p_upload_id, p_outcome = 'keep' and v_status = 'reading');
end $$;

grant execute on function iu_core.fn_ingest_reading_failed(uuid, uuid, jsonb, text) to service_role;

-- Everything that was asked for is done.
create or replace function iu_core.fn_ingest_reading_end(p_upload_id uuid, p_token uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_reading_require(p_upload_id, p_token);
  perform iu_core.fn_ingest_reading_close(p_upload_id, false);
end $$;

grant execute on function iu_core.fn_ingest_reading_end(uuid, uuid) to service_role;

-- Ends a reading. p_keep: its file stays for a week, so that it can be read again. Internal.
create or replace function iu_core.fn_ingest_reading_close(p_upload_id uuid, p_keep boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_keep then
    update iu_core.ingest_reading set job_id = null, token = gen_random_uuid(), kept_until = clock_timestamp() + interval '7 days'
     where upload_id = p_upload_id;
  else
    delete from iu_core.ingest_reading where upload_id = p_upload_id;
  end if;
end $$;

-- Reads the kept file of a failed upload once more: failed → reading, as a new job.
create or replace function iu_core.fn_ingest_retry(p_upload_id uuid, p_retried_by text default null) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  r iu_core.ingest_reading;
  v_limit iu_core.ingest_limit;
  v_reading integer;
  v_job uuid;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  perform iu_core.fn_actor_for(p_retried_by);
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.ingest.begin.' || u.workspace_id, 0));
  u := iu_core.fn_ingest_lock(p_upload_id, array['failed'], 'read again');
  select * into r from iu_core.ingest_reading where upload_id = p_upload_id and kept_until is not null for update;
  if r.upload_id is null then
    raise exception using errcode = 'SD615', message = format('The file of upload %s is not kept', p_upload_id),
      detail = json_build_object('upload', p_upload_id)::text;
  end if;
  v_limit := iu_core.fn_ingest_limits(u.workspace_id);
  select count(*) into v_reading from iu_core.ingest_upload o where o.workspace_id = u.workspace_id and o.status = 'reading';
  if v_reading >= v_limit.max_at_once then
    raise exception using errcode = 'SD613', message = format('%s uploads of this workspace are being read already', v_reading),
      detail = json_build_object('limit', v_limit.max_at_once)::text;
  end if;
  v_job := iu_core.fn_ingest_reading_enqueue(u, r.store);
  begin
    update iu_core.ingest_upload
       set status = 'reading', error = null, ended_at = null, progress = null, reader_token = gen_random_uuid(), reader_seen_at = null
     where upload_id = p_upload_id;
  exception when unique_violation then
    raise exception using errcode = 'SD602', message = format('Upload %s cannot be read again: the same file was uploaded once more', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', 'read again')::text;
  end;
  update iu_core.ingest_reading set job_id = v_job, token = gen_random_uuid(), kept_until = null, last_error = null where upload_id = p_upload_id;
  perform iu_core.fn_ingest_notify_uploads_table(p_upload_id, 'again', null);
  return v_job;
end $$;

grant execute on function iu_core.fn_ingest_retry(uuid, text)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Readings that nobody continues. An upload whose own process is silent for a minute goes to a job, if a living process shares the
-- store, and fails otherwise. One whose job is gone (dead letter, cancelled) fails, and its file is kept. Files that were kept long
-- enough are given up. Returns how many uploads failed. Internal, and for maintenance.
create or replace function iu_core.fn_ingest_fail_stalled(p_workspace_id uuid default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  r iu_core.ingest_reading;
  v_cancelled boolean;
  v_job uuid;
  v_count integer := 0;
begin
  for u in
    select o.* from iu_core.ingest_upload o left join iu_core.ingest_reading g on g.upload_id = o.upload_id
     where o.status = 'reading' and (p_workspace_id is null or o.workspace_id = p_workspace_id)
       and case when g.job_id is null then o.reader_seen_at < clock_timestamp() - interval '1 minute'
                else not exists (select from iu_core.job_queue q where q.job_id = g.job_id) end
     order by o.upload_id for update of o skip locked
  loop
    select * into r from iu_core.ingest_reading where upload_id = u.upload_id for update;
    if r.job_id is null then
      if exists (select from iu_core.job_worker w
                  where 'upload_read:' || r.store = any (w.kinds) and w.leased_until > clock_timestamp()) then
        v_job := iu_core.fn_ingest_reading_enqueue(u, r.store);
        update iu_core.ingest_reading set job_id = v_job, token = gen_random_uuid() where upload_id = u.upload_id;
        update iu_core.ingest_upload set reader_token = gen_random_uuid(), reader_seen_at = null where upload_id = u.upload_id;
        continue;
      end if;
      perform iu_core.fn_ingest_set_failed(
        u.upload_id, '{"code": "reader_gone", "message": "The process that read this file ended before it was done.", "hint": "Upload the file again."}');
      perform iu_core.fn_ingest_reading_close(u.upload_id, false);
    elsif not exists (select from iu_core.job_queue q where q.job_id = r.job_id) then
      v_cancelled := not exists (select from iu_core.job_dead_letter d where d.job_id = r.job_id);
      perform iu_core.fn_ingest_set_failed(u.upload_id, jsonb_build_object(
        'code', case when v_cancelled then 'upload_interrupted' else 'reader_gone' end,
        'message', case when v_cancelled then 'The job that read this file was cancelled.'
                        else 'The processes that read this file ended before they were done, one after the other.' end,
        'hint', format('`stagedoor upload retry %s` reads it again.', u.upload_id)
                || case when v_cancelled then '' else ' If that fails as well, split the file or give the process more memory.' end));
      perform iu_core.fn_ingest_reading_close(u.upload_id, true);
    end if;
    v_count := v_count + 1;
  end loop;
  -- Read, and the plan was left to a job that is gone.
  for u in
    select o.* from iu_core.ingest_reading g join iu_core.ingest_upload o on o.upload_id = g.upload_id
     where o.status <> 'reading' and (p_workspace_id is null or o.workspace_id = p_workspace_id)
       and case when g.job_id is null then coalesce(g.kept_until < clock_timestamp(), true)
                else not exists (select from iu_core.job_queue q where q.job_id = g.job_id) end
     order by o.upload_id for update of o skip locked
  loop
    if u.status = 'staged' then
      update iu_core.ingest_upload set error =
        '{"code": "reader_gone", "message": "The process that planned this file ended before it was done.", "hint": "Plan the upload."}'
       where upload_id = u.upload_id;
    end if;
    perform iu_core.fn_ingest_reading_close(u.upload_id, false);
  end loop;
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_fail_stalled(uuid) to service_role, dot_executor;

-- Raises reader_replaced. Internal.
create or replace function iu_core.fn_ingest_raise_replaced(p_upload_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD612',
    message = format('Upload %s is no longer read by this process', p_upload_id),
    detail = json_build_object('upload', p_upload_id)::text;
end $$;

-- The file of a reading that ended is of no use: whichever process shares the store deletes it.
create or replace function iu_core.fn_ingest_reading_trash_file() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_file_trash (file_ref, store) values (old.file_ref, old.store) on conflict do nothing;
  return null;
end $$;

create or replace trigger ingest_reading_trashes_file after delete on iu_core.ingest_reading
  for each row execute function iu_core.fn_ingest_reading_trash_file();

-- Takes files out of the trash for a process that shares these stores. In one transaction: take, delete from the store, commit.
create or replace function iu_core.fn_ingest_files_claim(p_stores text[], p_limit integer default 100) returns setof text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from iu_core.ingest_file_trash t
   where t.file_ref in (select c.file_ref from iu_core.ingest_file_trash c where c.store = any (p_stores)
                         order by c.trashed_at limit p_limit for update skip locked)
  returning t.file_ref
$$;

grant execute on function iu_core.fn_ingest_files_claim(text[], integer) to dot_executor, service_role;

-- Puts those of the given files into the trash that no upload needs. Returns how many.
create or replace function iu_core.fn_ingest_files_trash(p_store text, p_file_refs text[]) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  insert into iu_core.ingest_file_trash (file_ref, store)
  select f, p_store from unnest(p_file_refs) f
   where not exists (select from iu_core.ingest_reading r where r.file_ref = f)
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_ingest_files_trash(text, text[]) to dot_executor, service_role;
