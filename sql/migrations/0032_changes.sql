-- Changes: what is reviewed. An upload, a record that needs a decision and the cut of a document each open one, with a number in
-- its workspace, a conversation and a history. The change follows its subject by triggers (sql/changes/changes.sql).

insert into iu_core.event_domain values ('change', 'changes: proposed, discussed, reviewed');
insert into iu_core.event_vocabulary values
  ('change', 'opened', 'a change was opened'),
  ('change', 'status_changed', 'a change has another status'),
  ('change', 'edited', 'the title, description or labels of a change were edited'),
  ('change', 'review_requested', 'people or groups were asked to review a change'),
  ('change', 'reviewed', 'somebody reviewed a change'),
  ('change', 'review_dismissed', 'a review of a change no longer counts'),
  ('change', 'commented', 'somebody commented on a change'),
  ('change', 'comment_edited', 'a comment on a change was edited'),
  ('change', 'comment_deleted', 'a comment on a change was deleted'),
  ('change', 'mentioned', 'people were mentioned in a comment on a change'),
  ('change', 'thread_resolved', 'a thread of comments on a change was resolved'),
  ('change', 'thread_reopened', 'a resolved thread of comments on a change was reopened');

-- Which records are the review package of an upload, also after its plan was replaced. Written by fn_ingest_submit only: metadata and
-- source_ref of a record are what its owner says.
create table iu_core.ingest_submission (
  staging_record_id uuid primary key
    constraint ingest_submission_of_record references iu_core.iu_staging_record (staging_record_id) on delete cascade,
  upload_id uuid not null constraint ingest_submission_of_upload references iu_core.ingest_upload (upload_id)
);
create index ingest_submission_upload on iu_core.ingest_submission (upload_id);
alter table iu_core.ingest_submission enable row level security;
create policy ingest_submission_with_its_upload on iu_core.ingest_submission for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_submission to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- The last number that a workspace has given. Its row is locked until the end of the transaction that opens a change.
create table iu_core.change_counter (
  workspace_id uuid primary key,
  last_number integer not null constraint change_counter_from_one check (last_number >= 1)
);
alter table iu_core.change_counter enable row level security;

create table iu_core.change (
  change_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  number integer not null constraint change_number_from_one check (number >= 1),
  kind text not null constraint change_kind_known check (kind in ('upload', 'record', 'cut', 'sql')),
  -- upload_id or staging_record_id. No foreign key: the change of a record that was unregistered stays, closed.
  subject_id uuid not null,
  title text not null constraint change_title_some check (title ~ '\S' and length(title) <= 200),
  description text not null default '' constraint change_description_length check (length(description) <= 20000),
  author text not null,
  -- The login that acted for the author, if one did.
  author_via text,
  status text not null constraint change_status_known check (
    status in ('draft', 'open', 'changes_requested', 'approved', 'promoted', 'undone', 'rejected', 'closed')),
  labels text[] not null default '{}'
    constraint change_labels_few check (cardinality(labels) <= 20 and length(array_to_string(labels, '')) <= 1000),
  -- Of the plan of an upload, or of the bytes of a record; NULL: there is no plan.
  digest text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  -- Entries of its history, and comments ever written: the next number, and the budget.
  history_count integer not null default 0,
  comment_count integer not null default 0,
  constraint change_one_number_each unique (workspace_id, number),
  constraint change_one_of_each_subject unique (subject_id, kind),
  constraint change_ended_has_stamp check ((status in ('promoted', 'undone', 'rejected', 'closed')) = (closed_at is not null))
);
-- Lists, newest first.
create index change_workspace on iu_core.change (workspace_id, change_id);
create index change_status on iu_core.change (workspace_id, status, change_id);
create index change_author on iu_core.change (author, change_id);

-- What happened to a change: ids, numbers and digests, never a text that somebody wrote.
create table iu_core.change_history (
  change_id uuid not null constraint change_history_of_change references iu_core.change (change_id),
  seq integer not null,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  via text,
  what text not null,
  detail jsonb not null default '{}' constraint change_history_detail_object check (jsonb_typeof(detail) = 'object'),
  constraint change_history_pkey primary key (change_id, seq)
);

create table iu_core.change_reviewer (
  change_id uuid not null constraint change_reviewer_of_change references iu_core.change (change_id),
  -- A person, or a group.
  reviewer text,
  group_name text constraint change_reviewer_group_length check (length(group_name) between 1 and 63),
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  constraint change_reviewer_person_or_group check (num_nonnulls(reviewer, group_name) = 1),
  constraint change_reviewer_asked_once unique nulls not distinct (change_id, reviewer, group_name)
);
create index change_reviewer_person on iu_core.change_reviewer (reviewer) where reviewer is not null;

create table iu_core.change_comment (
  comment_id uuid primary key default iu_core.fn_time_uuid(),
  change_id uuid not null constraint change_comment_of_change references iu_core.change (change_id),
  -- The first comment of the thread; its own id where it is the first.
  thread_id uuid not null constraint change_comment_of_thread references iu_core.change_comment (comment_id),
  -- What the thread is about: NULL: the whole change; a row; or one cell of a row. Only the first comment has it.
  row_type text constraint change_comment_row_type_length check (length(row_type) between 1 and 63),
  line integer,
  column_name text constraint change_comment_column_length check (length(column_name) between 1 and 200),
  -- What the change stood at when it was written.
  digest text,
  body text not null constraint change_comment_body_length check (length(body) <= 10000),
  author text not null,
  via text,
  mentions text[] not null default '{}' constraint change_comment_mentions_few check (cardinality(mentions) <= 50),
  edit_count integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  edited_at timestamptz,
  deleted_at timestamptz,
  resolved_at timestamptz,
  resolved_by text,
  constraint change_comment_says_something check ((deleted_at is null) = (body ~ '\S')),
  constraint change_comment_anchor_whole check (
    (row_type is null) = (line is null) and (column_name is null or line is not null)),
  constraint change_comment_first_has_anchor check (
    thread_id = comment_id or num_nonnulls(row_type, line, column_name, resolved_at, resolved_by) = 0),
  constraint change_comment_resolution_together check ((resolved_at is null) = (resolved_by is null))
);
create index change_comment_change on iu_core.change_comment (change_id, comment_id);
create index change_comment_thread on iu_core.change_comment (thread_id);

-- What an edited comment said before. Deleted with the text of its comment.
create table iu_core.change_comment_edit (
  comment_id uuid not null constraint change_comment_edit_of_comment references iu_core.change_comment (comment_id),
  edit_no integer not null,
  body text not null,
  -- When this text was written, and when the next one replaced it.
  written_at timestamptz not null,
  replaced_at timestamptz not null default clock_timestamp(),
  constraint change_comment_edit_pkey primary key (comment_id, edit_no)
);

-- People read the changes of their workspaces; an agent reads its own only, as it does uploads and records.
alter table iu_core.change enable row level security;
create policy change_member_reads on iu_core.change for select
  to authenticated, stagedoor_reviewer using (workspace_id in (select iu_core.fn_my_workspaces_as_person()));
create policy change_author_reads on iu_core.change for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using (author = (select iu_core.fn_actor()) and workspace_id in (select iu_core.fn_my_workspaces()));
create policy change_service_reads on iu_core.change for select to service_role, dot_executor, directus using (true);
alter table iu_core.change_history enable row level security;
create policy change_history_with_its_change on iu_core.change_history for select
  using (exists (select from iu_core.change c where c.change_id = change_history.change_id));
alter table iu_core.change_reviewer enable row level security;
create policy change_reviewer_with_its_change on iu_core.change_reviewer for select
  using (exists (select from iu_core.change c where c.change_id = change_reviewer.change_id));
alter table iu_core.change_comment enable row level security;
create policy change_comment_with_its_change on iu_core.change_comment for select
  using (exists (select from iu_core.change c where c.change_id = change_comment.change_id));
alter table iu_core.change_comment_edit enable row level security;
create policy change_comment_edit_with_its_comment on iu_core.change_comment_edit for select
  using (exists (select from iu_core.change_comment c where c.comment_id = change_comment_edit.comment_id));
grant select on iu_core.change, iu_core.change_history, iu_core.change_reviewer, iu_core.change_comment, iu_core.change_comment_edit
  to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- An agent is told of its own changes only, as of its own records.
drop policy event_outbox_agent_reads_own on iu_core.event_outbox;
create policy event_outbox_agent_reads_own on iu_core.event_outbox for select
  to authenticated, stagedoor_reviewer, stagedoor_agent
  using ((workspace_id is null and event_domain = 'system')
         or (workspace_id in (select iu_core.fn_my_workspaces())
             and (event_domain not in ('staging', 'change') or actor = (select iu_core.fn_actor())
                  or (event_domain = 'staging'
                      and exists (select from iu_core.iu_staging_record r where r.staging_record_id::text = event_subject_ref))
                  or (event_domain = 'change'
                      and exists (select from iu_core.change c where c.change_id::text = event_subject_ref)))));

-- Backfill: what was submitted before, and a change for every subject, numbered in the order in which they came.
insert into iu_core.ingest_submission (staging_record_id, upload_id)
select p.review_record_id, p.upload_id from iu_core.ingest_plan p where p.review_record_id is not null
union
select m.review_record_id, m.upload_id from iu_core.ingest_promotion m
  join iu_core.iu_staging_record r on r.staging_record_id = m.review_record_id
union
-- Of plans that were replaced: nothing but the package itself still says so. One that waits is the package of a plan that stands.
select r.staging_record_id, u.upload_id
  from iu_core.iu_staging_record r
  join iu_core.ingest_upload u on u.upload_id::text = r.metadata ->> 'upload_id' and u.workspace_id = r.workspace_id
 where r.staging_kind = 'review_package' and r.source_ref = 'upload ' || u.upload_id and r.lifecycle_status <> 'pending'
on conflict do nothing;

with subject as (
  select 'upload' as kind, u.upload_id as subject_id, u.workspace_id, u.uploaded_by as author, u.uploaded_via as author_via,
         u.file_name as title, u.created_at,
         case when u.status in ('promoted', 'undone') then u.status
              when u.status in ('failed', 'discarded', 'expired') then 'closed'
              when u.status <> 'planned' or r.staging_record_id is null then 'draft'
              when r.rejected_at is not null then 'rejected'
              when r.expired_at is not null then 'draft'
              when r.approved_at is not null then 'approved'
              else 'open' end as status,
         coalesce(m.plan_digest, p.digest) as digest,
         coalesce(u.ended_at, m.promoted_at, r.rejected_at) as ended_at
    from iu_core.ingest_upload u
    left join iu_core.ingest_plan p on p.upload_id = u.upload_id
    left join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
    left join iu_core.ingest_promotion m on m.upload_id = u.upload_id
   where u.run_mode <> 'FULL_DRY_RUN'
  union all
  select case when (r.staging_kind, r.payload_type) = ('mark_manifest', 'manifest_json') then 'cut' else 'record' end,
         r.staging_record_id, r.workspace_id, r.owner_actor, r.owner_via, r.purpose, r.created_at,
         case when r.consumed_at is not null then 'promoted'
              when r.rejected_at is not null and r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor then 'closed'
              when r.rejected_at is not null then 'rejected'
              when r.expired_at is not null then 'closed'
              when r.approved_at is not null then 'approved'
              else 'open' end,
         r.content_hash, coalesce(r.consumed_at, r.rejected_at, r.expired_at)
    from iu_core.iu_staging_record r
   where r.approval_required and r.workspace_id is not null
     and not exists (select from iu_core.ingest_submission s where s.staging_record_id = r.staging_record_id)
), opened as (
  insert into iu_core.change (workspace_id, number, kind, subject_id, title, author, author_via, status, digest, created_at, updated_at,
                              closed_at, history_count)
  select s.workspace_id, row_number() over (partition by s.workspace_id order by s.created_at, s.subject_id), s.kind, s.subject_id,
         coalesce(nullif(btrim(left(regexp_replace(s.title, '[\u0001-\u001f\u007f-\u009f]+', ' ', 'g'), 200)), ''), s.kind),
         s.author, s.author_via, s.status, s.digest, s.created_at, coalesce(s.ended_at, s.created_at),
         case when s.status in ('promoted', 'undone', 'rejected', 'closed') then coalesce(s.ended_at, s.created_at) end, 1
    from subject s
  returning *
), counted as (
  insert into iu_core.change_counter select workspace_id, max(number) from opened group by workspace_id
)
insert into iu_core.change_history (change_id, seq, at, actor, via, what, detail)
select change_id, 1, created_at, author, author_via, 'opened', jsonb_build_object('status', status, 'digest', digest, 'backfilled', true)
  from opened;
