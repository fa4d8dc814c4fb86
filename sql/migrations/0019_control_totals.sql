-- What a person who decides must see: how much of each measure was read, left out, refused and written, which lines were
-- left out and why, and how lines with the same key are treated.

-- Reason → lines that are left out: {"row.total": 1, "key.repeated": 60}.
alter table iu_core.ingest_upload add column left_out jsonb not null default '{}';
-- Control totals of the lines as they were checked; see fn_ingest_control.
alter table iu_core.ingest_upload add column control jsonb not null default '[]';
-- How lines with the same key are treated; NULL: as the dataset says.
alter table iu_core.ingest_upload add column repeated_keys text
  constraint ingest_upload_repeated_keys_known check (repeated_keys in ('refuse', 'sum', 'last', 'first'));

-- The digest is over these, too: whoever approves a plan approves its control totals.
alter table iu_core.ingest_plan add column control jsonb not null default '[]';
alter table iu_core.ingest_plan add column repeated_keys text not null default 'refuse';
-- What the plan noticed about the whole file: [{"rule", "message", "line", "count"}].
alter table iu_core.ingest_plan add column notes jsonb not null default '[]';
alter table iu_core.ingest_promotion add column control jsonb not null default '[]';
