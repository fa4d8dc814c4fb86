-- Approvals that programs ask for: kinds with a JSON Schema, requests, the forms that reviewers fill in.

insert into iu_core.event_vocabulary values
  ('staging', 'record_changes_requested', 'a reviewer asked for changes of a request for approval: whoever asked need not wait any longer');

-- A ninth kind for all of them. What a program shows is of a kind of its own (approval_kind), which needs no migration.
alter table iu_core.iu_staging_kind_policy drop constraint iu_staging_kind_policy_kind_known;
alter table iu_core.iu_staging_kind_policy add constraint iu_staging_kind_policy_kind_known check (staging_kind in (
  'mark_manifest', 'review_package', 'cut_preview', 'sql_snapshot',
  'nosql_payload', 'draft_iu_composition', 'agent_intermediate', 'event_working_state', 'approval'));
alter table iu_core.iu_staging_kind_type drop constraint iu_staging_kind_type_type_known;
alter table iu_core.iu_staging_kind_type add constraint iu_staging_kind_type_type_known check (payload_type in (
  'manifest_json', 'mark_report', 'sql_result_snapshot', 'nosql_payload', 'source_excerpt',
  'import_preview', 'event_working_state', 'composition_draft', 'review_bundle', 'approval_request'));
insert into iu_core.iu_staging_kind_policy values
  ('approval', true, true, false, '14 days', '30 days', 'a program waits for the decision, and a second person makes it');
insert into iu_core.iu_staging_kind_type values ('approval', 'approval_request');

-- What programs of a workspace may show: a JSON Schema that the payload must meet, and a template that shows it. A revision never changes;
-- a request keeps the one that it was made with.
create table iu_core.approval_kind (
  workspace_id uuid not null,
  kind text not null constraint approval_kind_name_plain check (kind ~ '^[a-z][a-z0-9_.:-]{0,62}$'),
  revision integer not null constraint approval_kind_revision_positive check (revision > 0),
  description text constraint approval_kind_description_length check (length(description) <= 2000),
  schema jsonb not null constraint approval_kind_schema_size check (jsonb_typeof(schema) = 'object' and octet_length(schema::text) <= 65536),
  -- Markdown with {{path}}. NULL: the payload is shown as it is.
  template text constraint approval_kind_template_size check (octet_length(template) <= 65536),
  created_by text not null,
  created_via text,
  created_at timestamptz not null default clock_timestamp(),
  -- No new request of this kind from then on; of the last revision only.
  deleted_at timestamptz,
  deleted_by text,
  constraint approval_kind_pkey primary key (workspace_id, kind, revision),
  constraint approval_kind_deletion_together check ((deleted_at is null) = (deleted_by is null))
);

-- A request for approval: what its record says, readable after the parts were cleaned.
create table iu_core.approval (
  staging_record_id uuid not null constraint approval_pkey primary key
    constraint approval_of_record references iu_core.iu_staging_record (staging_record_id) on delete cascade,
  workspace_id uuid not null,
  approval_key text not null constraint approval_key_length check (length(approval_key) between 1 and 500 and approval_key ~ '\S'),
  title text not null constraint approval_title_length check (length(title) between 1 and 200),
  kind text,
  kind_revision integer,
  form jsonb not null constraint approval_form_array check (jsonb_typeof(form) = 'array'),
  policy jsonb not null constraint approval_policy_object check (jsonb_typeof(policy) = 'object'),
  requested_at timestamptz not null default clock_timestamp(),
  constraint approval_of_kind foreign key (workspace_id, kind, kind_revision) references iu_core.approval_kind (workspace_id, kind, revision),
  constraint approval_kind_with_revision check ((kind is null) = (kind_revision is null)),
  constraint approval_once unique (workspace_id, approval_key)
);

-- What a reviewer filled in, with the approval that it belongs to.
create table iu_core.approval_answer (
  review_id uuid not null constraint approval_answer_pkey primary key
    constraint approval_answer_of_review references iu_core.change_review (review_id),
  staging_record_id uuid not null
    constraint approval_answer_of_approval references iu_core.approval (staging_record_id) on delete cascade,
  answers jsonb not null constraint approval_answer_object check (jsonb_typeof(answers) = 'object'),
  answered_at timestamptz not null default clock_timestamp()
);
create index approval_answer_approval on iu_core.approval_answer (staging_record_id);

alter table iu_core.approval_kind enable row level security;
create policy approval_kind_member_reads on iu_core.approval_kind for select
  to authenticated, stagedoor_reviewer, stagedoor_agent using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy approval_kind_service_reads on iu_core.approval_kind for select to service_role, dot_executor using (true);
alter table iu_core.approval enable row level security;
create policy approval_with_its_record on iu_core.approval for select
  to authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor
  using (exists (select from iu_core.iu_staging_record r where r.staging_record_id = approval.staging_record_id));
alter table iu_core.approval_answer enable row level security;
create policy approval_answer_with_its_record on iu_core.approval_answer for select
  to authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor
  using (exists (select from iu_core.iu_staging_record r where r.staging_record_id = approval_answer.staging_record_id));
grant select on iu_core.approval_kind, iu_core.approval, iu_core.approval_answer to
  authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
