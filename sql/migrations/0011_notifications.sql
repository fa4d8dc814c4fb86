-- What comes of events by itself: reviewers and other systems are told, alert rules are judged, retention is kept, and the
-- jobs of the seed's six pairs exist. Every consumer here is disabled until somebody has seen its dry run and reviewed it.

insert into iu_core.job_kind (job_kind, description) values
  ('notify_reviewers', 'tells the review targets of a record that waits for approval'),
  ('auto_instantiate_from_template', 'stages what the templates prescribe for a new entity'),
  ('health_followup_review', 'asks a person to look again at an issue that was resolved'),
  ('kg_link_refresh', 'computes links of the knowledge graph anew'),
  ('iu_recompose_pieces', 'puts the pieces of a unit together anew'),
  ('iu_axis_refresh', 'computes the axes of a unit anew');
-- A receiver may be away for a day or two. Fair, because one that is slow must not hold up the others.
insert into iu_core.job_kind (job_kind, description, max_attempts, backoff, backoff_most, timeout, concurrency, fair_by) values
  ('webhook_deliver', 'delivers a signed webhook to one target', 20, '5 seconds', '6 hours', '30 seconds', 8, 'payload_ref');
-- Many uploads of one client in a row are judged once, and a stream of them still every minute.
insert into iu_core.job_kind (job_kind, description, key_mode, debounce, debounce_most) values
  ('alert_evaluate', 'judges the alert rules of a client', 'debounce', '2 seconds', '1 minute'),
  ('staging_cleanup_sweep', 'cleans ended staging records past their retention', 'debounce', '10 seconds', '5 minutes');
-- One attempt: what fails is tried again by the next hour's job.
insert into iu_core.job_kind (job_kind, description, max_attempts, timeout) values
  ('cleanup_staging_rows', 'deletes staged rows past their retention', 1, '5 minutes'),
  ('cleanup_staging_id_resolution', 'deletes id resolutions past their retention', 1, '5 minutes');

insert into iu_core.job_schedule (schedule, cron, job_kind, next_at, registered_by)
select kind, minute || ' * * * *', kind,
       date_trunc('hour', now() - make_interval(mins => minute), 'UTC') + make_interval(hours => 1, mins => minute), 'stagedoor'
  from (values ('cleanup_staging_rows', 30), ('cleanup_staging_id_resolution', 35)) as s (kind, minute);

insert into iu_core.consumer_registry (
  consumer_id, event_domain, event_type, job_kind, idempotency_key_template, payload_ref_template, registered_by, notes) values
  ('iu_recompose_pieces', 'piece', 'piece_reordered', 'iu_recompose_pieces', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'same file: pieces changed their order'),
  ('iu_axis_refresh', 'piece', 'piece_deprecated', 'iu_axis_refresh', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'same file: a piece was retired'),
  ('health_followup_review', 'system', 'issue_resolved', 'health_followup_review', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'across files: a person looks again'),
  -- One sweep for all that expired together: the key is the same for every event.
  ('staging_cleanup_sweep', 'staging', 'record_expired', 'staging_cleanup_sweep', '{event_domain}', null, 'stagedoor',
   'across files: what expired is cleaned when its retention is over'),
  ('kg_link_refresh', 'dot', 'run.applied', 'kg_link_refresh', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'across files: a command run ended well'),
  ('auto_instantiate_from_template', 'birth_registry', 'entity_born', 'auto_instantiate_from_template',
   '{event_id}:auto_instantiate', '{event_subject_ref}', 'stagedoor', 'across files: a new entity gets what its templates prescribe'),
  ('notify_reviewers', 'staging', 'record_created', 'notify_reviewers', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'tells the review targets of a record that needs approval'),
  ('notify_reviewers_of_uploads', 'staging', 'ingestion_submitted', 'notify_reviewers', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'the same for an upload; whoever has both is told once'),
  ('alerts_after_promotion', 'staging', 'ingestion_complete', 'alert_evaluate', '{canonical_address}', '{event_subject_ref}', 'stagedoor',
   'judges the alert rules of the client whose data was promoted'),
  ('alerts_after_undo', 'staging', 'ingestion_undone', 'alert_evaluate', '{canonical_address}', '{event_subject_ref}', 'stagedoor',
   'the same after an undo: an alert whose reason is gone is resolved');

-- Where webhooks go. The worker alone reads the secret; addresses often hold a token, so people see them by a function.
create table iu_core.webhook_target (
  target_code text primary key constraint webhook_target_code_form check (target_code ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  workspace_id uuid, -- NULL: of every workspace
  purpose text not null constraint webhook_target_purpose_known check (purpose in ('review', 'alert', 'event')),
  url text not null constraint webhook_target_url_form check (url ~ '^https?://[^\s@/]+(/\S*)?$' and length(url) <= 2000),
  -- One, or the new one and the old one while the receiver changes over: it is signed with both.
  secret text not null constraint webhook_target_secret_form
    check (secret ~ '^whsec_[A-Za-z0-9+/]{32,86}={0,2}( whsec_[A-Za-z0-9+/]{32,86}={0,2})?$'),
  description text,
  enabled boolean not null default true,
  disabled_reason text,
  registered_by text not null,
  registered_via text,
  registered_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  constraint webhook_target_disabled_reason_when_disabled check (not enabled or disabled_reason is null)
);

-- What is staged for a new entity. {fields} in the purpose and in the parts are filled from the event; the list is that of
-- a consumer's templates.
create table iu_core.iu_auto_instantiate_template (
  template_code text primary key constraint iu_auto_instantiate_template_code_form check (template_code ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  workspace_id uuid, -- NULL: entities of every workspace
  event_stream text, -- NULL: every stream
  staging_kind text not null,
  payload_type text not null,
  purpose text not null constraint iu_auto_instantiate_template_purpose_not_blank check (purpose ~ '\S'),
  parts jsonb not null constraint iu_auto_instantiate_template_parts_array check (jsonb_typeof(parts) = 'array'),
  enabled boolean not null default true,
  registered_by text not null,
  registered_via text,
  registered_at timestamptz not null default now(),
  constraint iu_auto_instantiate_template_kind_takes_type foreign key (staging_kind, payload_type)
    references iu_core.iu_staging_kind_type (staging_kind, payload_type)
);

-- Once for each event and template. No foreign keys: it outlives the template and the event.
create table iu_core.iu_auto_instantiate_event_log (
  event_id uuid not null,
  template_code text not null,
  staging_record_id uuid not null,
  instantiated_at timestamptz not null default clock_timestamp(),
  primary key (event_id, template_code)
);

alter table iu_core.webhook_target enable row level security;
create policy webhook_target_service_reads on iu_core.webhook_target for select to service_role, dot_executor using (true);
grant select on iu_core.webhook_target to dot_executor;
grant select (target_code, workspace_id, purpose, url, description, enabled, disabled_reason, registered_by, registered_via,
              registered_at, changed_at) on iu_core.webhook_target to service_role;

alter table iu_core.iu_auto_instantiate_template enable row level security;
create policy iu_auto_instantiate_template_service_reads on iu_core.iu_auto_instantiate_template for select
  to service_role, dot_executor using (true);
alter table iu_core.iu_auto_instantiate_event_log enable row level security;
create policy iu_auto_instantiate_event_log_service_reads on iu_core.iu_auto_instantiate_event_log for select
  to service_role, dot_executor using (true);
grant select on iu_core.iu_auto_instantiate_template, iu_core.iu_auto_instantiate_event_log to service_role, dot_executor;
