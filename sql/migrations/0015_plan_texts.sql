-- A plan holds what it will insert as texts in the order of the columns: half the time and half the room of a JSON object
-- for each line. What it will change stays an object, as people filter by it.
alter table iu_core.ingest_plan_row add column inserted text[];
-- The columns of those texts, for each row type: {"metric": [{"column": …, "form": "text" | "number" | "boolean"}]}.
alter table iu_core.ingest_plan add column inserted_columns jsonb not null default '{}';
