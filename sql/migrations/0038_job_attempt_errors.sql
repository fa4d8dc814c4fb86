-- What each failed attempt of a job said, the last twenty of them. Null until one fails, so that jobs that do not fail pay nothing.
-- Written by fn_job_end_attempt alone, which bounds the length of each error.
alter table iu_core.job_queue add column attempt_errors jsonb
  constraint job_queue_attempt_errors_bounded check (jsonb_array_length(attempt_errors) <= 20);
alter table iu_core.job_dead_letter add column attempt_errors jsonb
  constraint job_dead_letter_attempt_errors_bounded check (jsonb_array_length(attempt_errors) <= 20);
alter table iu_core.job_history add column attempt_errors jsonb;
