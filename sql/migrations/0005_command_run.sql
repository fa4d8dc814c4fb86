-- What ran, for whom, with which input: every command that changes something leaves one row.

create table iu_core.dot_iu_command_run (
  run_id uuid primary key default iu_core.fn_time_uuid(),
  command text not null constraint dot_iu_command_run_command_not_blank check (btrim(command) <> ''),
  workspace_id uuid,
  actor text not null,
  actor_via text,
  status text not null default 'running'
    constraint dot_iu_command_run_status_known check (status in ('running', 'applied', 'failed')),
  input_digest text
    constraint dot_iu_command_run_digest_sha256 check (input_digest ~ '^[0-9a-f]{64}$'),
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  error text,
  constraint dot_iu_command_run_finished_when_ended check ((status = 'running') = (finished_at is null)),
  constraint dot_iu_command_run_error_when_failed check ((status = 'failed') = (error is not null))
);

alter table iu_core.dot_iu_command_run enable row level security;
create policy dot_iu_command_run_member_reads on iu_core.dot_iu_command_run for select
  to authenticated, stagedoor_agent, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy dot_iu_command_run_service_reads on iu_core.dot_iu_command_run for select
  to service_role, dot_executor using (true);
grant select on iu_core.dot_iu_command_run to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
