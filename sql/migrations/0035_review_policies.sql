-- What is unusual about a plan, groups of members, and policies that say how many approvals a change needs.

insert into iu_core.event_vocabulary values
  ('staging', 'record_reopened', 'a record waits for approval again: approvals of it fell, or more are needed');

-- The facts of a plan, computed when somebody first asks for them, and kept as long as the plan.
create table iu_core.ingest_plan_risk (
  upload_id uuid not null constraint ingest_plan_risk_pkey primary key
    constraint ingest_plan_risk_of_plan references iu_core.ingest_plan (upload_id) on delete cascade,
  plan_digest text not null,
  -- Columns that were left out, with the reason: [{"row_type", "column", "reason"}].
  not_computed jsonb not null,
  computed_at timestamptz not null default clock_timestamp(),
  took_ms integer not null
);
create table iu_core.ingest_plan_fact (
  upload_id uuid not null constraint ingest_plan_fact_of_risk references iu_core.ingest_plan_risk (upload_id) on delete cascade,
  fact text not null,
  row_type text not null,
  -- NULL: of all rows of the type.
  column_name text,
  value numeric not null,
  -- What leads to its rows, and examples: {"filter", "values", "days"}.
  detail jsonb not null default '{}',
  constraint ingest_plan_fact_once unique nulls not distinct (upload_id, fact, row_type, column_name)
);
alter table iu_core.ingest_plan_risk enable row level security;
create policy ingest_plan_risk_with_its_upload on iu_core.ingest_plan_risk for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_plan_fact enable row level security;
create policy ingest_plan_fact_with_its_upload on iu_core.ingest_plan_fact for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_plan_risk, iu_core.ingest_plan_fact to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
-- The last promoted uploads of a source.
create index ingest_upload_promoted_source on iu_core.ingest_upload (workspace_id, dataset, platform, client_id, upload_id)
  where status = 'promoted';

-- Groups of members, which a review policy may ask for.
create table iu_core.member_group (
  workspace_id uuid not null,
  group_name text not null
    constraint member_group_name_plain check (group_name ~ '^[[:alnum:]][[:alnum:] ._-]{0,62}$' and group_name !~ '[ ]$'),
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint member_group_pkey primary key (workspace_id, group_name)
);
-- Names that differ only in case are the same group.
create unique index member_group_name_once on iu_core.member_group (workspace_id, lower(group_name));
create table iu_core.member_group_member (
  workspace_id uuid not null,
  group_name text not null,
  member text not null,
  added_by text not null,
  added_at timestamptz not null default clock_timestamp(),
  constraint member_group_member_pkey primary key (workspace_id, group_name, member),
  constraint member_group_member_of_group foreign key (workspace_id, group_name)
    references iu_core.member_group (workspace_id, group_name) on delete cascade
);

-- How many approvals a change needs, and of whom. The most specific policy applies: of dataset and kind, of the dataset, of the kind,
-- of the workspace.
create table iu_core.review_policy (
  policy_id uuid not null default iu_core.fn_time_uuid() constraint review_policy_pkey primary key,
  workspace_id uuid not null,
  dataset text,
  kind text constraint review_policy_kind_known check (kind in ('upload', 'record', 'cut', 'sql')),
  -- {"base": {"approvals", "roles", "groups"}, "raise": [{"name", "when", "approvals", "groups"}], "keep_approvals_when_unchanged"}
  rules jsonb not null constraint review_policy_rules_object check (jsonb_typeof(rules) = 'object' and octet_length(rules::text) <= 65536),
  revision integer not null default 1,
  set_by text not null,
  set_via text,
  set_at timestamptz not null default clock_timestamp(),
  constraint review_policy_dataset_is_of_uploads check (dataset is null or kind is null or kind = 'upload'),
  constraint review_policy_once unique nulls not distinct (workspace_id, dataset, kind)
);
-- Every change of policies and groups: who, when, from what to what.
create table iu_core.review_policy_audit (
  audit_id bigint generated always as identity constraint review_policy_audit_pkey primary key,
  workspace_id uuid not null,
  -- policy, group, member
  what text not null constraint review_policy_audit_what_known check (what in ('policy', 'group', 'member')),
  old_row jsonb,
  new_row jsonb,
  actor text not null,
  reason text,
  changed_at timestamptz not null default clock_timestamp()
);
create index review_policy_audit_workspace on iu_core.review_policy_audit (workspace_id, audit_id desc);

alter table iu_core.member_group enable row level security;
create policy member_group_member_reads on iu_core.member_group for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy member_group_service_reads on iu_core.member_group for select to service_role, dot_executor using (true);
alter table iu_core.member_group_member enable row level security;
create policy member_group_member_member_reads on iu_core.member_group_member for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy member_group_member_service_reads on iu_core.member_group_member for select to service_role, dot_executor using (true);
alter table iu_core.review_policy enable row level security;
create policy review_policy_member_reads on iu_core.review_policy for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy review_policy_service_reads on iu_core.review_policy for select to service_role, dot_executor using (true);
alter table iu_core.review_policy_audit enable row level security;
create policy review_policy_audit_member_reads on iu_core.review_policy_audit for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy review_policy_audit_service_reads on iu_core.review_policy_audit for select to service_role, dot_executor using (true);
grant select on iu_core.member_group, iu_core.member_group_member, iu_core.review_policy, iu_core.review_policy_audit to
  authenticated, service_role, dot_executor, stagedoor_reviewer;

-- Who reviewed a change, and what they saw. A review is never changed: it is dismissed, or stands for another digest where a policy keeps
-- approvals of a plan that was made again and writes the same.
create table iu_core.change_review (
  review_id uuid not null default iu_core.fn_time_uuid() constraint change_review_pkey primary key,
  change_id uuid not null constraint change_review_of_change references iu_core.change (change_id),
  -- What the reviewer saw: of the plan of an upload, or of the bytes of a record.
  digest text not null,
  -- What it counts for.
  stands_for text not null,
  -- Of what the plan writes, where the policy keeps approvals.
  effect_digest text,
  verdict text not null constraint change_review_verdict_known check (verdict in ('approve', 'request_changes', 'comment')),
  reviewer text not null,
  via text,
  -- The role that gave the reviewer the right; NULL: back-end code acted for somebody who is no member with this right.
  role text,
  body_comment_id uuid constraint change_review_has_comment references iu_core.change_comment (comment_id),
  -- What the change needed at that time, and which rules applied.
  requirement jsonb,
  at timestamptz not null default clock_timestamp(),
  dismissed_at timestamptz,
  dismissed_by text,
  dismissed_reason text constraint change_review_reason_length check (length(dismissed_reason) <= 2000),
  constraint change_review_dismissal_together check (num_nonnulls(dismissed_at, dismissed_by, dismissed_reason) in (0, 3))
);
create index change_review_change on iu_core.change_review (change_id, review_id);
-- The same person counts once.
create unique index change_review_approved_once on iu_core.change_review (change_id, stands_for, lower(reviewer))
  where verdict = 'approve' and dismissed_at is null;
create unique index change_review_requested_once on iu_core.change_review (change_id, lower(reviewer))
  where verdict = 'request_changes' and dismissed_at is null;
alter table iu_core.change_review enable row level security;
create policy change_review_with_its_change on iu_core.change_review for select
  using (exists (select from iu_core.change c where c.change_id = change_review.change_id));
grant select on iu_core.change_review to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- Where reviewers are told: signed JSON, the shapes of Slack and Teams, or e-mail (a target whose address is mailto:).
alter table iu_core.webhook_target
  add column format text not null default 'json' constraint webhook_target_format_known check (format in ('json', 'slack', 'teams')),
  drop constraint webhook_target_url_form,
  add constraint webhook_target_url_form check (
    length(url) <= 2000 and (url ~ '^https?://[^\s@/]+(/\S*)?$' or url ~ '^mailto:[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$'));
grant select (format) on iu_core.webhook_target to service_role;
-- It returns the format, too.
drop function if exists iu_core.fn_webhook_targets(uuid);

insert into iu_core.consumer_registry (
  consumer_id, event_domain, event_type, job_kind, idempotency_key_template, payload_ref_template, registered_by, notes) values
  ('notify_review_requested', 'change', 'review_requested', 'notify_reviewers', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'tells the review targets that a review of a change was requested'),
  ('notify_mentioned', 'change', 'mentioned', 'notify_reviewers', '{event_id}', '{event_subject_ref}', 'stagedoor',
   'tells the review targets that somebody was mentioned on a change');
