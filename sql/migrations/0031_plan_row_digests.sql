-- The digest of a plan is made of digests of blocks of its rows, so that a repair of one line reads one block and not the whole plan.

-- Blocks in the order of the plan's rows (fn_ingest_plan_row_digests), and the sha-256 of each. NULL: planned by an earlier version.
alter table iu_core.ingest_plan
  add column row_blocks bigint[],
  add column row_digests bytea[],
  add constraint ingest_plan_row_digest_of_each_block check (cardinality(row_blocks) = cardinality(row_digests));
-- Digests cannot be compressed.
alter table iu_core.ingest_plan alter column row_digests set storage external;
