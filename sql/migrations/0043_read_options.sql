-- How somebody said that their files are to be read, remembered for their next files of the same shape.

create table iu_core.ingest_read_option (
  workspace_id uuid not null,
  dataset text not null references iu_core.ingest_dataset (dataset) on delete cascade,
  platform text not null,
  -- Only their own files are read by it, so that nobody reviews what they chose for others.
  author text not null constraint ingest_read_option_author_short check (length(author) between 1 and 255),
  -- sha-256 of the format and the headers in their order.
  shape text not null constraint ingest_read_option_shape_form check (shape ~ '^[0-9a-f]{64}$'),
  -- The first headers, for people.
  columns text[] not null constraint ingest_read_option_columns_few check (cardinality(columns) <= 20 and length(array_to_string(columns, '')) <= 4000),
  -- encoding, delimiter, header_line, decimal, dates.
  options jsonb not null constraint ingest_read_option_options_form check (
    jsonb_typeof(options) = 'object' and options <> '{}' and length(options::text) <= 500
    and options - '{encoding,delimiter,header_line,decimal,dates}'::text[] = '{}'),
  -- The file that it was said for.
  upload_id uuid references iu_core.ingest_upload (upload_id) on delete set null,
  remembered_at timestamptz not null default clock_timestamp(),
  constraint ingest_read_option_once primary key (workspace_id, dataset, platform, author, shape)
);
create index ingest_read_option_of_upload on iu_core.ingest_read_option (upload_id);
comment on table iu_core.ingest_read_option is 'how somebody said that files of one shape are to be read, for their next ones';

alter table iu_core.ingest_read_option enable row level security;
create policy ingest_read_option_member_reads on iu_core.ingest_read_option for select
  to authenticated, stagedoor_agent, stagedoor_reviewer
  using (workspace_id in (select iu_core.fn_my_workspaces()));
create policy ingest_read_option_service_reads on iu_core.ingest_read_option for select to service_role, dot_executor using (true);
grant select on iu_core.ingest_read_option to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
