-- Search over tables of the user: a third kind of source, rows. Their text stays in their table: search has the words, the values of
-- the filter columns, and the key. What a row says is read there, under the rights of whoever asks.

-- A table that is searched. Four routes (insert, update, delete, truncate) tell what changes; their dry run, review and activation
-- are those of the projection.
create table iu_core.search_table (
  table_id uuid primary key default iu_core.fn_time_uuid(),
  -- Its name for people, and the middle of the codes of its routes: search.<code>.insert.
  code text not null constraint search_table_code_form check (code ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$' and length(code) <= 104),
  source_schema text not null,
  source_table text not null,
  -- Whose the rows are: of one workspace, or of that which a column of each row says.
  workspace_id uuid,
  workspace_column text,
  language text not null,
  key_columns text[] not null constraint search_table_has_key check (cardinality(key_columns) between 1 and 16),
  text_columns text[] not null constraint search_table_has_text check (cardinality(text_columns) between 1 and 20),
  title_column text,
  filter_columns text[] not null constraint search_table_filters_few check (cardinality(filter_columns) <= 10),
  -- registered: its routes are not active yet · active · stopped: it no longer fits its table · removed: its rows leave search
  state text not null default 'registered'
    constraint search_table_state_known check (state in ('registered', 'active', 'stopped', 'removed')),
  stopped_reason text,
  state_changed_at timestamptz not null default clock_timestamp(),
  -- How a row and a page of keys are read; made from the catalogue when the table was compared with it last.
  read_sql text not null,
  page_sql text not null,
  -- The scan of all rows: after the activation, and after whatever the triggers could not tell.
  scan_pass integer not null default 0,
  scan_state text not null default 'none' constraint search_table_scan_known check (scan_state in ('none', 'waiting', 'scanning', 'sweeping', 'done')),
  scan_after text[],
  -- Transactions that wrote the table when the scan was asked for: they may have begun before the triggers were active.
  scan_blockers text[],
  scanned bigint not null default 0,
  scan_total bigint,
  -- Rows whose workspace column is NULL: they belong to nobody, and nobody finds them.
  scan_skipped bigint not null default 0,
  scan_started_at timestamptz,
  scan_ended_at timestamptz,
  registered_by text not null,
  registered_at timestamptz not null default clock_timestamp(),
  constraint search_table_one_workspace check (num_nonnulls(workspace_id, workspace_column) = 1),
  constraint search_table_reason_when_stopped check ((state = 'stopped') = (stopped_reason is not null))
);
-- Removed ones keep theirs until their rows have left.
create unique index search_table_code_once on iu_core.search_table (code) where state <> 'removed';
create unique index search_table_source_once on iu_core.search_table (source_schema, source_table) where state <> 'removed';

-- A row that search knows. Its id is made of table, workspace and key: a row that moves to another workspace is another one.
create table iu_core.search_row (
  row_id uuid primary key,
  table_id uuid not null references iu_core.search_table (table_id),
  workspace_id uuid not null,
  -- As text, in the order of key_columns.
  key text[] not null,
  filters jsonb not null default '{}',
  -- Of the text as it was projected last; NULL: not in search.
  content_hash text,
  seen_pass integer not null,
  constraint search_row_once unique (table_id, workspace_id, key)
);
create index search_row_pass on iu_core.search_row (table_id, seen_pass);
create index search_row_absent on iu_core.search_row (row_id) where content_hash is null;
create index search_row_filters on iu_core.search_row using gin (filters jsonb_path_ops);

-- What the triggers say, in the transaction of the change: a row each, without a conflict, so that nobody who writes a table waits
-- for search. A worker moves them to the outbox and deletes them. Without a key: the whole table must be read again.
create table iu_core.search_row_change (
  change_id bigint generated always as identity primary key,
  table_id uuid not null,
  workspace_id uuid,
  key text[],
  operation text not null constraint search_row_change_operation_known check (operation in ('upsert', 'delete', 'rescan')),
  changed_at timestamptz not null default clock_timestamp(),
  constraint search_row_change_key_of_row check ((key is null) = (operation = 'rescan'))
);

-- Rows beside units and documents. A foreign key, as for those: what is no row of a registered table cannot be enqueued.
alter table iu_core.vector_outbox
  add column row_id uuid references iu_core.search_row (row_id),
  drop constraint vector_outbox_unit_or_document,
  drop column source_kind,
  drop column source_id;
alter table iu_core.vector_outbox
  add column source_kind text not null generated always as (
    case when unit_id is not null then 'information_unit' when document_id is not null then 'kb_document' else 'table_row' end) stored,
  add column source_id uuid not null generated always as (coalesce(unit_id, document_id, row_id)) stored,
  add constraint vector_outbox_one_source check (num_nonnulls(unit_id, document_id, row_id) = 1);
create unique index vector_outbox_row_once on iu_core.vector_outbox (row_id) where row_id is not null;

alter table iu_core.search_chunk
  add column row_id uuid references iu_core.search_row (row_id),
  drop constraint search_chunk_unit_or_document,
  add constraint search_chunk_one_source check (num_nonnulls(unit_id, document_id, row_id) = 1);
create index search_chunk_row on iu_core.search_chunk (row_id) where row_id is not null;

alter table iu_core.search_point add column row_id uuid;
create index search_point_row on iu_core.search_point (row_id) where row_id is not null;

-- Staging never gets into search: no table of ours can be registered, nor one that has such a table among its partitions or
-- children. Frozen: a trigger of the table calls it, whatever role writes, the owner's too.
create function iu_core.fn_search_table_is_ours(p_schema text, p_table text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive tree (relation) as (
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = p_schema and c.relname = p_table
    union
    select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.relation
  ), upwards (relation) as (
    select t.relation from tree t
    union
    select i.inhparent from upwards join pg_inherits i on i.inhrelid = upwards.relation
  )
  select p_schema in ('iu_core', 'noetl') or (p_schema, p_table) = ('public', 'staging_rows')
      or exists (select from upwards u join pg_class c on c.oid = u.relation join pg_namespace n on n.oid = c.relnamespace
                  where n.nspname in ('iu_core', 'noetl') or (n.nspname, c.relname) = ('public', 'staging_rows'))
$$;
create function iu_core.fn_search_table_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if iu_core.fn_search_table_is_ours(new.source_schema, new.source_table) then
    raise exception using
      errcode = 'SD720',
      message = format('%I.%I belongs to Stagedoor: what is staged is never in search', new.source_schema, new.source_table),
      detail = json_build_object('table', format('%I.%I', new.source_schema, new.source_table),
                                 'reason', 'it belongs to Stagedoor, and what is staged is never in search')::text;
  end if;
  return new;
end $$;
revoke all on function iu_core.fn_search_table_is_ours(text, text) from public;
revoke all on function iu_core.fn_search_table_guard() from public;
create trigger search_table_is_no_staging
  before insert or update of source_schema, source_table on iu_core.search_table
  for each row execute function iu_core.fn_search_table_guard();

-- Members see which tables are searched. Keys and filter values are of rows that a member may not be allowed to read: those stay
-- with the functions.
alter table iu_core.search_table enable row level security;
create policy search_table_member_reads on iu_core.search_table for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (workspace_id in (select iu_core.fn_my_workspaces()) or workspace_column is not null);
grant select on iu_core.search_table to authenticated, stagedoor_agent, stagedoor_reviewer;
do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_table', 'search_row', 'search_row_change'] loop
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select to service_role, dot_executor, vector_worker using (true)',
                   v_table || '_service_reads', v_table);
    execute format('grant select on iu_core.%I to service_role, dot_executor, vector_worker', v_table);
  end loop;
end $$;

-- Whether an outbox row is of a row of one of the caller's workspaces: members see what waits and what failed, without its key. Frozen:
-- a policy calls it.
create function iu_core.fn_search_row_is_mine(p_row_id uuid) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from iu_core.search_row r where r.row_id = p_row_id and r.workspace_id in (select iu_core.fn_my_workspaces()));
end $$;
revoke all on function iu_core.fn_search_row_is_mine(uuid) from public;
grant execute on function iu_core.fn_search_row_is_mine(uuid) to authenticated, stagedoor_agent, stagedoor_reviewer;
create policy vector_outbox_member_reads_rows on iu_core.vector_outbox for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (row_id is not null and iu_core.fn_search_row_is_mine(row_id));
