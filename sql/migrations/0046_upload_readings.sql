-- Reading an upload is a job: what remains to be done for an upload after its file was received, and files that nobody needs any more.

-- A row from the moment at which the file is in a store until the upload is staged, planned or submitted as it was asked for. Of an
-- upload whose attempts were used up it stays with its file, so that a person can have it read again.
create table iu_core.ingest_reading (
  upload_id uuid primary key constraint ingest_reading_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  file_ref text not null constraint ingest_reading_file_once unique
    constraint ingest_reading_file_form check (file_ref ~ '^[a-z0-9]+:[0-9a-f]{32}\.[0-9a-f]{64}$'),
  -- Which store of which machine or bucket: only processes that share it take the job.
  store text not null constraint ingest_reading_store_form check (store ~ '^[a-z0-9]+\.[a-z0-9-]{1,40}$'),
  until text not null constraint ingest_reading_until_known check (until in ('staged', 'planned', 'submitted')),
  plan jsonb not null default '{}' constraint ingest_reading_plan_object check (jsonb_typeof(plan) = 'object'),
  request_id uuid not null,
  -- Changes with every attempt: whoever has an older one writes nothing.
  token uuid not null default gen_random_uuid(),
  -- NULL: the process that received the file reads it itself.
  job_id uuid,
  -- Why the last attempt failed, while there are others.
  last_error jsonb,
  -- The upload failed, and its file is kept until then.
  kept_until timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index ingest_reading_kept on iu_core.ingest_reading (kept_until) where kept_until is not null;

-- Seen with its upload, without the token and without the reference of the file.
alter table iu_core.ingest_reading enable row level security;
create policy ingest_reading_with_its_upload on iu_core.ingest_reading for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select (upload_id, store, until, job_id, last_error, kept_until, created_at) on iu_core.ingest_reading
  to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

-- Files of uploads that nobody needs: whichever process shares the store deletes them.
create table iu_core.ingest_file_trash (
  file_ref text primary key,
  store text not null,
  trashed_at timestamptz not null default clock_timestamp()
);
create index ingest_file_trash_by_store on iu_core.ingest_file_trash (store, trashed_at);
alter table iu_core.ingest_file_trash enable row level security;
create policy ingest_file_trash_service_reads on iu_core.ingest_file_trash for select to dot_executor, service_role using (true);
grant select on iu_core.ingest_file_trash to dot_executor, service_role;
