-- What reviewers approved, row by row; the steps of a plan with their times; conflicts with what production holds now.

-- The rows that an approved plan writes. They say after the next plan what has changed since, and let a policy keep approvals. Kept for the
-- last approval of each reviewer, until the upload has ended.
create table iu_core.ingest_approved_plan (
  upload_id uuid not null constraint ingest_approved_plan_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  plan_digest text not null,
  -- Of what the plan was made from: mode, dataset, repairs, choices (fn_review_inputs_digest). NULL: it looks values up in other tables, too.
  inputs_digest text,
  approved_at timestamptz not null default clock_timestamp(),
  constraint ingest_approved_plan_pkey primary key (upload_id, plan_digest)
);
create table iu_core.ingest_approved_block (
  upload_id uuid not null,
  plan_digest text not null,
  type_order smallint not null,
  -- 1,024 row numbers.
  block integer not null,
  row_numbers integer[] not null,
  row_hashes bytea[] not null,
  constraint ingest_approved_block_pkey primary key (upload_id, plan_digest, type_order, block),
  constraint ingest_approved_block_of_plan foreign key (upload_id, plan_digest)
    references iu_core.ingest_approved_plan (upload_id, plan_digest) on delete cascade,
  constraint ingest_approved_block_hash_of_each_row check (cardinality(row_numbers) = cardinality(row_hashes))
);
-- Hashes cannot be compressed.
alter table iu_core.ingest_approved_block alter column row_hashes set storage external;
alter table iu_core.ingest_approved_plan enable row level security;
create policy ingest_approved_plan_with_its_upload on iu_core.ingest_approved_plan for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_approved_block enable row level security;
create policy ingest_approved_block_with_its_upload on iu_core.ingest_approved_block for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_approved_plan, iu_core.ingest_approved_block to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- [{"step", "ms"}] in the order in which they ran: of the checks over all lines when the file was read, and of the plan.
alter table iu_core.ingest_upload add column check_steps jsonb not null default '[]'
  constraint ingest_upload_check_steps_array check (jsonb_typeof(check_steps) = 'array');
alter table iu_core.ingest_plan add column steps jsonb not null default '[]'
  constraint ingest_plan_steps_array check (jsonb_typeof(steps) = 'array');

-- They return more, or take more.
drop function if exists iu_core.fn_change_review_end(uuid, text, text, text);
drop function if exists iu_core.fn_ingest_plan_stale(uuid, integer);
drop function if exists iu_core.fn_ingest_plan_row_types(iu_core.ingest_upload, iu_core.ingest_dataset, text[]);
