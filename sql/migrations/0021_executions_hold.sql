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

-- Commands under which engines keep dying; few. Lease columns are in no index, and not in this one.
create index command_suspect on noetl.command (process_after) where crashes >= 3;

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

-- An item is handed out once, as a command is issued once.
create unique index uidx_event_loop_item_issued on noetl.event (execution_id, (meta ->> 'loop_id'), current_index)
  where event_type in ('loop.item', 'loop.shard.enqueued');

comment on column noetl.result_ref.physical_uri is
  'Where the bytes are, as a URI: db:noetl.result_body/<ref_id>, disk:results/<execution_id>/<ref_id>.json (below STAGEDOOR_HOME), '
  'eventlog:noetl.event/<loop_id> (in the log until first read). The log itself names a result as stagedoor://results/<ref_id>.';
comment on column noetl.event.event_type is
  'workflow.initialized, workflow.completed and workflow.failed are accepted and folded like playbook.*, for logs that others wrote. '
  'Engines do not emit them: an execution runs one playbook, and playbook.* says the same.';
