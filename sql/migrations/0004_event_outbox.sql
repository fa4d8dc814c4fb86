-- The event outbox: signals, never data, read in commit order.

create table iu_core.event_domain (
  event_domain text primary key,
  description text not null
);
insert into iu_core.event_domain values
  ('iu', 'information units'),
  ('piece', 'pieces of units: order and lifecycle'),
  ('staging', 'held data: records and ingestion'),
  ('birth_registry', 'births of entities'),
  ('governance', 'policies and reviews'),
  ('tac', 'topics and classification'),
  ('kg', 'the knowledge graph'),
  ('system', 'Stagedoor itself'),
  ('dot', 'command runs'),
  ('health', 'health findings'),
  ('iu_sql', 'SQL events that fit no other domain');

create table iu_core.event_vocabulary (
  event_domain text not null references iu_core.event_domain (event_domain),
  event_type text not null constraint event_vocabulary_type_form check (event_type ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$'),
  description text not null,
  primary key (event_domain, event_type)
);
insert into iu_core.event_vocabulary values
  ('system', 'gate_changed', 'a configuration gate was opened or closed'),
  ('system', 'issue_resolved', 'a system issue was resolved'),
  ('dot', 'run.applied', 'a command run ended well'),
  ('dot', 'run.failed', 'a command run failed'),
  ('staging', 'record_created', 'a staging record was created'),
  ('staging', 'record_approved', 'a staging record was approved'),
  ('staging', 'record_rejected', 'a staging record was rejected or withdrawn'),
  ('staging', 'record_consumed', 'a staging record was consumed by a run'),
  ('staging', 'record_expired', 'a staging record passed its expiry'),
  ('staging', 'record_cleaned', 'the payload of an ended staging record was deleted'),
  ('staging', 'ingestion_complete', 'an upload was promoted'),
  ('staging', 'ingestion_undone', 'a promotion was undone'),
  ('piece', 'piece_reordered', 'pieces changed their order'),
  ('piece', 'piece_deprecated', 'a piece was retired'),
  ('piece', 'lifecycle_changed', 'a piece changed its lifecycle status'),
  ('birth_registry', 'entity_born', 'an entity was born');

create sequence iu_core.event_outbox_seq as bigint;

-- id: time-ordered, so that partitions by time keep a primary key of their own on it.
-- tx: the writing transaction; readers take what became visible since their last snapshot (fn_event_read).
-- seq: the order of events within one transaction.
create table iu_core.event_outbox (
  id uuid not null default iu_core.fn_time_uuid(),
  tx xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('iu_core.event_outbox_seq'),
  event_domain text not null,
  event_type text not null,
  event_stream text,
  event_subject_ref text,
  canonical_address text,
  workspace_id uuid,
  correlation_id uuid not null,
  causation_event_id uuid,
  causation_depth smallint not null default 0 constraint event_outbox_depth_not_negative check (causation_depth >= 0),
  actor text not null,
  actor_via text,
  safe_payload jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  primary key (id)
) partition by range (id);
alter sequence iu_core.event_outbox_seq owned by iu_core.event_outbox.seq;
create index event_outbox_tx_seq on iu_core.event_outbox (tx, seq);

-- One row for each independent reader. seen: everything visible in it has been delivered.
-- target and cursor: a window that is being read in pages.
create table iu_core.event_reader (
  reader text primary key constraint event_reader_name_form check (reader ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  seen pg_snapshot not null,
  target pg_snapshot,
  cursor_tx xid8,
  cursor_seq bigint,
  events_read bigint not null default 0,
  registered_at timestamptz not null default now(),
  read_at timestamptz,
  constraint event_reader_window_whole check (num_nulls(target, cursor_tx, cursor_seq) in (0, 3))
);

alter table iu_core.event_domain enable row level security;
create policy event_domain_everyone_reads on iu_core.event_domain for select using (true);
alter table iu_core.event_vocabulary enable row level security;
create policy event_vocabulary_everyone_reads on iu_core.event_vocabulary for select using (true);
grant select on iu_core.event_domain, iu_core.event_vocabulary to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

alter table iu_core.event_outbox enable row level security;
-- What Stagedoor says of itself (a gate was opened) belongs to no workspace and concerns everybody.
create policy event_outbox_member_reads on iu_core.event_outbox for select
  to authenticated, stagedoor_agent, stagedoor_reviewer
  using (workspace_id in (select iu_core.fn_my_workspaces()) or (workspace_id is null and event_domain = 'system'));
create policy event_outbox_service_reads on iu_core.event_outbox for select to service_role, dot_executor using (true);
grant select on iu_core.event_outbox to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;

alter table iu_core.event_reader enable row level security;
create policy event_reader_service_reads on iu_core.event_reader for select to service_role, dot_executor using (true);
grant select on iu_core.event_reader to service_role, dot_executor;
