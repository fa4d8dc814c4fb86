-- Planning again asks whose values count where production moved on, and lists say which plans are outdated.

-- What the last plan saw of production, kept while a repaired upload has no plan. Blocks of 1,024 rows: a reference and a check for each
-- row would take longer than the plan.
create table iu_core.ingest_plan_base (
  upload_id uuid not null constraint ingest_plan_base_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  type_order smallint not null,
  block integer not null,
  row_numbers integer[] not null,
  actions text[] not null,
  -- The id of the row, or its key where it has none of ours.
  idents text[] not null,
  -- Of a row that the plan inserts: its key.
  keys text[] not null,
  hashes bytea[] not null,
  images jsonb[] not null,
  constraint ingest_plan_base_pkey primary key (upload_id, type_order, block)
);
-- Of a line that was corrected since: what its row held when the plan found nothing to change in it.
create table iu_core.ingest_plan_base_line (
  upload_id uuid not null constraint ingest_plan_base_line_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  row_number integer not null,
  image jsonb,
  constraint ingest_plan_base_line_pkey primary key (upload_id, row_number)
);

-- Who said whose values count, for which cells.
create table iu_core.ingest_conflict_answer (
  answer_id bigint generated always as identity constraint ingest_conflict_answer_pkey primary key,
  upload_id uuid not null constraint ingest_conflict_answer_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  answer text not null constraint ingest_conflict_answer_known check (answer in ('keep_theirs', 'use_mine')),
  cells bigint not null,
  row_count bigint not null,
  -- [{"table", "column", "cells"}]; without a column: whole rows.
  columns jsonb not null,
  answered_by text not null,
  answered_via text,
  answered_at timestamptz not null default clock_timestamp()
);
create index ingest_conflict_answer_upload on iu_core.ingest_conflict_answer (upload_id);

-- Cells (or, with an empty column, rows) that keep what production holds, as long as the file says the same: parallel arrays for each column.
create table iu_core.ingest_kept_cell (
  upload_id uuid not null constraint ingest_kept_cell_of_upload references iu_core.ingest_upload (upload_id) on delete cascade,
  type_order smallint not null,
  column_name text not null,
  idents text[] not null,
  mine text[] not null,
  constraint ingest_kept_cell_pkey primary key (upload_id, type_order, column_name),
  constraint ingest_kept_cell_value_of_each check (cardinality(idents) = cardinality(mine))
);

-- What is known of production since a plan was made. Only inserted by others, and without a reference: a promotion never waits for another
-- upload. seen: the plan, or a comparison with it, looked at production (row_count: rows that had moved) · moved: a promotion or undo wrote
-- rows of the plan · unknown: it may have · written: it wrote a table.
create table iu_core.ingest_plan_mark (
  mark_id bigint generated always as identity constraint ingest_plan_mark_pkey primary key,
  upload_id uuid not null,
  kind text not null constraint ingest_plan_mark_kind_known check (kind in ('seen', 'moved', 'unknown', 'written')),
  -- The upload that was promoted or undone.
  by_upload_id uuid,
  target text,
  row_count bigint not null default 0,
  marked_at timestamptz not null default clock_timestamp(),
  -- Which of two transactions saw what the other wrote.
  xid xid8 not null default pg_current_xact_id(),
  snapshot pg_snapshot
);
create index ingest_plan_mark_upload on iu_core.ingest_plan_mark (upload_id);
create index ingest_plan_mark_written on iu_core.ingest_plan_mark (target, marked_at) where kind = 'written';
-- Plans that were made before this was recorded, and whose tables may have been written since.
insert into iu_core.ingest_plan_mark (upload_id, kind)
select p.upload_id, 'unknown'
  from iu_core.ingest_plan p join iu_core.ingest_upload u using (upload_id)
 where u.status = 'planned'
   and exists (select from iu_core.ingest_promotion m join iu_core.ingest_upload o using (upload_id)
                where o.workspace_id = u.workspace_id and greatest(m.promoted_at, m.undone_at) > p.planned_at);

alter table iu_core.ingest_plan_base enable row level security;
create policy ingest_plan_base_with_its_upload on iu_core.ingest_plan_base for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_plan_base_line enable row level security;
create policy ingest_plan_base_line_with_its_upload on iu_core.ingest_plan_base_line for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_conflict_answer enable row level security;
create policy ingest_conflict_answer_with_its_upload on iu_core.ingest_conflict_answer for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_kept_cell enable row level security;
create policy ingest_kept_cell_with_its_upload on iu_core.ingest_kept_cell for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
alter table iu_core.ingest_plan_mark enable row level security;
create policy ingest_plan_mark_with_its_upload on iu_core.ingest_plan_mark for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_conflict_answer, iu_core.ingest_plan_mark to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- Takes the answer, too.
drop function if exists iu_core.fn_ingest_plan(uuid, text, numeric, text, text);
drop function if exists iu_core.fn_ingest_snapshot_plan(iu_core.ingest_upload, jsonb, text);
