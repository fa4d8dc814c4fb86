-- Stale rows: the rows of a plan that somebody changed in production since it was made. outdated.sql has what lists know of that without
-- reading the rows.

-- The rows that changed since the plan was made, in the order of the plan: what the plan was made on (before), what it would write
-- (planned), what is there now. No rows: the plan is not stale. Of a row that stays as it is the plan stores only a fingerprint; its before
-- and planned are the values of its line. Changes nothing but what lists say of the plan (outdated.sql).
-- conflict: same_cell (both changed a cell, to different values) · old_value (they changed a cell for which the file has the old value, so that
-- the next plan takes it back) · deleted (there is no such row any more) · created (they inserted a row with this key) · to_delete (they
-- changed a row that the plan deletes) · other_cells (they changed only what the file does not write, or to the same values: both can live).
-- yours, theirs: the columns that each changed. names: column → {"before", "planned", "now"} of what is looked up. p_conflicts: without
-- other_cells. p_after: "type_order.line" of the row before. total: of all that would be listed; counts: of each kind of conflict. p_limit 0: how many
-- there are, and nothing about them (50,000 rows in 0.3 s instead of 2.4).
create or replace function iu_core.fn_ingest_plan_stale(
  p_upload_id uuid, p_limit integer default 200, p_after text default null, p_conflicts boolean default false
)
returns table (
  type_order integer, target_table text, row_type text, line integer, action text, key jsonb, before jsonb, planned jsonb, now jsonb,
  conflict text, yours text[], theirs text[], names jsonb, total bigint, counts jsonb
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; no notice is needed if they do not.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
#variable_conflict use_column
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_definition jsonb;
  v_type record;
  v_planned record;
  v_key text;
  v_counts jsonb;
  v_total bigint;
  v_wanted jsonb;
  v_names record;
  v_looked constant pg_snapshot := pg_current_snapshot();
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  if p_after !~ '^[0-9]{1,4}[.]-?[0-9]{1,9}$' then
    raise exception using errcode = 'SD001', message = 'The row after which a page begins is named by its type and line, such as 1.27';
  end if;
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  if u.status <> 'planned' then
    raise exception using
      errcode = 'SD602',
      message = format('Upload %s is %s and has no plan that could be stale', p_upload_id, u.status),
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', 'compared with its tables')::text;
  end if;
  select * into v_dataset from iu_core.ingest_dataset d where d.dataset = u.dataset;
  v_definition := v_dataset.definition;
  -- A table that is gone has no rows that differ.
  perform iu_core.fn_ingest_require_tables(v_dataset);
  drop table if exists pg_temp.ingest_stale, pg_temp.ingest_conflict;
  create temporary table ingest_stale (
    type_order smallint, line integer, key jsonb, now jsonb) on commit drop;
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') where target is not null loop
    select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload_id, v_type);
    if v_planned.inserts + v_planned.updates + v_planned.unchanged > 0 then
      -- Its key as it is there; of a row that no longer exists, as it was planned.
      select string_agg(format('%L, case when t.ctid is null then to_jsonb(%s) else to_jsonb(t.%I) end', k.name,
                               coalesce('n.' || w.slot, 'null::text'), k.name), ', ' order by k.position) into v_key
        from unnest(v_type.key_columns) with ordinality as k (name, position)
        left join jsonb_to_recordset(v_type.written) as w ("column" text, slot text) on w."column" = k.name;
      execute format('insert into pg_temp.ingest_stale %s', iu_core.fn_ingest_stale_sql(v_type, v_planned.row_match, v_planned.key_match,
        format('%s::smallint, n."#row", jsonb_build_object(%s), case when t.ctid is not null then to_jsonb(t.*) end', v_type.type_order, v_key)));
    end if;
    if v_type.is_leaf then
      perform iu_core.fn_ingest_snapshot_stale(p_upload_id, v_type);
    end if;
  end loop;
  perform iu_core.fn_ingest_mark_compared(p_upload_id, v_looked, (select count(*) from pg_temp.ingest_stale));
  if not exists (select from pg_temp.ingest_stale) then
    return;
  end if;
  if p_limit = 0 then
    total := (select count(*) from pg_temp.ingest_stale);
    counts := '{}';
    return next;
    return;
  end if;

  create temporary table ingest_conflict on commit drop as
  select s.type_order, s.line, r.row_type, r.action, s.key, i.before, i.planned, s.now, c.yours, t.theirs,
         case when s.now is null then 'deleted' when r.action = 'insert' then 'created' when r.action = 'delete' then 'to_delete'
              when exists (select from unnest(t.theirs) k where k = any (c.yours) and s.now -> k is distinct from i.planned -> k) then 'same_cell'
              when exists (select from unnest(t.theirs) k where i.planned ? k and s.now -> k is distinct from i.planned -> k) then 'old_value'
              else 'other_cells' end as conflict
    from pg_temp.ingest_stale s
    -- Row by row through the key, as in fn_ingest_plan_row_names.
   cross join lateral (select p.*, p as row from iu_core.ingest_plan_row p
                        where p.upload_id = p_upload_id and p.type_order = s.type_order and p.row_number = s.line offset 0) r
    join iu_core.ingest_plan d on d.upload_id = p_upload_id
    left join lateral (select iu_core.fn_ingest_stale_line(u, v_definition, r.row_type, s.line) as image where r.action = 'unchanged') l on true
   cross join lateral (select coalesce(r.before, l.image) as before,
                              case r.action when 'unchanged' then l.image else iu_core.fn_ingest_plan_image(d.inserted_columns, r.row) end as planned) i
   cross join lateral (select case r.action when 'update' then r.changed
                                            when 'insert' then array(select k from jsonb_object_keys(i.planned) k where i.planned -> k <> 'null')
                                            else '{}' end as yours) c
   cross join lateral (select array(select k from jsonb_object_keys(case when r.action in ('unchanged', 'insert') then i.planned else s.now end) k
                                     where s.now ? k and s.now -> k is distinct from coalesce(i.before, i.planned) -> k) as theirs) t;
  select jsonb_object_agg(n.conflict, n.rows), sum(n.rows) filter (where not p_conflicts or n.conflict <> 'other_cells') into v_counts, v_total
    from (select c.conflict, count(*) as rows from pg_temp.ingest_conflict c group by 1) n;
  delete from pg_temp.ingest_conflict c
   where (c.type_order, c.line) not in (
     select p.type_order, p.line from pg_temp.ingest_conflict p
      where (not p_conflicts or p.conflict <> 'other_cells')
        and (p_after is null or (p.type_order, p.line) > (split_part(p_after, '.', 1)::smallint, split_part(p_after, '.', 2)::integer))
      order by p.type_order, p.line limit least(greatest(p_limit, 0), 1000));

  select jsonb_object_agg(w.lookup, w.wanted) into v_wanted
    from (select l.lookup, jsonb_agg(distinct i.image ->> l."column") as wanted
            from pg_temp.ingest_conflict c
            join iu_core.fn_ingest_lookup_columns(v_definition) l on l.row_type = c.row_type,
                 lateral (values (c.before), (c.planned), (c.now)) as i (image)
           where i.image ->> l."column" is not null group by 1) w;
  select n.names, n.given into v_names from iu_core.fn_ingest_lookup_names(u, v_dataset, coalesce(v_wanted, '{}')) n;
  return query
    select c.type_order::integer, t.target_name, c.row_type, c.line, c.action, c.key, c.before, c.planned, c.now, c.conflict, c.yours, c.theirs,
           (select jsonb_object_agg(l."column", jsonb_strip_nulls(jsonb_build_object('before', n.before, 'planned', n.planned, 'now', n.now)))
              from iu_core.fn_ingest_lookup_columns(v_definition) l,
                   lateral (select coalesce(v_names.names -> l.lookup, '{}') as own, coalesce(v_names.given -> l.lookup, '{}') as given) x,
                   lateral (select coalesce(x.own ->> (c.before ->> l."column"), x.given ->> (c.before ->> l."column")) as before,
                                   coalesce(x.own ->> (c.planned ->> l."column"), x.given ->> (c.planned ->> l."column")) as planned,
                                   coalesce(x.own ->> (c.now ->> l."column"), x.given ->> (c.now ->> l."column")) as now) n
             where l.row_type = c.row_type and num_nonnulls(n.before, n.planned, n.now) > 0),
           v_total, v_counts
      from pg_temp.ingest_conflict c
      join iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') t on t.type_order = c.type_order
     order by c.type_order, c.line;
end $$;

grant execute on function iu_core.fn_ingest_plan_stale(uuid, integer, text, boolean)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The columns of a row that its line fills with a value of its own, as an image: what a row held that the plan found unchanged. Looked-up
-- columns hold what was found. Internal.
create or replace function iu_core.fn_ingest_stale_line(p_upload iu_core.ingest_upload, p_definition jsonb, p_row_type text, p_line integer) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_object_agg(m.key, case when l.lookup is null then coalesce(s.normalized_payload -> m.value, 'null')
                                      else coalesce(to_jsonb((select r.found from iu_core.ingest_lookup_result r where r.upload_id = p_upload.upload_id
                                                                 and r.lookup = l.lookup and r.value = s.normalized_payload ->> m.value limit 1)), 'null') end)
    from iu_core.v_ingest_staged_row s
    join jsonb_array_elements(p_definition -> 'rows') as spec on spec ->> 'name' = p_row_type,
         jsonb_each_text(spec -> 'columns') as m,
         lateral (select p_definition -> 'fields' -> m.value ->> 'lookup') as l (lookup)
   where s.upload_id = p_upload.upload_id and s.row_type = p_row_type and s.row_number = p_line
     and p_upload.reading -> 'layout' -> 'fields' ? m.value
$$;

-- What makes a new plan of an upload: it is planned again, or, where its rows came from a statement, the statement is proposed again. Internal.
create or replace function iu_core.fn_ingest_plan_again_hint(p_upload_id uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when exists (select from iu_core.ingest_proposal where upload_id = p_upload_id)
              then format('`stagedoor propose --again %s` works the statement out again, as a new proposal.', p_upload_id)
              else format('`stagedoor upload plan %s --again` plans it again.', p_upload_id) end
$$;

-- Raises plan_stale, with the first changed row and the command that shows all of them. Internal.
create or replace function iu_core.fn_ingest_raise_plan_stale(p_upload_id uuid, p_rows bigint, p_target text, p_line integer default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := format('%s %s of %s %s changed since the plan was made', p_rows, case p_rows when 1 then 'row' else 'rows' end, p_target,
                          case p_rows when 1 then 'has' else 'have' end)
    || case when p_line is null or p_line < 0 then '' else format('; %s planned from line %s of the file', case p_rows when 1 then 'it was' else 'the first was' end, p_line) end;
begin
  raise exception using
    errcode = 'SD606',
    message = v_reason,
    hint = format('`stagedoor upload plan %s --stale` shows what was planned and what is there now; %s', p_upload_id,
                  iu_core.fn_ingest_plan_again_hint(p_upload_id)),
    detail = json_build_object('upload', p_upload_id, 'reason', v_reason, 'line', case when p_line > 0 then p_line end)::text;
end $$;
