-- Modes of a row type: insert, update and snapshot. In a snapshot the rows of the table that the file lacks are deleted, or
-- skipped if others refer to them: such a row of a plan has no line, so its number is negative and it has no staged row.
alter table iu_core.ingest_plan_row drop constraint ingest_plan_row_action_known;
alter table iu_core.ingest_plan_row add constraint ingest_plan_row_action_known
  check (action in ('insert', 'update', 'unchanged', 'delete', 'skipped', 'refused'));
alter table iu_core.ingest_plan_row alter column staging_row_id drop not null;
alter table iu_core.ingest_plan_row add constraint ingest_plan_row_line_or_delete
  check (case when row_number < 0 then staging_row_id is null and action in ('delete', 'skipped')
              else staging_row_id is not null and action <> 'delete' end);
-- What a delete does to rows of other tables: [{"table", "effect": "delete" | "set null" | "set default" | "restrict", "rows"}],
-- and what tells later whether these are still the same rows.
alter table iu_core.ingest_plan_row add column dependents jsonb;
alter table iu_core.ingest_plan_row add column dependents_hash bytea;
-- Of a snapshot: {"row_type", "scope", "in_scope", "deleted", "max_deleted", "confirmed", "lines", "usual_lines", "kept",
-- "blocked", "dependents"}.
alter table iu_core.ingest_plan add column snapshot jsonb;
-- The share of the rows in scope that somebody allowed this upload to delete; NULL: as the dataset says.
alter table iu_core.ingest_upload add column max_deleted numeric
  constraint ingest_upload_max_deleted_share check (max_deleted between 0 and 1);

alter table iu_core.ingest_ledger drop constraint ingest_ledger_action_known;
alter table iu_core.ingest_ledger add constraint ingest_ledger_action_known check (action in ('insert', 'update', 'delete'));

-- Rows of other tables that a foreign key deleted or changed together with a deleted row. Images as in the ledger.
create table iu_core.ingest_dependent (
  upload_id uuid not null,
  position integer not null,
  -- The row of the ledger that it depended on, directly or through others; level: through how many foreign keys.
  type_order smallint not null,
  row_number integer not null,
  level integer not null,
  target text not null,
  -- By a unique key of the table; NULL: it has none.
  target_key jsonb,
  effect text not null constraint ingest_dependent_effect_known check (effect in ('delete', 'set null', 'set default')),
  before jsonb,
  after_hash bytea,
  undo_outcome text constraint ingest_dependent_outcome_known check (undo_outcome in ('reversed', 'kept', 'refused')),
  undo_reason text,
  primary key (upload_id, position)
);
create index ingest_dependent_target_key on iu_core.ingest_dependent (target, md5(target_key::text));
alter table iu_core.ingest_dependent enable row level security;
create policy ingest_dependent_with_its_upload on iu_core.ingest_dependent for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_dependent to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
