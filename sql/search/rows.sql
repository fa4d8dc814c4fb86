-- Rows of tables that are searched: how they are read under the rights of whoever reads, what their routes enqueue, and the scan of all.

-- What search found of tables, for one caller: each chunk with its row as that caller may read it now. is_visible is false for a row
-- that is gone, is another workspace's by now, or is hidden by the rights and policies of the table; `problem` says that the table as
-- a whole could not be read. It runs with the rights of the caller, whose search_path the table's policies may rely on.
--   key            {column: text}
--   is_as_projected  the row says what it said when it was projected: positions of the chunk hold
create or replace function iu_core.fn_search_row_facts(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, row_id uuid, table_code text, table_source text, key jsonb, title text, filters jsonb, vector_state text, language text,
               from_char integer, to_char integer, content_hash text, is_as_projected boolean, is_visible boolean, problem text)
language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_hits jsonb;
begin
  select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(h.*)) into v_hits from iu_core.fn_search_row_hits(p_workspace_id, p_chunk_ids) as h;
  return query
  with hit as materialized (
    select h.* from pg_catalog.jsonb_to_recordset(v_hits) as h (
      chunk_id uuid, row_id uuid, table_code text, table_source text, key jsonb, row_state text, language text, from_char integer,
      to_char integer, content_hash text)
  ), seen as materialized (
    select r.* from iu_core.fn_search_rows_read(
      p_workspace_id, array(select distinct h.row_id from hit as h)) as r
  )
  select h.chunk_id, h.row_id, h.table_code, h.table_source, h.key, coalesce(s.title, h.key #>> '{}'), s.filters,
         case when h.row_state <> 'current' then h.row_state when s.content_hash is distinct from h.content_hash then 'pending' else 'current' end,
         h.language, h.from_char, h.to_char, h.content_hash, coalesce(s.content_hash = h.content_hash, false),
         s.row_id is not null and s.problem is null, s.problem
    from hit as h left join seen as s on s.row_id = h.row_id;
end $$;

grant execute on function iu_core.fn_search_row_facts(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The texts of chunks of rows, as the caller may read them now: the chunk's own piece, or the beginning of a row that has changed
-- since. A row that is gone has none.
create or replace function iu_core.fn_search_row_texts(p_workspace_id uuid, p_chunk_ids uuid[]) returns table (id uuid, text text)
language plpgsql stable
as $$
#variable_conflict use_column
declare
  v_hits jsonb;
begin
  select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(h.*)) into v_hits from iu_core.fn_search_row_hits(p_workspace_id, p_chunk_ids) as h;
  return query
  with hit as materialized (
    select h.* from pg_catalog.jsonb_to_recordset(v_hits) as h (
      chunk_id uuid, row_id uuid, from_char integer, to_char integer, content_hash text)
  )
  select h.chunk_id,
         case when s.content_hash = h.content_hash then pg_catalog.substr(s.body, h.from_char + 1, h.to_char - h.from_char)
              else pg_catalog."left"(s.body, 20000) end
    from hit as h
    join iu_core.fn_search_rows_read(p_workspace_id, array(select distinct x.row_id from hit as x)) as s on s.row_id = h.row_id
   where s.problem is null;
end $$;

grant execute on function iu_core.fn_search_row_texts(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Which of these chunks are of rows, and of which. For Stagedoor's own sessions, which show a row only after they have read it under the
-- rights of the caller; anybody else gets nothing.
create or replace function iu_core.fn_search_row_hits(p_workspace_id uuid, p_chunk_ids uuid[])
returns table (chunk_id uuid, row_id uuid, table_code text, table_source text, key jsonb, row_state text, language text,
               from_char integer, to_char integer, content_hash text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if not iu_core.fn_search_session_is_ours() then
    return;
  end if;
  return query
  select c.chunk_id, r.row_id, t.code, format('%I.%I', t.source_schema, t.source_table),
         (select jsonb_object_agg(k.name, k.value) from unnest(t.key_columns, r.key) as k (name, value)),
         case when o.status = 'dead_letter' then 'error'
              when o.status in ('pending', 'processing') and o.operation <> 'delete' then 'pending' else 'current' end,
         c.language, c.from_char, c.to_char, c.content_hash_at_embedding
    from iu_core.search_chunk c
    join iu_core.search_row r on r.row_id = c.row_id
    join iu_core.search_table t on t.table_id = r.table_id
    left join iu_core.vector_outbox o on o.row_id = r.row_id
   where c.chunk_id = any (p_chunk_ids) and c.workspace_id = p_workspace_id and t.state = 'active';
end $$;

grant execute on function iu_core.fn_search_row_hits(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Reads rows of tables in search, under the rights and policies of the caller: title, text, filter values. A row that is not there, or
-- that the caller may not see, has no row. If a table cannot be read, `problem` says why, for each of its rows; the other tables are
-- read. p_workspace_id NULL: for the worker, which reads rows of all workspaces.
--
-- The settings: the text of a value must not depend on the session, or equal rows would differ. Only they are set: policies may rely
-- on the caller's search_path.
create or replace function iu_core.fn_search_rows_read(p_workspace_id uuid, p_row_ids uuid[])
returns table (row_id uuid, title text, body text, content_hash text, filters jsonb, problem text)
language plpgsql stable
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'iso_8601'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
#variable_conflict use_column
declare
  v_source record;
  v_ids uuid[];
  v_titles text[];
  v_bodies text[];
  v_filters jsonb[];
  v_most constant integer := 10485760;
begin
  for v_source in execute case when p_workspace_id is null then 'select s.* from iu_core.fn_search_row_sources_of_all($2) as s'
                               else 'select s.* from iu_core.fn_search_row_sources($1, $2) as s' end using p_workspace_id, p_row_ids
  loop
    begin
      -- As arrays: what a statement that fails has returned so far would stay in the result.
      execute v_source.read_sql into v_ids, v_titles, v_bodies, v_filters using v_source.row_keys;
      return query
        select x.row_id, x.title, case when pg_catalog.octet_length(x.body) <= v_most then x.body end,
               pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(x.body, 'UTF8')), 'hex'), x.filters,
               case when pg_catalog.octet_length(x.body) > v_most then 'its text has more than 10 MiB' end
          from rows from (pg_catalog.unnest(v_ids), pg_catalog.unnest(v_titles), pg_catalog.unnest(v_bodies), pg_catalog.unnest(v_filters))
                 as x (row_id, title, body, filters);
    exception when others then
      return query
        select (k.value ->> 'row_id')::uuid, null::text, null::text, null::text, null::jsonb, sqlerrm
          from pg_catalog.jsonb_array_elements(v_source.row_keys) as k;
    end;
  end loop;
end $$;

grant execute on function iu_core.fn_search_rows_read(uuid, uuid[]) to
  vector_worker, dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- How the rows with these ids are read, by table: the statement, and their keys. Stopped and removed tables are not read.
create or replace function iu_core.fn_search_row_sources(p_workspace_id uuid, p_row_ids uuid[]) returns table (read_sql text, row_keys jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  if iu_core.fn_search_session_is_ours() then
    return query
      select s.read_sql, s.row_keys
        from iu_core.fn_search_row_sources_of_all(array(
               select r.row_id from iu_core.search_row r where r.row_id = any (p_row_ids) and r.workspace_id = p_workspace_id)) as s;
  end if;
end $$;

grant execute on function iu_core.fn_search_row_sources(uuid, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The same for the worker, of all workspaces.
create or replace function iu_core.fn_search_row_sources_of_all(p_row_ids uuid[]) returns table (read_sql text, row_keys jsonb)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.read_sql,
         jsonb_agg(jsonb_build_object('row_id', r.row_id, 'workspace_id', r.workspace_id, 'key', r.key) order by r.row_id)
    from iu_core.search_row r
    join iu_core.search_table t on t.table_id = r.table_id
   where r.row_id = any (p_row_ids) and t.state = 'active'
   group by t.table_id, t.read_sql
   order by t.table_id
$$;

grant execute on function iu_core.fn_search_row_sources_of_all(uuid[]) to vector_worker;

-- Whether a row of a table is of this workspace, of which the caller is a member.
create or replace function iu_core.fn_search_row_is_of(p_row_id uuid, p_workspace_id uuid) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  return exists (select from iu_core.search_row r where r.row_id = p_row_id and r.workspace_id = p_workspace_id);
end $$;

grant execute on function iu_core.fn_search_row_is_of(uuid, uuid) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Whether the session is Stagedoor's own: its API, which runs no SQL of others, or the back end. Rows of tables are found by no other
-- session: a member with a login could learn by questions what rows say that the table's policies hide. Internal.
create or replace function iu_core.fn_search_session_is_ours() returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return session_user = 'stagedoor_api' or iu_core.fn_caller_is_service()
      or pg_has_role(iu_core.fn_caller_role(), 'vector_worker', 'USAGE');
end $$;

-- Where a row of a table in search comes from: the promotion that wrote it last and was not undone, {upload_id, file_name, line,
-- action, promoted_at, promoted_by, approved_by}. NULL: no promotion of this workspace wrote it, or the caller may not know.
create or replace function iu_core.fn_search_row_lineage(p_workspace_id uuid, p_source text, p_key jsonb) returns jsonb
language plpgsql stable
as $$
begin
  return (select pg_catalog.jsonb_build_object(
                   'upload_id', l.upload_id, 'file_name', l.file_name, 'line', l.line, 'action', l.action, 'promoted_at', l.promoted_at,
                   'promoted_by', l.promoted_by, 'approved_by', l.approved_by)
            from iu_core.fn_ingest_lineage(p_workspace_id, p_source, null, p_key) as l
           where l.undone_at is null and l.undo_outcome is null
           order by l.promoted_at desc limit 1);
-- No dataset writes the table, its key is another one, or an agent asks.
exception when sqlstate 'SD001' or sqlstate 'SD202' or insufficient_privilege then
  return null;
end $$;

grant execute on function iu_core.fn_search_row_lineage(uuid, text, jsonb) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Moves what the triggers wrote to the outbox: for each row one, so that many changes are one projection. One session at a time;
-- p_wait false: does nothing while another one does it. Also deletes what search remembers of rows that have long been gone. Returns
-- how many changes were moved.
create or replace function iu_core.fn_search_rows_collect(p_wait boolean default false, p_limit integer default 5000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lock constant bigint := hashtextextended('stagedoor.search.rows', 0);
  v_policy iu_core.vector_policy;
  v_changes iu_core.search_row_change[];
begin
  if coalesce(p_wait, false) then
    perform pg_advisory_xact_lock(v_lock);
  elsif not pg_try_advisory_xact_lock(v_lock) then
    return 0;
  end if;
  perform iu_core.fn_search_rows_forget(p_limit);
  with taken as (
    delete from iu_core.search_row_change c
     where c.change_id in (select x.change_id from iu_core.search_row_change x order by x.change_id limit p_limit)
    returning c as change
  )
  select array_agg(t.change order by (t.change).change_id) into v_changes from taken t;
  if v_changes is null then
    return 0;
  end if;
  perform iu_core.fn_search_table_request_scan(t.table_id)
     from iu_core.search_table t
    where t.state = 'active' and t.table_id in (select c.table_id from unnest(v_changes) as c where c.operation = 'rescan');
  select * into v_policy from iu_core.vector_policy;
  with change as materialized (
    -- The newest tells what is to be done, the oldest since when it waits.
    select distinct on (c.table_id, c.workspace_id, c.key)
           c.table_id, c.workspace_id, c.key, c.operation, t.scan_pass, c.changed_at,
           min(c.changed_at) over (partition by c.table_id, c.workspace_id, c.key) as first_changed_at
      from unnest(v_changes) as c
      join iu_core.search_table t on t.table_id = c.table_id and t.state = 'active'
     where c.key is not null
     order by c.table_id, c.workspace_id, c.key, c.change_id desc
  ), named as materialized (
    select iu_core.fn_search_row_id(c.table_id, c.workspace_id, c.key) as row_id, c.* from change c
  ), known as (
    insert into iu_core.search_row as r (row_id, table_id, workspace_id, key, seen_pass)
    select n.row_id, n.table_id, n.workspace_id, n.key, n.scan_pass from named n where n.operation = 'upsert' order by n.row_id
    on conflict (row_id) do update set seen_pass = excluded.seen_pass
    returning r.row_id
  ), wanted as (
    select n.* from named n where n.row_id in (select k.row_id from known k)
    union all
    select n.* from named n where n.operation = 'delete' and exists (select from iu_core.search_row r where r.row_id = n.row_id)
  )
  insert into iu_core.vector_outbox as o (row_id, operation, first_enqueued_at, earliest_run_at, changed_at)
  select w.row_id, w.operation, w.first_changed_at,
         case w.operation when 'delete' then w.changed_at + v_policy.delete_delay
              else least(w.changed_at + v_policy.quiet_window, w.first_changed_at + v_policy.max_wait) end, clock_timestamp()
    from wanted w order by w.row_id
  on conflict (row_id) where row_id is not null do update
     set operation = excluded.operation,
         generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then excluded.first_enqueued_at else o.first_enqueued_at end,
         earliest_run_at = least(excluded.earliest_run_at,
                                 case when excluded.operation = 'upsert' then
                                   case when o.status in ('done', 'dead_letter') then excluded.first_enqueued_at else o.first_enqueued_at end
                                   + v_policy.max_wait end),
         retry_count = 0, last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = clock_timestamp();
  return cardinality(v_changes);
end $$;

grant execute on function iu_core.fn_search_rows_collect(boolean, integer) to vector_worker, dot_executor, service_role;

-- The id of a row: the same for ever. For the worker.
create or replace function iu_core.fn_search_row_id(p_table_id uuid, p_workspace_id uuid, p_key text[]) returns uuid
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select encode(substring(sha256(convert_to(concat_ws(' ', p_table_id, p_workspace_id, to_jsonb(p_key)), 'UTF8')) for 16), 'hex')::uuid
$$;

grant execute on function iu_core.fn_search_row_id(uuid, uuid, text[]) to vector_worker;

-- Forgets rows that are gone and of which search and its stores have nothing any more, and tables that were removed and have no
-- rows. A worker that is late may restore a point for ten minutes. Internal: the caller holds the lock of fn_search_rows_collect.
create or replace function iu_core.fn_search_rows_forget(p_limit integer) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows uuid[];
begin
  select array_agg(f.row_id) into v_rows from (
    select o.row_id
      from iu_core.search_row r
      join iu_core.vector_outbox o on o.row_id = r.row_id
     where r.content_hash is null and o.status = 'done' and o.changed_at < clock_timestamp() - interval '10 minutes'
       and not exists (select from iu_core.search_chunk c where c.row_id = r.row_id)
       and not exists (select from iu_core.search_point p where p.row_id = r.row_id)
     order by o.row_id limit p_limit
       for update of o skip locked) as f;
  if v_rows is not null then
    delete from iu_core.vector_outbox o where o.row_id = any (v_rows);
    delete from iu_core.search_row r where r.row_id = any (v_rows);
  end if;
  delete from iu_core.search_table t
   where t.state = 'removed' and not exists (select from iu_core.search_row r where r.table_id = t.table_id);
end $$;

-- Enqueues rows without the quiet window. Internal.
create or replace function iu_core.fn_search_rows_enqueue_now(p_row_ids uuid[], p_operation text default 'upsert') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_row_ids), 0) = 0 then
    return;
  end if;
  insert into iu_core.vector_outbox as o (row_id, operation, earliest_run_at)
  select r.row_id, p_operation, clock_timestamp()
    from iu_core.search_row r where r.row_id = any (p_row_ids) order by r.row_id
  on conflict (row_id) where row_id is not null do update
     set operation = excluded.operation, generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then excluded.first_enqueued_at else o.first_enqueued_at end,
         earliest_run_at = excluded.earliest_run_at, retry_count = 0, last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end, changed_at = excluded.earliest_run_at;
  perform pg_notify('stagedoor', 'search ');
end $$;

-- The same for a worker that found rows in another state than search has them.
create or replace function iu_core.fn_search_rows_refresh(p_row_ids uuid[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_search_rows_enqueue_now(p_row_ids);
end $$;

grant execute on function iu_core.fn_search_rows_refresh(uuid[]) to vector_worker;

-- One step of the scan of a table: all its rows, page by page in key order, are enqueued; then those that it did not meet, which are
-- gone, for removal. It runs with the rights of vector_worker, because it reads the table; several workers do not disturb each other.
-- Returns what the scan is doing now (waiting: for transactions that wrote the table, or until less waits in the outbox).
create or replace function iu_core.fn_search_table_scan(p_table_id uuid, p_page integer default 1000) returns text
language plpgsql
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'iso_8601'
set bytea_output = 'hex'
set extra_float_digits = 1
as $$
declare
  t iu_core.search_table;
  v_total bigint;
  v_workspaces uuid[];
  v_keys jsonb;
begin
  select * into t from iu_core.search_table x where x.table_id = p_table_id;
  case t.scan_state
    when 'waiting' then
      -- An estimate where counting would take long.
      select pg_catalog.sum(c.reltuples) into v_total
        from iu_core.fn_search_table_tree(p_table_id) as r join pg_catalog.pg_class c on c.oid = r where c.relkind = 'r';
      if coalesce(v_total, 0) < 1000000 then
        execute pg_catalog.format('select count(*) from %I.%I', t.source_schema, t.source_table) into v_total;
      end if;
      return iu_core.fn_search_table_scan_begin(p_table_id, t.scan_pass, v_total);
    when 'scanning' then
      if iu_core.fn_search_rows_are_many() then
        return 'waiting';
      end if;
      execute t.page_sql into v_workspaces, v_keys using t.scan_after, p_page;
      return iu_core.fn_search_table_scan_put(p_table_id, t.scan_pass, t.scan_after, v_workspaces, v_keys, p_page);
    when 'sweeping' then
      return iu_core.fn_search_table_sweep(p_table_id, t.scan_pass, p_page);
    else
      return t.scan_state;
  end case;
end $$;

grant execute on function iu_core.fn_search_table_scan(uuid, integer) to vector_worker;

-- The table of a projection with its partitions and children. For the worker.
create or replace function iu_core.fn_search_table_tree(p_table_id uuid) returns setof regclass
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select r from iu_core.search_table t cross join lateral iu_core.fn_sql_route_relations(iu_core.fn_search_table_relation(t)) as r
   where t.table_id = p_table_id and iu_core.fn_search_table_relation(t) is not null
$$;

grant execute on function iu_core.fn_search_table_tree(uuid) to vector_worker, dot_executor, service_role;

-- Whether so much waits in the outbox that a scan would only make edits wait longer. For the worker.
create or replace function iu_core.fn_search_rows_are_many() returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*) > 2000
    from (select from iu_core.vector_outbox o where o.status in ('pending', 'processing') and o.row_id is not null
             and o.earliest_run_at <= clock_timestamp() limit 2001) as w
$$;

grant execute on function iu_core.fn_search_rows_are_many() to vector_worker;

-- Begins a scan once every transaction has ended that was writing the table when it was asked for: such a one may have run statements
-- before the triggers were active, which the scan would not see yet. For the worker.
create or replace function iu_core.fn_search_table_scan_begin(p_table_id uuid, p_pass integer, p_total bigint) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t iu_core.search_table;
  v_writers text[];
begin
  select * into t from iu_core.search_table x where x.table_id = p_table_id for update;
  if not found or t.scan_pass <> p_pass or t.scan_state <> 'waiting' then
    return coalesce(t.scan_state, 'none');
  end if;
  select coalesce(array_agg(distinct l.virtualtransaction), '{}') into v_writers
    from pg_locks l
   where l.locktype = 'relation' and l.granted and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.relation in (select r::oid from iu_core.fn_search_table_tree(p_table_id) as r)
     and l.mode = 'RowExclusiveLock';
  -- Those that came later have the triggers.
  v_writers := case when t.scan_blockers is null then v_writers
                    else array(select w from unnest(v_writers) as w where w = any (t.scan_blockers)) end;
  update iu_core.search_table x
     set scan_blockers = v_writers, scan_total = p_total,
         scan_state = case when v_writers = '{}' then 'scanning' else 'waiting' end,
         scan_started_at = case when v_writers = '{}' then clock_timestamp() end
   where x.table_id = p_table_id;
  return case when v_writers = '{}' then 'scanning' else 'waiting' end;
end $$;

grant execute on function iu_core.fn_search_table_scan_begin(uuid, integer, bigint) to vector_worker;

-- Enqueues a page of rows that a scan has read, and remembers how far it came. Does nothing if another worker was faster. For the
-- worker.
create or replace function iu_core.fn_search_table_scan_put(
  p_table_id uuid, p_pass integer, p_after text[], p_workspaces uuid[], p_keys jsonb, p_page integer
) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t iu_core.search_table;
  v_many integer := coalesce(cardinality(p_workspaces), 0);
  v_skipped integer := coalesce(cardinality(array_positions(p_workspaces, null)), 0);
begin
  select * into t from iu_core.search_table x where x.table_id = p_table_id for update;
  if not found or t.scan_pass <> p_pass or t.scan_state <> 'scanning' or t.scan_after is distinct from p_after then
    return coalesce(t.scan_state, 'none');
  end if;
  with page as materialized (
    select w.workspace_id, array(select jsonb_array_elements_text(k.value)) as key
      from unnest(p_workspaces) with ordinality as w (workspace_id, n)
      join jsonb_array_elements(p_keys) with ordinality as k (value, n) using (n)
     where w.workspace_id is not null
  ), named as (
    select iu_core.fn_search_row_id(p_table_id, p.workspace_id, p.key) as row_id, p.* from page p
  )
  insert into iu_core.search_row as r (row_id, table_id, workspace_id, key, seen_pass)
  select n.row_id, p_table_id, n.workspace_id, n.key, p_pass from named n order by n.row_id
  on conflict (row_id) do update set seen_pass = excluded.seen_pass;
  perform iu_core.fn_search_rows_enqueue_now(array(
    select iu_core.fn_search_row_id(p_table_id, w.workspace_id, array(select jsonb_array_elements_text(k.value)))
      from unnest(p_workspaces) with ordinality as w (workspace_id, n)
      join jsonb_array_elements(p_keys) with ordinality as k (value, n) using (n)
     where w.workspace_id is not null));
  update iu_core.search_table x
     set scanned = x.scanned + v_many, scan_skipped = x.scan_skipped + v_skipped,
         scan_after = case when v_many > 0 then array(select jsonb_array_elements_text(p_keys -> -1)) else x.scan_after end,
         scan_state = case when v_many < p_page then 'sweeping' else 'scanning' end
   where x.table_id = p_table_id;
  return case when v_many < p_page then 'sweeping' else 'scanning' end;
end $$;

grant execute on function iu_core.fn_search_table_scan_put(uuid, integer, text[], uuid[], jsonb, integer) to vector_worker;

-- Enqueues rows that a scan did not meet, for removal; the scan has ended when there are no more. For the worker.
create or replace function iu_core.fn_search_table_sweep(p_table_id uuid, p_pass integer, p_page integer) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  t iu_core.search_table;
  v_rows uuid[];
begin
  select * into t from iu_core.search_table x where x.table_id = p_table_id for update;
  if not found or t.scan_pass <> p_pass or t.scan_state <> 'sweeping' then
    return coalesce(t.scan_state, 'none');
  end if;
  with met as (
    update iu_core.search_row r set seen_pass = p_pass
     where r.row_id in (select x.row_id from iu_core.search_row x
                         where x.table_id = p_table_id and x.seen_pass < p_pass order by x.row_id limit p_page)
    returning r.row_id
  )
  select array_agg(m.row_id) into v_rows from met m;
  if v_rows is null then
    update iu_core.search_table x set scan_state = 'done', scan_ended_at = clock_timestamp() where x.table_id = p_table_id;
    return 'done';
  end if;
  perform iu_core.fn_search_rows_enqueue_now(v_rows, 'delete');
  return 'sweeping';
end $$;

grant execute on function iu_core.fn_search_table_sweep(uuid, integer, integer) to vector_worker;

-- How the rows of a table are read: the text of the statements. read_sql takes [{row_id, workspace_id, key}] and answers with arrays
-- of ids, titles, texts and filter values; page_sql takes the key after which it begins (NULL: at the first) and how many, and answers with arrays
-- of workspaces and keys. No name of the table can mean one of ours: every column is written with the alias of the table. Internal.
create or replace function iu_core.fn_search_table_statements(p_table iu_core.search_table, out read_sql text, out page_sql text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_relation regclass := iu_core.fn_search_table_relation(p_table);
  v_name text := format('%I.%I', p_table.source_schema, p_table.source_table);
  v_key text[] := iu_core.fn_search_table_key(v_relation);
  v_workspace text := case when p_table.workspace_column is not null then format('t.%I', p_table.workspace_column)
                           else format('%L::uuid', p_table.workspace_id) end;
  v_keys text := iu_core.fn_search_columns_sql(v_relation, 't', v_key);
  v_texts text;
  v_title text := case when p_table.title_column is not null
                       then (iu_core.fn_sql_route_column(v_relation, 't', p_table.title_column)).as_text end;
  v_filters text;
  v_types text[];
begin
  select array_agg(format_type(a.atttypid, -1) order by k.n) into v_types
    from unnest(v_key) with ordinality as k (name, n)
    join pg_attribute a on a.attrelid = v_relation and a.attname = k.name and not a.attisdropped;
  select string_agg(format('nullif(pg_catalog.btrim(%s, E'' \t\n\r''), '''')', c.as_text), ', ' order by k.n) into v_texts
    from unnest(case when p_table.title_column is null or p_table.title_column = any (p_table.text_columns) then p_table.text_columns
                     else array[p_table.title_column] || p_table.text_columns end) with ordinality as k (name, n)
   cross join lateral iu_core.fn_sql_route_column(v_relation, 't', k.name) as c;
  select string_agg(format('%L, %s', k.name, c.as_text), ', ' order by k.n) into v_filters
    from unnest(p_table.filter_columns) with ordinality as k (name, n)
   cross join lateral iu_core.fn_sql_route_column(v_relation, 't', k.name) as c;
  -- The key is compared as text as well: equal values may be written in two ways (1.0 and 1.00, or a case that does not count), and one
  -- row would be two.
  read_sql := format(
    'select pg_catalog.array_agg(x.row_id), pg_catalog.array_agg(x.title), pg_catalog.array_agg(x.body), pg_catalog.array_agg(x.filters)
       from (select (r.wanted ->> ''row_id'')::uuid as row_id, f.title, f.body, f.filters
               from pg_catalog.jsonb_array_elements($1) as r (wanted)
              cross join lateral (
                select coalesce(nullif(pg_catalog.btrim(%s, E'' \t\n\r''), ''''),
                                pg_catalog."left"(pg_catalog.split_part(pg_catalog.concat_ws(E''\n\n'', %s), E''\n'', 1), 200)) as title,
                       pg_catalog.concat_ws(E''\n\n'', %s) as body,
                       pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(%s)) as filters
                  from %s as t
                 where %s and array[%s]::text[] = array(select pg_catalog.jsonb_array_elements_text(r.wanted -> ''key''))
                   and %s = (r.wanted ->> ''workspace_id'')::uuid
                 limit 1) as f) as x',
    coalesce(v_title, 'null::text'), v_texts, v_texts, coalesce(v_filters, ''), v_name,
    (select string_agg(format('t.%I = (r.wanted #>> ''{key,%s}'')::%s', k.name, k.n - 1, v_types[k.n]), ' and ' order by k.n)
       from unnest(v_key) with ordinality as k (name, n)),
    v_keys, v_workspace);
  page_sql := format(
    'select pg_catalog.array_agg(y.workspace_id order by y.n), pg_catalog.jsonb_agg(y.key order by y.n)
       from (select pg_catalog.row_number() over () as n, p.*
               from (select %s as workspace_id, array[%s]::text[] as key from %s as t
                      where $1::text[] is null or (%s) > (%s)
                      order by %s limit $2) as p) as y',
    v_workspace, v_keys, v_name,
    (select string_agg(format('t.%I', k), ', ' order by n) from unnest(v_key) with ordinality as k (k, n)),
    (select string_agg(format('($1::text[])[%s]::%s', n, v_types[n]), ', ' order by n) from unnest(v_key) with ordinality as k (k, n)),
    (select string_agg(format('t.%I', k), ', ' order by n) from unnest(v_key) with ordinality as k (k, n)));
end $$;

-- Columns as text, separated by commas. Internal.
create or replace function iu_core.fn_search_columns_sql(p_relation regclass, p_alias text, p_columns text[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(c.as_text, ', ' order by k.n)
    from unnest(p_columns) with ordinality as k (name, n)
   cross join lateral iu_core.fn_sql_route_column(p_relation, p_alias, k.name) as c
$$;

-- Why a route of search is not one that fn_search_table_register made for its table, or NULL. Internal.
create or replace function iu_core.fn_search_route_problem(p_route iu_core.iu_sql_event_route) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_route.payload_contract - 'search' <> '{}' or p_route.idempotency_policy <> '{}' or not p_route.fail_closed
     or p_route.workspace_column is not null or p_route.source_object_kind <> 'table'
     or not exists (select from iu_core.search_table t
                     where t.state <> 'removed' and p_route.route_code = format('search.%s.%s', t.code, p_route.sql_event)
                       and (t.source_schema, t.source_table) = (p_route.source_schema, p_route.source_table)
                       and t.workspace_id is not distinct from p_route.workspace_id
                       and iu_core.fn_search_table_contract(t) = p_route.payload_contract -> 'search') then
    return 'a table comes into search by stagedoor search add-table, which registers its routes';
  end if;
  return null;
end $$;

-- What the trigger of a route of search runs on one table: send_sql writes the changed rows for fn_search_rows_collect, rehearse_sql
-- the evidence of a dry run. An update counts if the text of a column that search reads has changed. p_strict false, for a table that
-- was altered since: columns that are gone are not compared, and without its key the whole table is read again; the statement of
-- whoever writes the table never fails for search. Parameters as in fn_sql_route_statement. Internal.
create or replace function iu_core.fn_search_route_statement(
  p_route iu_core.iu_sql_event_route, p_relation regclass, p_strict boolean,
  out columns text[], out column_types regtype[], out send_sql text, out rehearse_sql text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_search jsonb := p_route.payload_contract -> 'search';
  v_table_id uuid := (v_search ->> 'table_id')::uuid;
  v_workspace_column text := v_search ->> 'workspace_column';
  v_key text[] := array(select jsonb_array_elements_text(v_search -> 'key'));
  v_watched text[] := array(select jsonb_array_elements_text(v_search -> 'text')
                            union select jsonb_array_elements_text(v_search -> 'filter') union select v_search ->> 'title' order by 1);
  v_there text[] := array(select a.attname::text from pg_attribute a where a.attrelid = p_relation and a.attnum > 0 and not a.attisdropped);
  v_rows text;
  v_from text;
begin
  v_watched := array_remove(v_watched, null);
  if not p_strict then
    v_watched := array(select w from unnest(v_watched) as w where w = any (v_there) order by w);
    if not v_key || array_remove(array[v_workspace_column], null) <@ v_there then
      send_sql := format('insert into iu_core.search_row_change (table_id, operation) values (%L, ''rescan'')', v_table_id);
      rehearse_sql := 'select';
      return;
    end if;
  end if;
  columns := array(select distinct c from unnest(v_key || v_watched || array_remove(array[v_workspace_column], null)) as c order by c);
  select array_agg((iu_core.fn_sql_route_column(p_relation, 'n', c)).type order by c) into column_types from unnest(columns) as c;
  v_rows := format('select %s as workspace_id, array[%s]::text[] as key, array[%s]::text[] as watched from ',
                   case when v_workspace_column is not null then format('n.%I', v_workspace_column)
                        else format('%L::uuid', p_route.workspace_id) end,
                   iu_core.fn_search_columns_sql(p_relation, 'n', v_key), coalesce(iu_core.fn_search_columns_sql(p_relation, 'n', v_watched), ''));
  v_from := case p_route.sql_event
    when 'insert' then format('select i.workspace_id, i.key, ''upsert'' as operation from (%s) as i', v_rows || 'stagedoor_new as n')
    when 'delete' then format('select d.workspace_id, d.key, ''delete'' as operation from (%s) as d', v_rows || 'stagedoor_old as n')
    when 'update' then format(
      'select coalesce(i.workspace_id, d.workspace_id) as workspace_id, coalesce(i.key, d.key) as key,
              case when i.key is null then ''delete'' else ''upsert'' end as operation
         from (select * from (%s) as i where i.workspace_id is not null) as i
         full join (select * from (%s) as d where d.workspace_id is not null) as d on d.key = i.key and d.workspace_id = i.workspace_id
        where i.key is null or d.key is null or i.watched <> d.watched',
      v_rows || 'stagedoor_new as n', v_rows || 'stagedoor_old as n') end;
  send_sql := format('insert into iu_core.search_row_change (table_id, workspace_id, key, operation)
                      select %L, q.workspace_id, q.key, q.operation from (%s) as q where q.workspace_id is not null',
                     v_table_id, v_from);
  rehearse_sql := format(
    'with q as materialized (select * from (%s) as q where q.workspace_id is not null)
     insert into iu_core.iu_sql_event_route_evidence (route_code, revision, relation, events, refused, sample, actor)
     select $1, $11, $12, s.many, 0,
            (select jsonb_agg(jsonb_build_object(
                      ''event_subject_ref'', to_jsonb(e.key)::text, ''canonical_address'', %L || to_jsonb(e.key)::text,
                      ''workspace_id'', e.workspace_id, ''safe_payload'', jsonb_build_object(''operation'', e.operation)))
               from (select * from q limit 5) as e), $9
       from (select count(*) as many from q) as s where s.many > 0',
    v_from, 'sql:' || iu_core.fn_sql_route_source_name(p_route) || '/');
end $$;
