-- Ordinary tables: how they are found in the catalogue, how their rows are referred to, and whose dataset it is.

-- A table by its declared name (schema.table), from the catalogue alone: to_regclass raises where we may not use the schema.
-- NULL: there is none. Internal.
create or replace function iu_core.fn_ingest_table(p_name text) returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass
    from parse_ident(p_name) as i (parts)
    join pg_namespace n on n.nspname = i.parts[1]
    join pg_class c on c.relnamespace = n.oid and c.relname = i.parts[2]
   where cardinality(i.parts) = 2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
$$;

-- How other rows refer to rows of a row type: {"column", "type", "kind", "sequence"}; NULL: not at all. kind: uuid: we allocate
-- it; sequence: the plan takes it from the sequence of the column; natural: `columns` fills it; none: it cannot be known before
-- promotion. Internal.
create or replace function iu_core.fn_ingest_row_ref(p_spec jsonb, p_table regclass) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('column', a.attname, 'type', iu_core.fn_ingest_column_type(a), 'kind', k.kind,
                            'sequence', case k.kind when 'sequence' then iu_core.fn_ingest_table_sql(s.sequence) end)
    from pg_attribute a,
         lateral (select iu_core.fn_ingest_column_sequence(p_table, a.attnum)) as s (sequence),
         lateral (select case when p_spec -> 'columns' ? a.attname::text then 'natural'
                              when a.atttypid = 'uuid'::regtype then 'uuid'
                              when s.sequence is not null and a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then 'sequence'
                              else 'none' end) as k (kind)
   where a.attrelid = p_table and a.attname = p_spec ->> 'id' and a.attnum > 0 and not a.attisdropped
$$;

-- The sequence that numbers a column: of an identity, or of its default (serial, or a sequence that somebody shares). Internal.
create or replace function iu_core.fn_ingest_column_sequence(p_table regclass, p_column smallint) returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.oid::regclass
    from (select d.objid, 1 as place from pg_depend d
           where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
             and d.refobjid = p_table and d.refobjsubid = p_column and d.deptype = 'i'
          union all
          select d.refobjid, 2 from pg_attrdef f
            join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid and d.refclassid = 'pg_class'::regclass
           where f.adrelid = p_table and f.adnum = p_column) o
    join pg_class s on s.oid = o.objid and s.relkind = 'S'
   order by o.place limit 1
$$;

-- Whose dataset it is: NULL if every key says whose row it is, else one workspace: the given one, the one that it has, or the
-- only one there is. The latter not where the declaration knows tenants: their columns are missing in a key then. NULL as well
-- if there is none: then it cannot be registered. Internal.
create or replace function iu_core.fn_ingest_dataset_workspace(p_definition jsonb, p_workspace_id uuid) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when not iu_core.fn_ingest_is_tenant_scoped(p_definition) then coalesce(
    p_workspace_id,
    (select d.workspace_id from iu_core.ingest_dataset d where d.dataset = p_definition ->> 'name'),
    (select min(w.id::text)::uuid from public.workspaces w
      where p_definition -> 'client' is null
        and not exists (select from jsonb_array_elements(p_definition -> 'rows') spec, jsonb_each_text(spec -> 'columns') c
                         where c.value in ('$client', '$workspace'))
     having count(*) = 1)) end
$$;

-- Whether the keys of all row types identify one workspace. Internal.
create or replace function iu_core.fn_ingest_is_tenant_scoped(p_definition jsonb) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select bool_and(iu_core.fn_ingest_key_is_tenant_scoped(p_definition, spec)) from jsonb_array_elements(p_definition -> 'rows') spec
$$;

-- Lets promotions and undos over the same table run one after the other, until the end of the transaction, whichever datasets they
-- are of: each relies on rows that it compares and does not write, and would not see what the other is writing. Where keys say
-- whose row it is, only those of one workspace, or of one client if every key has the client. Always in the same order, so that no
-- two wait for each other. Internal.
create or replace function iu_core.fn_ingest_lock_tables(p_definition jsonb, p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table oid;
  v_name text;
  v_is_tenant_scoped boolean := iu_core.fn_ingest_is_tenant_scoped(p_definition);
  -- Uploads of two clients may mean the same row.
  v_is_by_workspace boolean := exists (
    select from jsonb_array_elements(p_definition -> 'rows') spec,
           lateral (select array_agg(spec -> 'columns' ->> k) from jsonb_array_elements_text(spec -> 'key') k) as s (sources)
     where '$workspace' = any (s.sources) and '$client' <> all (s.sources));
begin
  for v_table in
    select distinct coalesce(pg_partition_root(t.target), t.target)::oid as root
      from jsonb_array_elements(p_definition -> 'rows') spec, lateral (select iu_core.fn_ingest_table(spec ->> 'target')) as t (target)
     where t.target is not null
     order by root
  loop
    v_name := 'stagedoor.ingest.table.' || v_table;
    if not v_is_tenant_scoped then
      perform pg_advisory_xact_lock(hashtextextended(v_name, 0));
      continue;
    end if;
    perform pg_advisory_xact_lock_shared(hashtextextended(v_name, 0));
    if v_is_by_workspace then
      perform pg_advisory_xact_lock(hashtextextended(format('%s.workspace.%s', v_name, p_upload.workspace_id), 0));
    else
      perform pg_advisory_xact_lock_shared(hashtextextended(format('%s.workspace.%s', v_name, p_upload.workspace_id), 0));
      perform pg_advisory_xact_lock(hashtextextended(format('%s.client.%s', v_name, p_upload.client_id), 0));
    end if;
  end loop;
end $$;

-- Raises if a dataset belongs to another workspace: the same error as for one that does not exist. Internal.
create or replace function iu_core.fn_ingest_require_own_dataset(p_dataset iu_core.ingest_dataset, p_workspace_id uuid, p_platform text)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_dataset.workspace_id <> p_workspace_id then
    raise exception using errcode = 'SD604', message = format('There is no dataset %L', p_dataset.dataset),
      detail = json_build_object('dataset', p_dataset.dataset, 'platform', p_platform)::text;
  end if;
end $$;

-- Raises what has come between a dataset and its tables since it was registered: a table or column dropped, a key that is no
-- longer unique, a right revoked. Run before a plan and before a promotion, which then write nothing. Internal.
create or replace function iu_core.fn_ingest_require_tables(p_dataset iu_core.ingest_dataset) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_require_fit(p_dataset.definition, p_dataset.workspace_id, 'no longer fits');
end $$;

-- The written columns of all row types: {row type: [{"column", "type"}]}. Stored with a plan. Internal.
create or replace function iu_core.fn_ingest_written_columns(p_definition jsonb, p_layout jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(r.row_type, (select jsonb_object_agg(w."column", w.type)
                                                  from jsonb_to_recordset(r.written) as w ("column" text, type text))), '{}')
    from iu_core.fn_ingest_row_types(p_definition, p_layout) r
$$;

-- Raises plan_stale if a written column has another type than when it was planned, or is no longer written: its values would be
-- other ones than those approved. Internal.
create or replace function iu_core.fn_ingest_require_same_columns(p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan, p_definition jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now jsonb := iu_core.fn_ingest_written_columns(p_definition, p_upload.reading -> 'layout');
  v_reason text;
begin
  -- A plan that an earlier version made does not have them.
  if p_plan.written in ('{}', v_now) then
    return;
  end if;
  select string_agg(distinct case when n.type is null then format('%s.%s is no longer written', t.target, c.name)
                                  when c.type is null then format('%s.%s is written now', t.target, c.name)
                                  else format('%s.%s was %s and is %s', t.target, c.name, c.type, n.type) end, ', ')
    into v_reason
    from (select spec ->> 'name' as row_type, spec ->> 'target' as target from jsonb_array_elements(p_definition -> 'rows') spec) t,
         lateral (select coalesce(b.key, a.key) as name, b.value as type, a.value as now
                    from jsonb_each_text(p_plan.written -> t.row_type) b
                    full join jsonb_each_text(v_now -> t.row_type) a using (key)) as c,
         lateral (select c.now) as n (type)
   where c.type is distinct from n.type;
  raise exception using
    errcode = 'SD606',
    message = format('A table has changed since the plan was made: %s', v_reason),
    hint = iu_core.fn_ingest_plan_again_hint(p_upload.upload_id),
    detail = json_build_object('upload', p_upload.upload_id, 'reason', format('a table has changed since: %s', v_reason))::text;
end $$;
