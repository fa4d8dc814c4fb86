-- Tables that are open to proposals: opened and closed by an administrator, with the rights that the login stagedoor_proposer needs.

-- Opens a table to statements of a workspace, or changes what is open of it. Makes the dataset whose uploads the statements become.
-- Raises proposal_table_unfit with all that stands against it. For workflow_admin.
create or replace function iu_core.fn_proposal_open(
  p_workspace_id uuid, p_table text, p_operations text[] default null, p_columns text[] default null,
  p_triggers_allowed boolean default null, p_max_rows integer default null, p_opened_by text default null
) returns iu_core.ingest_proposal_table
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass := iu_core.fn_ingest_table(p_table);
  v_target text := iu_core.fn_ingest_table_sql(v_table);
  v_before iu_core.ingest_proposal_table;
  v_open iu_core.ingest_proposal_table;
  v_actor record := iu_core.fn_actor_for(p_opened_by);
  v_problems record;
begin
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_workspace_id is null then
    raise exception using errcode = 'SD001', message = 'A table is opened for a workspace: say which';
  end if;
  select * into v_before from iu_core.ingest_proposal_table where workspace_id = p_workspace_id and target = v_target;
  v_open.operations := coalesce(p_operations, v_before.operations, array['insert', 'update', 'delete']);
  v_open.columns := nullif(coalesce(p_columns, v_before.columns), '{}');
  v_open.triggers_allowed := coalesce(p_triggers_allowed, v_before.triggers_allowed, false);
  -- A remedy is a statement for the owner of the table, or advice.
  select (array_agg(problem))[1] as first, string_agg(problem, '; ') as reason, string_agg(remedy, ' ') filter (where remedy not like '%;') as advice,
         jsonb_agg(remedy) filter (where remedy like '%;') as statements
    into v_problems
    from iu_core.fn_proposal_table_problems(p_workspace_id, p_table, v_open.operations, v_open.columns, v_open.triggers_allowed);
  if v_problems.first is not null then
    raise exception using errcode = 'SD663',
      message = format('%s cannot be opened to proposals: %s', p_table, v_problems.reason),
      hint = concat_ws(' ', v_problems.advice,
                       case when v_problems.statements is not null then 'The owner of the table runs the statements, then it can be opened.'
                            when v_problems.advice is null then 'Open another table.' end),
      detail = json_build_object('table', p_table, 'reason', v_problems.reason, 'statements', v_problems.statements)::text;
  end if;
  v_open.dataset := coalesce(v_before.dataset, iu_core.fn_proposal_dataset_name(p_workspace_id, v_table));
  perform iu_core.fn_ingest_dataset_register(iu_core.fn_proposal_definition(v_open.dataset, v_table), p_workspace_id => p_workspace_id);
  insert into iu_core.ingest_proposal_table as t (dataset, workspace_id, target, operations, columns, triggers_allowed, max_rows, opened_by)
  values (v_open.dataset, p_workspace_id, v_target, v_open.operations, v_open.columns, v_open.triggers_allowed,
          coalesce(p_max_rows, v_before.max_rows, 10000), v_actor.actor)
  on conflict (dataset) do update
     set operations = excluded.operations, columns = excluded.columns, triggers_allowed = excluded.triggers_allowed,
         max_rows = excluded.max_rows, opened_by = excluded.opened_by, opened_at = clock_timestamp(), closed_by = null, closed_at = null
  returning * into v_open;
  insert into iu_core.ingest_proposal_table_audit (dataset, old_row, new_row, actor)
  values (v_open.dataset, case when v_before.dataset is not null then to_jsonb(v_before) end, to_jsonb(v_open), v_actor.actor);
  return v_open;
end $$;

-- Closes a table: its statements are refused, and plans of earlier ones cannot be promoted any more. For workflow_admin.
create or replace function iu_core.fn_proposal_close(p_workspace_id uuid, p_table text, p_closed_by text default null)
returns iu_core.ingest_proposal_table
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before iu_core.ingest_proposal_table;
  v_closed iu_core.ingest_proposal_table;
  v_actor record := iu_core.fn_actor_for(p_closed_by);
begin
  -- A table that was dropped is known by the name that it had.
  select * into v_before from iu_core.ingest_proposal_table
   where workspace_id = p_workspace_id and closed_at is null
     and target in (iu_core.fn_ingest_table_sql(iu_core.fn_ingest_table(p_table)), p_table);
  if not found then
    perform iu_core.fn_proposal_raise_closed(p_table);
  end if;
  update iu_core.ingest_proposal_table set closed_by = v_actor.actor, closed_at = clock_timestamp()
   where dataset = v_before.dataset returning * into v_closed;
  insert into iu_core.ingest_proposal_table_audit (dataset, old_row, new_row, actor)
  values (v_closed.dataset, to_jsonb(v_before), to_jsonb(v_closed), v_actor.actor);
  return v_closed;
end $$;

-- Raises proposal_table_closed. Internal.
create or replace function iu_core.fn_proposal_raise_closed(p_table text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'SD661',
    message = format('The table %s is not open to proposals', coalesce(p_table, 'NULL')),
    detail = json_build_object('table', p_table)::text;
end $$;

-- What stands against opening a table, each with a remedy. No rows: it can be opened. Internal.
create or replace function iu_core.fn_proposal_table_problems(
  p_workspace_id uuid, p_table text, p_operations text[], p_columns text[], p_triggers_allowed boolean
) returns table (problem text, remedy text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass := iu_core.fn_ingest_table(p_table);
  v_name text := iu_core.fn_ingest_table_sql(v_table);
  c pg_class;
  v_key text[];
begin
  if v_table is null then
    return query select format('there is no table %s', coalesce(p_table, 'NULL')), 'Name it with its schema, such as public.products.'::text;
    return;
  end if;
  select * into c from pg_class where oid = v_table;
  if c.relnamespace in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema', 'iu_core', 'noetl') or nspname like 'pg\_t%')
     or v_name in ('public.staging_rows', 'public.staging_id_resolution', 'public.workspaces', 'public.workspace_members', 'public.iu_lifecycle_log',
                   'public.data_uploads') then
    return query select 'it belongs to Stagedoor or to PostgreSQL'::text, 'Open a table of your own.'::text;
    return;
  end if;
  if c.relkind not in ('r', 'p') then
    return query select format('it is a %s', case c.relkind when 'v' then 'view' when 'm' then 'materialized view' else 'foreign table' end),
                        iu_core.fn_ingest_not_a_table_advice(v_table, c.relkind);
    return;
  end if;
  if c.relispartition then
    return query select 'it is a partition'::text, format('Open the partitioned table %s.', iu_core.fn_ingest_table_sql(pg_partition_root(v_table)));
  elsif c.relkind = 'r' and exists (select from pg_inherits where v_table in (inhparent, inhrelid)) then
    return query select 'other tables inherit from it, or it from another'::text, 'Open a table that is by itself, or a partitioned one.'::text;
  end if;
  if exists (select from pg_rewrite where ev_class = v_table) then
    return query select 'it has rules, which would write something else than the statement says'::text, 'Replace the rules with triggers.'::text;
  end if;
  if p_operations is null or not p_operations <@ array['insert', 'update', 'delete'] or cardinality(p_operations) = 0 then
    return query select 'an operation is insert, update or delete'::text, 'Name at least one of them.'::text;
  end if;
  v_key := iu_core.fn_ingest_unique_key(v_table);
  if v_key is null then
    return query select 'it has no unique key of columns that are never NULL, so its rows could not be found again'::text,
                        format('alter table %s add primary key (…);', v_name);
  end if;
  return query
    select format('its column %s %s', k, case when a.attname is null then 'does not exist' when a.attgenerated <> '' then 'is generated'
                                              else 'is part of the key, and a row keeps its key' end),
           'Leave it out of --columns.'::text
      from unnest(p_columns) k left join pg_attribute a on a.attrelid = v_table and a.attname = k and a.attnum > 0 and not a.attisdropped
     where a.attname is null or a.attgenerated <> '' or a.attname = any (v_key) and not 'insert' = any (p_operations);
  if not p_triggers_allowed then
    return query
      select 'it has triggers or functions, which run while a statement is worked out: ' || string_agg(t.name, ', ' order by t.name),
             'Look at what they do, then open it with --allow-triggers.'::text
        from iu_core.fn_proposal_triggers(v_table, p_operations) t having count(*) > 0;
  end if;
  -- Otherwise a statement would see nothing, or the rows of every tenant.
  if c.relrowsecurity and not exists (
       select from pg_policy p where p.polrelid = v_table and p.polpermissive
          and (p.polroles = '{0}' or 'stagedoor_proposer'::regrole = any (p.polroles))) then
    return query select 'its row level security shows the login stagedoor_proposer no row'::text,
      format('create policy proposals on %s to stagedoor_proposer using (<column of the workspace> = current_setting(''stagedoor.workspace_id'')::uuid);', v_name);
  elsif not c.relrowsecurity and exists (
       select from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec, jsonb_each_text(spec -> 'columns') m
        where iu_core.fn_ingest_table(spec ->> 'target') = v_table and m.value in ('$workspace', '$client')) then
    return query select 'it holds rows of several workspaces, and nothing would keep a statement to those of its own'::text,
      format('alter table %1$s enable row level security; create policy proposals on %1$s to stagedoor_proposer using (<column of the workspace> = current_setting(''stagedoor.workspace_id'')::uuid);', v_name);
  end if;
end $$;

-- What runs besides a statement with these operations: triggers of the table and of its partitions, those of tables whose rows follow a
-- deletion (foreign keys), and volatile functions that somebody has created, or that proposals may not call, in defaults, checks (of domains
-- in lists, rows, ranges and other domains, too) and policies, and casts of the types of its columns to json, which every image of a row would call
-- and show instead of the value. Functions of extensions and those that are not volatile are no effect, nor is the signal of our own routes: a trigger for each
-- statement that calls our function, under no condition (a condition could call somebody's), whatever it is called. Internal.
create or replace function iu_core.fn_proposal_triggers(p_table regclass, p_operations text[]) returns table (name text, timing text, function text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive reached (relation, operation, follows) as (
    select p_table::oid, o, false from unnest(p_operations) o
    union
    select x.relation, x.operation, x.follows
      from reached r, lateral (
             select f.conrelid, case f.confdeltype when 'c' then 'delete' else 'update' end, true
               from pg_constraint f
              where f.contype = 'f' and f.confrelid = r.relation and r.operation = 'delete' and f.confdeltype in ('c', 'n', 'd')
             union all
             select t.relid::oid, r.operation, r.follows from pg_partition_tree(r.relation) t) as x (relation, operation, follows)
  ), types (type) as (
    select a.atttypid from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    union
    select x.type
      from types s join pg_type t on t.oid = s.type, lateral (
             select t.typbasetype where t.typtype = 'd'
             union all
             select t.typelem where t.typelem <> 0
             union all
             select r.rngsubtype from pg_range r where t.oid in (r.rngtypid, r.rngmultitypid)
             union all
             select a.atttypid from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) as x (type)
  ), called as (
    select 'default' as kind, a.attname::text as of, d.adbin::text as expression
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     where d.adrelid = p_table and p_operations && array['insert', 'update']
    union all
    select 'check', k.conname, k.conbin::text
      from pg_constraint k
     where k.contype = 'c' and p_operations && array['insert', 'update']
       and (k.conrelid = p_table or k.contypid in (select s.type from types s))
    union all
    select 'policy', p.polname, concat(p.polqual::text, p.polwithcheck::text)
      from pg_policy p where p.polrelid = p_table and (p.polroles = '{0}' or 'stagedoor_proposer'::regrole = any (p.polroles))
  )
  select distinct case when r.follows then iu_core.fn_ingest_table_sql(g.tgrelid) || '.' else '' end || g.tgname,
         case when (g.tgtype & 2) <> 0 then 'before' when (g.tgtype & 64) <> 0 then 'instead of' else 'after' end, g.tgfoid::regprocedure::text
    from reached r join pg_trigger g on g.tgrelid = r.relation
   where not g.tgisinternal and g.tgenabled <> 'D'
     and not (g.tgfoid = 'iu_core.fn_sql_event_route()'::regprocedure and (g.tgtype & (1 | 2 | 64)) = 0 and g.tgqual is null)
     and (g.tgtype & case r.operation when 'insert' then 4 when 'delete' then 8 else 16 end) <> 0
  union
  select c.kind || ' ' || c.of, c.kind, f.oid::regprocedure::text
    from called c, lateral regexp_matches(c.expression, ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') m
    join pg_proc f on f.oid = m[1]::oid
   where f.provolatile = 'v' and not exists (select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = f.oid and e.deptype = 'e')
     and not (f.oid < 16384 and f.proname in ('nextval', 'currval', 'lastval', 'random', 'random_normal', 'clock_timestamp', 'timeofday',
                                              'gen_random_uuid', 'uuidv4', 'uuidv7'))
  union
  select format('cast of %s to json', format_type(k.castsource, null)), 'cast', k.castfunc::regprocedure::text
    from types s join pg_cast k on k.castsource = s.type and k.casttarget = 'json'::regtype
   where k.castfunc >= 16384 and not exists (select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = k.castfunc and e.deptype = 'e')
$$;

-- The name of the dataset of a table: sql_public_products, with a part of the workspace's id where another one has it. Internal.
create or replace function iu_core.fn_proposal_dataset_name(p_workspace_id uuid, p_table regclass) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when not exists (select from iu_core.ingest_dataset d where d.dataset = n.name) then n.name
              else left(n.name, 46) || '_' || left(encode(sha256(convert_to(p_workspace_id || p_table::oid::text, 'UTF8')), 'hex'), 16) end
    from (select left('sql_' || regexp_replace(lower(iu_core.fn_ingest_table_sql(p_table)), '[^a-z0-9]+', '_', 'g'), 63) as name) n
$$;

-- The declaration of a table whose rows statements change: every column that can be written, the key by which rows are found, and the
-- mode `statement`, which takes no file. Internal.
create or replace function iu_core.fn_proposal_definition(p_dataset text, p_table regclass) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with col as (
    select a.attnum, a.attname::text as name,
           case when a.attname ~ '^[$@]' then 'column_' || a.attnum else a.attname end as field,
           jsonb_build_object('title', a.attname, 'aliases', '{}'::jsonb, 'type',
             case when t.typcategory = 'A' then 'array' when t.typname in ('int2', 'int4', 'int8') then 'integer' when t.typname = 'numeric' then 'decimal'
                  when t.typname = 'bool' then 'boolean' when t.typname in ('date', 'time', 'timestamp', 'timestamptz', 'uuid') then t.typname::text
                  when t.typname in ('json', 'jsonb') then 'json' else 'text' end) as declared
      from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  ), kind as (
    select case when r.name in ('client', 'workspace', 'platform', 'identity') or iu_core.fn_payload_problem(jsonb_build_object(r.name, 0)) is not null
                then r.name || '_row' else r.name end as name
      from (select coalesce(nullif(btrim(regexp_replace(lower(c.relname), '[^a-z0-9]+', '_', 'g'), '_'), ''), 'row') as name
              from pg_class c where c.oid = p_table) r
  )
  select jsonb_build_object(
    'name', p_dataset, 'title', 'SQL on ' || iu_core.fn_ingest_table_sql(p_table), 'version', 1,
    'platforms', '{"sql": {"title": "SQL statement"}}'::jsonb,
    'fields', (select jsonb_object_agg(field, declared) from col), 'field_order', (select jsonb_agg(field order by attnum) from col),
    'rows', jsonb_build_array(jsonb_build_object(
      'name', (select name from kind), 'target', iu_core.fn_ingest_table_sql(p_table), 'mode', 'statement', 'requires', '[]'::jsonb,
      'key', to_jsonb(iu_core.fn_ingest_unique_key(p_table)), 'columns', (select jsonb_object_agg(name, field) from col))))
$$;

-- Whether a dataset takes statements, not files. Internal.
create or replace function iu_core.fn_proposal_is_statement(p_definition jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select p_definition -> 'rows' @> '[{"mode": "statement"}]'
$$;

-- The statements that give the login stagedoor_proposer exactly the rights on a table that are open, over all workspaces, or take all away.
-- For workflow_admin, and for whoever owns the table.
create or replace function iu_core.fn_proposal_grants(p_table text) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass := iu_core.fn_ingest_table(p_table);
  v_name text := iu_core.fn_ingest_table_sql(v_table);
  v_key text[] := iu_core.fn_ingest_unique_key(v_table);
  v_open record;
  v_columns text;
begin
  if v_table is null then
    return;
  end if;
  select array_agg(distinct o) as operations, bool_or(t.columns is null) as all_columns,
         array(select distinct k from iu_core.ingest_proposal_table x, unnest(x.columns) k where x.target = v_name and x.closed_at is null) as columns
    into v_open
    from iu_core.ingest_proposal_table t, unnest(t.operations) o where t.target = v_name and t.closed_at is null;
  return next format('revoke all on %s from stagedoor_proposer;', v_name);
  if v_open.operations is null then
    return;
  end if;
  return next format('grant usage on schema %I to stagedoor_proposer;', (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = v_table));
  return next format('grant select on %s to stagedoor_proposer;', v_name);
  if 'delete' = any (v_open.operations) then
    return next format('grant delete on %s to stagedoor_proposer;', v_name);
  end if;
  if 'update' = any (v_open.operations) then
    -- A row keeps its key: the login cannot change it.
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) into v_columns
      from pg_attribute a
     where a.attrelid = v_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity <> 'a' and a.attname <> all (v_key)
       and (v_open.all_columns or a.attname = any (v_open.columns));
    if v_columns is not null then
      return next format('grant update (%s) on %s to stagedoor_proposer;', v_columns, v_name);
    end if;
  end if;
  if 'insert' = any (v_open.operations) then
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) into v_columns
      from pg_attribute a
     where a.attrelid = v_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and (v_open.all_columns or a.attname = any (v_key) or a.attname = any (v_open.columns));
    return next format('grant insert (%s) on %s to stagedoor_proposer;', v_columns, v_name);
    return query
      select distinct format('grant usage on sequence %s to stagedoor_proposer;', iu_core.fn_ingest_table_sql(q.sequence))
        from pg_attribute a, lateral (select iu_core.fn_ingest_column_sequence(v_table, a.attnum)) as q (sequence)
       where a.attrelid = v_table and a.attnum > 0 and not a.attisdropped and a.atthasdef and a.attgenerated = '' and q.sequence is not null;
  end if;
end $$;

-- The tables that are or were open to proposals, of one workspace or (NULL) of all, with their key, their triggers, and whether the login
-- stagedoor_proposer has the rights that it needs. For workflow_admin and, of a workspace, for its members.
create or replace function iu_core.fn_proposal_tables(p_workspace_id uuid default null)
returns table (
  workspace_id uuid, target text, dataset text, operations text[], columns text[], key text[], triggers text[], triggers_allowed boolean,
  max_rows integer, row_security boolean, opened_by text, opened_at timestamptz, closed_by text, closed_at timestamptz,
  -- What is missing until statements can be proposed; NULL: nothing.
  not_ready text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- NULL, all workspaces: the back end only.
  perform iu_core.require_member(p_workspace_id, 'read');
  return query
    select t.workspace_id, t.target, t.dataset, t.operations, t.columns, coalesce(iu_core.fn_ingest_unique_key(x.oid), '{}'),
           array(select g.name || ' (' || g.timing || ')' from iu_core.fn_proposal_triggers(x.oid, t.operations) g order by 1), t.triggers_allowed,
           t.max_rows, coalesce(c.relrowsecurity, false), t.opened_by, t.opened_at, t.closed_by, t.closed_at,
           case when t.closed_at is not null then null
                when x.oid is null then 'the table does not exist any more'
                when not has_schema_privilege('stagedoor_proposer', c.relnamespace, 'usage') then 'stagedoor_proposer may not use its schema'
                when not has_table_privilege('stagedoor_proposer', x.oid, 'select') then 'stagedoor_proposer may not read it'
                when 'delete' = any (t.operations) and not has_table_privilege('stagedoor_proposer', x.oid, 'delete') then 'stagedoor_proposer may not delete from it'
                when 'insert' = any (t.operations) and not has_any_column_privilege('stagedoor_proposer', x.oid, 'insert') then 'stagedoor_proposer may not insert into it'
                when 'update' = any (t.operations) and not has_any_column_privilege('stagedoor_proposer', x.oid, 'update') then 'stagedoor_proposer may not update it' end
      from iu_core.ingest_proposal_table t
     cross join lateral (select iu_core.fn_ingest_table(t.target)) as x (oid)
      left join pg_class c on c.oid = x.oid
     where p_workspace_id is null or t.workspace_id = p_workspace_id
     order by t.target, t.workspace_id;
end $$;

grant execute on function iu_core.fn_proposal_tables(uuid) to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
