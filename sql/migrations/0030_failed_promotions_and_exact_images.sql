-- Promotions that failed, images that bring back every value, and a limit of its own for short files.

-- A promotion that was tried and failed. Its transaction was rolled back, so the back end writes this in another one.
create table iu_core.ingest_promotion_failure (
  failure_id bigint generated always as identity primary key,
  upload_id uuid not null constraint ingest_promotion_failure_of_upload references iu_core.ingest_upload (upload_id),
  plan_digest text not null,
  tried_by text not null,
  -- The login that acted for them, if one did.
  tried_via text,
  failed_at timestamptz not null default clock_timestamp(),
  -- As the error catalogue has it: {"code", "message", "hint"}.
  error jsonb not null constraint ingest_promotion_failure_has_remedy check (error ?& array['code', 'message', 'hint'])
);
create index ingest_promotion_failure_upload on iu_core.ingest_promotion_failure (upload_id, failure_id desc);
alter table iu_core.ingest_promotion_failure enable row level security;
create policy ingest_promotion_failure_with_its_upload on iu_core.ingest_promotion_failure for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_promotion_failure to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

-- Of an image: {column: text}, the values that JSON does not hold exactly (fn_ingest_exact_sql). NULL: there are none.
alter table iu_core.ingest_ledger add column exact jsonb;
alter table iu_core.ingest_dependent add column exact jsonb;
-- The key that the row has after the foreign key changed it; NULL: the same as before.
alter table iu_core.ingest_dependent add column after_key jsonb;

-- Somebody said that this upload is complete, although it is far shorter than the last ones.
alter table iu_core.ingest_upload add column short_file_allowed boolean not null default false;
