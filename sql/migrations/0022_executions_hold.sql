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

-- A wait for an event also hears what came before it, from this time on; null: only what is committed after it began.
alter table noetl.wait add column since_at timestamptz;

-- Events that a wait of an execution was woken by: waits of it that begin later do not hear them again.
create table noetl.wait_heard (
  execution_id bigint not null,
  event_id uuid not null,
  primary key (execution_id, event_id)
);
alter table noetl.wait_heard enable row level security;
create policy wait_heard_service_reads on noetl.wait_heard for select to service_role, dot_executor using (true);
grant select on noetl.wait_heard to service_role, dot_executor;
comment on table noetl.wait_heard is
  'Events that steps of an execution were woken by, until it has ended: no later wait of the same execution hears them again.';

-- What a wait looks through when it begins: events of its type, about its subject where it names one, since a time.
create index event_outbox_awaited on iu_core.event_outbox (event_domain, event_type, event_subject_ref, id);
