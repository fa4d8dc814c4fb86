-- A repair of few lines keeps the plan and computes only what these lines touch.

-- What control totals are made of (fn_ingest_control_parts): they are adjusted by the difference. NULL: planned by an earlier version.
alter table iu_core.ingest_plan add column control_parts jsonb;

-- Which lines of a plan have a key, or belong to an entity: hashes of blocks of lines, because an index over each line would
-- take as long to write as the rest of the plan. A hash may be stale or meet another by chance, so the lines are compared again.
create table iu_core.ingest_plan_line_hash (
  upload_id uuid not null,
  -- 'key', or '@' and a row type with an identity.
  kind text not null,
  block integer not null,
  lines integer[] not null,
  hashes bigint[] not null,
  constraint ingest_plan_line_hash_pkey primary key (upload_id, kind, block),
  constraint ingest_plan_line_hash_of_plan foreign key (upload_id) references iu_core.ingest_plan (upload_id) on delete cascade
);
-- Hashes cannot be compressed.
alter table iu_core.ingest_plan_line_hash alter column hashes set storage external, alter column lines set storage external;
alter table iu_core.ingest_plan_line_hash enable row level security;
