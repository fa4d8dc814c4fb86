-- Executions: what waits for a handler is known and told.

-- Handlers that due commands call and that no running process has, and since when. A row goes when one has them again, or when
-- nothing waits for them any more; its issue is resolved with it.
create table noetl.missing_handler (
  needs text[] primary key,
  since timestamptz not null default clock_timestamp(),
  issue_id uuid
);
alter table noetl.missing_handler enable row level security;
create policy missing_handler_service_reads on noetl.missing_handler for select to service_role, dot_executor using (true);
grant select on noetl.missing_handler to service_role, dot_executor;
comment on table noetl.missing_handler is
  'Handlers that due commands call and that no running process has: since when, and the system issue that says so.';
