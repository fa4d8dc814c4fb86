-- What events set off: consumers that turn them into jobs, the log of who got what, and issues for people to look at.

-- Every domain has its types. Routes add theirs to iu_sql where none of these fits.
insert into iu_core.event_vocabulary values
  ('iu', 'unit_created', 'an information unit was created'),
  ('iu', 'unit_versioned', 'an information unit got a new version'),
  ('iu', 'unit_lifecycle_changed', 'an information unit changed its lifecycle status'),
  ('iu', 'unit_cut', 'a document was cut into units'),
  ('iu', 'edge_added', 'two units were connected'),
  ('iu', 'edge_removed', 'a connection between two units was taken away'),
  ('piece', 'piece_created', 'a piece was added to a unit'),
  ('piece', 'piece_edited', 'the text of a piece changed'),
  ('birth_registry', 'entity_retired', 'an entity was retired'),
  ('birth_registry', 'template_instantiated', 'a new entity got what its template prescribes'),
  ('governance', 'consumer_changed', 'a consumer of events was registered, reviewed, switched or removed'),
  ('governance', 'route_changed', 'a route of SQL events was registered, reviewed, switched or removed'),
  ('governance', 'policy_changed', 'a policy was changed'),
  ('governance', 'review_requested', 'something waits for a review'),
  ('governance', 'review_decided', 'a review ended with a decision'),
  ('tac', 'topic_assigned', 'something was put under a topic'),
  ('tac', 'topic_removed', 'something was taken from a topic'),
  ('tac', 'classification_changed', 'the classification of something changed'),
  ('kg', 'link_added', 'the knowledge graph got a link'),
  ('kg', 'link_removed', 'the knowledge graph lost a link'),
  ('kg', 'links_refreshed', 'links of the knowledge graph were computed anew'),
  ('system', 'issue_opened', 'a system issue was opened'),
  ('health', 'check_failed', 'a health check failed'),
  ('health', 'check_recovered', 'a health check that had failed is well again'),
  ('iu_sql', 'row_inserted', 'rows were inserted into a table'),
  ('iu_sql', 'row_updated', 'rows of a table were updated'),
  ('iu_sql', 'row_deleted', 'rows of a table were deleted'),
  ('iu_sql', 'table_truncated', 'a table was emptied'),
  ('iu_sql', 'procedure_called', 'a procedure was called'),
  ('iu_sql', 'ddl_executed', 'the definition of something was changed')
on conflict do nothing;

-- Which events become which jobs. disabled → dry run → reviewed by somebody else → active; the constraints and the
-- trigger fn_consumer_registry_guard hold for everybody, the owner's own statements included.
create table iu_core.consumer_registry (
  -- No colon in it: it is followed by one in the keys of its jobs.
  consumer_id text primary key constraint consumer_registry_id_form check (consumer_id ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  event_domain text not null,
  event_type text not null,
  event_stream text, -- NULL: every stream
  workspace_id uuid, -- NULL: events of every workspace
  job_kind text not null constraint consumer_registry_kind_form check (job_kind ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  executor iu_core.executor_name not null default 'PG_worker',
  idempotency_key_template text not null,
  payload_ref_template text,
  enabled boolean not null default false,
  dry_run boolean not null default true,
  fail_closed boolean not null default true,
  priority smallint not null default 0,
  -- An event deeper than this in a chain of causes is not passed on: somebody feeds themselves.
  max_depth smallint not null default 8 constraint consumer_registry_depth_sane check (max_depth between 0 and 1000),
  rate integer constraint consumer_registry_rate_some check (rate > 0),
  rate_period interval constraint consumer_registry_rate_period_some check (rate_period > '0'),
  notes text,
  registered_by text not null,
  registered_via text,
  registered_at timestamptz not null default now(),
  reviewed_by text,
  reviewed_via text,
  reviewed_at timestamptz,
  -- It gets what this snapshot does not show as committed. Set by the trigger when it is switched on.
  active_from pg_snapshot,
  activated_at timestamptz,

  constraint consumer_registry_event_known foreign key (event_domain, event_type)
    references iu_core.event_vocabulary (event_domain, event_type),
  constraint consumer_registry_match_once unique nulls not distinct (event_domain, event_type, event_stream, consumer_id),
  constraint consumer_registry_active_is_reviewed check (not enabled or dry_run or reviewed_by is not null),
  constraint consumer_registry_review_stamps_together check (
    (reviewed_by is null) = (reviewed_at is null) and (reviewed_by is not null or reviewed_via is null)),
  -- Neither the registrant, nor a service that is the registrant and names another, nor the service that registered it
  -- for somebody.
  constraint consumer_registry_four_eyes check (
    reviewed_by is null
    or (reviewed_by <> registered_by and reviewed_via is distinct from registered_by and reviewed_by is distinct from registered_via)),
  constraint consumer_registry_enabled_has_begun check (
    enabled = (active_from is not null) and enabled = (activated_at is not null)),
  constraint consumer_registry_rate_whole check ((rate is null) = (rate_period is null))
);
create index ix_consumer_registry_lookup on iu_core.consumer_registry (event_domain, event_type, event_stream)
  where enabled = true and dry_run = false;

-- Where a rate limit stands: used places since begun_at, rate of them in each period. Apart from the registry, because
-- the dispatcher writes it while an administrator may hold the consumer's row; for that reason no foreign key either.
create table iu_core.consumer_rate (
  consumer_id text primary key,
  begun_at timestamptz not null,
  used bigint not null
);

-- What each consumer did with each event. Partitions follow those of the outbox (fn_event_partitions_maintain).
-- No foreign keys: it outlives the consumer, and goes with the events.
create table iu_core.event_dispatch_log (
  event_id uuid not null,
  consumer_id text not null,
  outcome text not null constraint event_dispatch_log_outcome_known
    check (outcome in ('enqueued', 'duplicate', 'dry_run', 'failed', 'dead_letter', 'too_deep', 'deferred')),
  job_id uuid,
  detail jsonb,
  dispatched_at timestamptz not null default clock_timestamp(),
  primary key (event_id, consumer_id),
  constraint event_dispatch_log_job_when_enqueued check ((job_id is not null) = (outcome in ('enqueued', 'duplicate')))
) partition by range (event_id);
-- What did not simply go well is little: evidence of a dry run, what waits, what a person has to look at.
create index event_dispatch_log_remarkable on iu_core.event_dispatch_log (consumer_id, outcome, dispatched_at)
  where outcome not in ('enqueued', 'duplicate');
create index event_dispatch_log_deferred on iu_core.event_dispatch_log (dispatched_at) where outcome = 'deferred';

create table iu_core.system_issue (
  issue_id uuid primary key default iu_core.fn_time_uuid(),
  code text not null constraint system_issue_code_form check (code ~ '^[a-z][a-z0-9_.]{0,62}$'),
  severity text not null constraint system_issue_severity_known check (severity in ('info', 'warning', 'error', 'critical')),
  subject_ref text,
  title text not null constraint system_issue_title_not_blank check (title ~ '\S'),
  detail jsonb not null default '{}' constraint system_issue_detail_object check (jsonb_typeof(detail) = 'object'),
  workspace_id uuid,
  occurrences bigint not null default 1,
  opened_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz,
  resolved_by text,
  resolved_via text,
  resolution text,
  constraint system_issue_resolution_stamps_together check (
    (resolved_at is null) = (resolved_by is null) and (resolved_at is not null or num_nonnulls(resolved_via, resolution) = 0))
);
-- The same thing happening again is not a new issue.
create unique index system_issue_open_once on iu_core.system_issue (code, subject_ref) nulls not distinct
  where resolved_at is null;
create index system_issue_workspace on iu_core.system_issue (workspace_id, issue_id);

alter table iu_core.consumer_registry enable row level security;
-- One without a workspace is part of how this installation works, as a gate is; it shows nobody's data.
create policy consumer_registry_member_reads on iu_core.consumer_registry for select
  to authenticated, stagedoor_reviewer
  using (workspace_id is null or workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy consumer_registry_service_reads on iu_core.consumer_registry for select to service_role, dot_executor using (true);
grant select on iu_core.consumer_registry to authenticated, stagedoor_reviewer, service_role, dot_executor;

alter table iu_core.consumer_rate enable row level security;
create policy consumer_rate_service_reads on iu_core.consumer_rate for select to service_role, dot_executor using (true);
grant select on iu_core.consumer_rate to service_role, dot_executor;

alter table iu_core.event_dispatch_log enable row level security;
-- The workspace is the event's.
create policy event_dispatch_log_member_reads on iu_core.event_dispatch_log for select
  to authenticated, stagedoor_reviewer
  using (exists (select from iu_core.event_outbox e
                  where e.id = event_id and e.workspace_id in (select iu_core.fn_my_workspaces_as_person())));
create policy event_dispatch_log_service_reads on iu_core.event_dispatch_log for select to service_role, dot_executor using (true);
grant select on iu_core.event_dispatch_log to authenticated, stagedoor_reviewer, service_role, dot_executor;

alter table iu_core.system_issue enable row level security;
create policy system_issue_member_reads on iu_core.system_issue for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy system_issue_service_reads on iu_core.system_issue for select to service_role, dot_executor using (true);
grant select on iu_core.system_issue to authenticated, stagedoor_reviewer, service_role, dot_executor;
