-- A crash is charged to the jobs that had begun, and a job with a crash behind it is claimed alone.

-- Whether the worker that leases the job has begun it, or may begin it without another word. Set by the claim or by
-- fn_job_begin, before the handler runs. In no index, like all lease columns.
alter table iu_core.job_queue add column begun boolean not null default false;
update iu_core.job_queue set begun = true where leased_by is not null;

-- Suspects: jobs whose worker died under them. Few, so that asking for them costs a claim one step in an empty index.
create index job_queue_suspect on iu_core.job_queue (job_kind, executor, urgency, process_after) where crashes > 0;

-- The suspect that a worker has in hand: at most one.
create table iu_core.job_alone (
  worker_id uuid primary key,
  job_id uuid not null,
  crashes smallint not null,
  since timestamptz not null default clock_timestamp()
);
alter table iu_core.job_alone enable row level security;
create policy job_alone_service_reads on iu_core.job_alone for select to service_role, dot_executor using (true);
grant select on iu_core.job_alone to service_role, dot_executor;
