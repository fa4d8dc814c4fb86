-- A worker that waits may say that it claims a job by its id: then the notification of an enqueue names the job. Workers of the version
-- before hear of the kind alone, as they know it.
alter table iu_core.worker_idle add column takes_ids boolean not null default false;
