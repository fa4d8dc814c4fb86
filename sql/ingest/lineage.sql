-- Lineage: where a production row comes from, and who approved it.

-- Where a production row comes from: the promotions that wrote it, newest first, at most 500. By its id, or by its whole key;
-- the workspace column may be left out of the key. Not for agents, which see only their own uploads.
create or replace function iu_core.fn_ingest_lineage(
  p_workspace_id uuid, p_target text, p_id uuid default null, p_key jsonb default null
)
returns table (
  upload_id uuid, file_name text, file_hash text, line integer, target text, target_id uuid, target_key jsonb, action text,
  uploaded_by text, approved_by text, approved_at timestamptz, promoted_by text, promoted_at timestamptz,
  undone_at timestamptz, undo_outcome text,
  -- What people corrected in its line before, the oldest first: [{"what", "column", "from", "to", "by", "at"}].
  repairs jsonb,
  row_type text, undone_by text, undo_reason text,
  -- What it wrote: [{"column", "from", "to"}], of an update only the columns that it changed. NULL: deleted, as it cannot be undone any more.
  written jsonb
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_id uuid := p_id;
  v_key jsonb;
  v_role text;
  -- The ledger has the name that the dataset gave it; the caller may write it another way.
  v_names text[] := array(select spec ->> 'target' from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
                           where to_regclass(spec ->> 'target') = to_regclass(p_target)
                             and (d.workspace_id is null or d.workspace_id = p_workspace_id)) || p_target;
begin
  v_role := iu_core.require_member(p_workspace_id, 'read');
  if v_role = 'agent' then
    raise exception using
      errcode = 'SD202',
      message = 'An agent cannot read lineage: it may see only its own uploads',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', 'agent', 'right', 'read')::text;
  end if;
  if num_nonnulls(p_id, p_key) <> 1 or jsonb_typeof(p_key) <> 'object' then
    raise exception using errcode = 'SD001', message = 'Give the id of the row, or its key as a JSON object';
  end if;
  if to_regclass(p_target) is null then
    raise exception using errcode = 'SD001', message = format('There is no table %s', coalesce(p_target, 'NULL')),
      hint = 'Name it with its schema, as the dataset does: public.daily_metrics.';
  end if;
  if p_id is null then
    select k.id, k.key into v_id, v_key from iu_core.fn_ingest_row_by_key(p_workspace_id, p_target, p_key) k;
  end if;
  return query
    with entry as materialized (
      select l.upload_id as id, l.type_order, l.row_number as line_number, p.promoted_at as at
        from iu_core.ingest_ledger l
        join iu_core.ingest_upload u using (upload_id)
        join iu_core.ingest_promotion p using (upload_id)
       where u.workspace_id = p_workspace_id and to_regclass(l.target) = to_regclass(p_target)
         and (l.target_id = v_id
              or (l.target_id is null and l.target = any (v_names) and l.target_key = v_key))
       order by p.promoted_at desc limit 500
    )
    select u.upload_id, u.file_name, u.file_hash, l.row_number, l.target, l.target_id, l.target_key, l.action,
           u.uploaded_by, p.approved_by, p.approved_at, p.promoted_by, p.promoted_at, p.undone_at, l.undo_outcome,
           (select coalesce(jsonb_agg(jsonb_build_object('what', r.what, 'column', r.column_name, 'from', r.old_value, 'to', r.new_value,
                                                         'by', r.repaired_by, 'at', r.repaired_at) order by r.repair_id), '[]')
              from iu_core.ingest_repair r where r.upload_id = l.upload_id and r.row_number = l.row_number),
           l.row_type, p.undone_by, p.undo_reason, w.columns
      from entry e
      join iu_core.ingest_ledger l on l.upload_id = e.id and l.type_order = e.type_order and l.row_number = e.line_number
      join iu_core.ingest_upload u on u.upload_id = e.id
      join iu_core.ingest_promotion p on p.upload_id = e.id
      left join iu_core.ingest_plan d on d.upload_id = e.id
      left join iu_core.ingest_plan_row r on r.upload_id = e.id and r.type_order = e.type_order and r.row_number = e.line_number
      -- Integers beyond 2^53 as text, as in all our JSON.
      left join lateral (
        select jsonb_agg(jsonb_build_object(
                 'column', k.name,
                 'from', case when case jsonb_typeof(v.old) when 'number' then abs(v.old::numeric) > 9007199254740991 and scale(v.old::numeric) = 0 end
                      then to_jsonb(v.old #>> '{}') else v.old end,
                 'to', case when case jsonb_typeof(v.new) when 'number' then abs(v.new::numeric) > 9007199254740991 and scale(v.new::numeric) = 0 end
                      then to_jsonb(v.new #>> '{}') else v.new end) order by k.name) as columns
          from (select iu_core.fn_ingest_plan_image(d.inserted_columns, r) as image) i,
               lateral (select unnest(case l.action when 'update' then r.changed
                                                    when 'insert' then array(select jsonb_object_keys(i.image))
                                                    else array(select jsonb_object_keys(r.before)) end)) as k (name),
               lateral (select r.before -> k.name, case when l.action <> 'delete' then i.image -> k.name end) as v (old, new)
         where r.upload_id is not null) w on true
     order by e.at desc;
end $$;

grant execute on function iu_core.fn_ingest_lineage(uuid, text, uuid, jsonb)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- A row named by its key, as the ledger may know it: by its id in the table, if a dataset gives it one, or by the key itself,
-- in the types of its columns. The whole key is required: a part of it would be a search through the table and could match rows
-- of others. A column with a unique index of its own does as well: then the row is looked up in the table. Internal.
create or replace function iu_core.fn_ingest_row_by_key(
  p_workspace_id uuid, p_target text, p_key jsonb, out id uuid, out key jsonb
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_target constant regclass := to_regclass(p_target);
  v_spec record;
  v_given jsonb;
  v_known text;
  v_found boolean := false;
begin
  for v_spec in
    -- The ledger knows rows by a uuid that we allocated, and others by their key.
    select distinct case iu_core.fn_ingest_row_ref(spec, v_target) ->> 'kind' when 'uuid' then spec ->> 'id' end as id_column, spec -> 'key' as columns,
           (select coalesce(jsonb_object_agg(k, p_workspace_id), '{}') from jsonb_array_elements_text(spec -> 'key') k
             where spec -> 'columns' ->> k = '$workspace') as own
      from iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
     where to_regclass(spec ->> 'target') = v_target and (d.workspace_id is null or d.workspace_id = p_workspace_id)
       -- A dataset of the table as it was once knows no row of it.
       and not exists (select from jsonb_array_elements_text(spec -> 'key') k
                        where not exists (select from pg_attribute where attrelid = v_target and attname = k and not attisdropped))
  loop
    v_given := v_spec.own || p_key;
    v_known := (select string_agg(k, ', ') from jsonb_array_elements_text(v_spec.columns) k);
    if iu_core.fn_ingest_is_unique(v_target, array(select jsonb_object_keys(p_key)), false) and not v_spec.columns ?| array(select jsonb_object_keys(p_key))
       and (select count(*) from jsonb_object_keys(p_key)) = 1 then
      v_found := true;
      begin
        execute format('select jsonb_build_object(%s) from %s t, jsonb_populate_record(null::%2$s, $1) as b where t.%3$I = b.%3$I',
                       (select string_agg(format('%1$L, t.%1$I', k), ', ') from jsonb_array_elements_text(v_spec.columns) k),
                       iu_core.fn_ingest_table_sql(v_target), (select k from jsonb_object_keys(p_key) k))
          into v_given using p_key;
      exception when data_exception then
        raise exception using errcode = 'SD001', message = format('The key does not fit the columns of %s: %s', p_target, sqlerrm);
      end;
      continue when v_given is null;
    end if;
    continue when not v_spec.columns @> (select jsonb_agg(k) from jsonb_object_keys(v_given) k)
      or not v_given ?& array(select jsonb_array_elements_text(v_spec.columns));
    v_found := true;
    begin
      execute format('select jsonb_build_object(%s) from jsonb_populate_record(null::%s, $1) as b',
                     (select string_agg(format('%1$L, b.%1$I', k), ', ') from jsonb_array_elements_text(v_spec.columns) k), iu_core.fn_ingest_table_sql(v_target))
        into key using v_given;
      if v_spec.id_column is not null then
        execute format('select t.%I from %s t, jsonb_populate_record(null::%2$s, $1) as b where %3$s limit 1', v_spec.id_column, iu_core.fn_ingest_table_sql(v_target),
                       (select string_agg(format(case when v_given -> k = 'null' then 't.%1$I is null' else 't.%1$I = b.%1$I' end, k), ' and ')
                          from jsonb_array_elements_text(v_spec.columns) k))
          into id using v_given;
      end if;
    exception when data_exception then
      raise exception using errcode = 'SD001', message = format('The key does not fit the columns of %s: %s', p_target, sqlerrm);
    end;
  end loop;
  if not v_found then
    raise exception using errcode = 'SD001',
      message = case when v_known is null then format('No dataset writes %s', p_target)
                     else format('A row of %s is known by %s, all of them', p_target, v_known) end;
  end if;
end $$;
