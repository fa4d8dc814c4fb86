-- Risk: what is unusual about a plan, as numbers against the last promoted uploads of the same source.

-- The facts of a plan against the last promoted uploads (at most 8) of the same dataset, platform and client:
--   {"upload_id", "plan_digest", "compared_uploads", "facts": [{"fact", "row_type", "column", "value", "usual", "spread", "level",
--    "reason", "filter", "values", "days"}], "not_computed": [{"row_type", "column", "reason"}]}
-- usual: the median; spread: 1.4826 × the median distance from it, which is the standard deviation of normal values. level: ok,
-- notice (beyond 3 spreads) or high (beyond 6), see fn_ingest_risk_judge. Facts that ask for a look by themselves (a tenfold change,
-- new values, missing days, deletes) are notice without a history, too. filter: the query of GET /uploads/{id}/plan/rows that lists its
-- rows; null if there are none. Column facts are about the rows that are written. They are computed once for each plan.
create or replace function iu_core.fn_ingest_risk(p_upload_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_own jsonb;
  v_before uuid[];
  v_history jsonb := '[]';
  v_upload uuid;
  v_other jsonb;
  v_budget bigint := 5000000;
  v_compared integer := 0;
  v_facts jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if not found then
    raise exception using
      errcode = 'SD602',
      message = format('Upload %s is %s and has no plan, so that nothing can be compared', p_upload_id, u.status),
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', 'compared')::text;
  end if;
  v_own := iu_core.fn_ingest_plan_facts(u, v_plan, v_budget);
  v_before := array(
    select o.upload_id from iu_core.ingest_upload o
      join iu_core.ingest_promotion p using (upload_id)
     where o.workspace_id = u.workspace_id and o.dataset = u.dataset and o.platform = u.platform
       and o.client_id is not distinct from u.client_id and o.status = 'promoted' and o.upload_id <> u.upload_id
       and (u.status <> 'promoted' or p.promoted_at < (select n.promoted_at from iu_core.ingest_promotion n where n.upload_id = u.upload_id))
     order by p.promoted_at desc limit 8);
  foreach v_upload in array v_before loop
    select iu_core.fn_ingest_plan_facts(o, p, v_budget) into v_other
      from iu_core.ingest_upload o join iu_core.ingest_plan p using (upload_id) where o.upload_id = v_upload;
    continue when v_other is null;
    v_compared := v_compared + 1;
    v_budget := v_budget - coalesce((v_other ->> 'cells')::bigint, 0);
    v_history := v_history || (select coalesce(jsonb_agg(f || jsonb_build_object('upload', v_compared)), '[]') from jsonb_array_elements(v_other -> 'facts') f);
  end loop;
  v_facts := iu_core.fn_ingest_risk_judge(v_own -> 'facts', v_history);
  return jsonb_build_object('upload_id', u.upload_id, 'plan_digest', v_plan.digest, 'compared_uploads', v_compared,
                            'facts', v_facts, 'not_computed', v_own -> 'not_computed');
end $$;

grant execute on function iu_core.fn_ingest_risk(uuid) to
  service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Judges the facts of a plan by those of earlier uploads (p_history: the same with "upload", a number). Only what is a risk counts:
--   more rows, more changed, more empty cells, more outliers, a smaller smallest and a larger largest value. The other side is no risk.
--   fewer rows: a file that is cut off. Counted are all rows of the file, not the new ones, and not of a correction.
--   sum: both sides. Of a partial upload the expectation is proportional: the usual mean × its rows, give or take what single values
--   usually differ by.
-- A correction: at most half as many rows as usual, of which at least half exist already. Its share of changed rows and the days that it
-- does not have say nothing about it. Earlier uploads that are far smaller than the others (corrections) are not what is usual, if three
-- others are left. reason: why a fact was judged otherwise. Internal.
create or replace function iu_core.fn_ingest_risk_judge(p_own jsonb, p_history jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with own as (
    select * from jsonb_to_recordset(p_own) as f (fact text, row_type text, "column" text, value numeric, detail jsonb)
  ), own_size as (
    select o.row_type, sum(o.value) as rows, sum(o.value) filter (where o.fact = 'rows_insert') as inserts,
           sum(o.value) filter (where o.fact in ('rows_insert', 'rows_update')) as written
      from own o where o.fact in ('rows_insert', 'rows_update', 'rows_unchanged') group by 1
  ), told as materialized (
    select * from jsonb_to_recordset(p_history) as f (upload integer, fact text, row_type text, "column" text, value numeric)
  ), size as materialized (
    select t.upload, t.row_type, sum(t.value) as rows,
           sum(t.value) filter (where t.fact in ('rows_insert', 'rows_update')) as written
      from told t where t.fact in ('rows_insert', 'rows_update', 'rows_unchanged') group by 1, 2
  ), usual_upload as materialized (
    -- Whole uploads, without the corrections among them.
    select s.* from size s
      join (select z.row_type, percentile_disc(0.75) within group (order by z.rows) as rows from size z group by 1) r using (row_type)
     where s.rows * 2 >= r.rows
        or (select count(*) from size z where z.row_type = s.row_type and z.rows * 2 >= r.rows) < 3
  ), usual_size as (
    select row_type, percentile_cont(0.5) within group (order by rows::float8)::numeric as rows,
           percentile_cont(0.5) within group (order by written::float8)::numeric as written, count(*) as uploads
      from usual_upload group by 1
  ), size_distance as (
    select u.row_type, percentile_cont(0.5) within group (order by abs(s.rows - u.rows)::float8)::numeric * 1.4826 as spread
      from usual_size u join usual_upload s using (row_type) group by 1
  ), upload_kind as (
    select o.row_type, o.rows, o.written, u.rows as usual_rows, u.written as usual_written,
           coalesce(u.uploads >= 3 and o.rows * 2 <= u.rows and o.inserts * 2 <= o.rows, false) as is_correction,
           coalesce(u.uploads >= 3 and o.written * 2 <= u.written, false) as is_partial,
           (u.rows - o.rows) / greatest(d.spread, u.rows * 0.05, 1) as shortfall
      from own_size o left join usual_size u using (row_type) left join size_distance d using (row_type)
  ), history as materialized (
    -- A sum by row, too, for what part of an upload is expected to sum up to.
    select t.fact, t.row_type, t."column", t.value from told t join usual_upload s using (upload, row_type)
    union all
    select 'mean', t.row_type, t."column", t.value / s.written from told t join usual_upload s using (upload, row_type)
     where t.fact = 'sum' and s.written > 0
  ), before as (
    select h.fact, h.row_type, h."column", percentile_cont(0.5) within group (order by h.value::float8)::numeric as usual,
           min(h.value) as least, max(h.value) as most, count(*) as uploads
      from history h group by 1, 2, 3
  ), distances as (
    select b.fact, b.row_type, b."column", percentile_cont(0.5) within group (order by abs(h.value - b.usual)::float8)::numeric * 1.4826 as spread
      from before b join history h on (h.fact, h.row_type) = (b.fact, b.row_type) and h."column" is not distinct from b."column"
     group by 1, 2, 3
  ), expected as (
    select o.*, k.is_correction, k.is_partial, k.shortfall, k.rows, k.written, k.usual_rows, k.usual_written,
           case when x.is_part then m.usual * k.written else b.usual end as usual,
           -- Of part of an upload single values count: three of these units are as far as all of them can be from the mean.
           case when x.is_part then greatest(dm.spread * k.written, k.written * (hi.most - lo.least) / 3) else d.spread end as spread,
           x.is_part, y.in_range
      from own o
      left join upload_kind k using (row_type)
      left join before b on (b.fact, b.row_type) = (o.fact, o.row_type) and b."column" is not distinct from o."column" and b.uploads >= 3
      left join distances d on (d.fact, d.row_type) = (b.fact, b.row_type) and d."column" is not distinct from b."column"
      left join before m on o.fact = 'sum' and m.fact = 'mean' and m.row_type = o.row_type and m."column" = o."column"
      left join distances dm on dm.fact = m.fact and dm.row_type = m.row_type and dm."column" = m."column"
      left join before lo on o.fact = 'sum' and lo.fact = 'min' and lo.row_type = o.row_type and lo."column" = o."column"
      left join before hi on o.fact = 'sum' and hi.fact = 'max' and hi.row_type = o.row_type and hi."column" = o."column"
      -- Of few rows the standard deviation says little: whether their values are as usual, the range of whole uploads says.
     cross join lateral (select o.fact = 'outliers' and exists (
         select from own n join before w on (w.fact, w.row_type) = (n.fact, n.row_type) and w."column" = n."column" and w.uploads >= 3
          where n.row_type = o.row_type and n."column" = o."column" and n.fact in ('min', 'max')
         having count(*) = 2 and bool_and(case n.fact when 'min' then n.value >= w.least else n.value <= w.most end))) as y (in_range)
     cross join lateral (select coalesce(o.fact = 'sum' and k.is_partial and b.usual is not null and m.usual is not null, false)) as x (is_part)
  ), judged as (
    select e.*,
           case when (e.fact in ('share_changed', 'missing_days') or e.in_range) and e.is_correction then 0
                when e.fact = 'rows_insert' and e.value < e.usual then case when e.is_correction then 0 else greatest(e.shortfall, 0) end
                when e.fact = 'min' and e.value > e.usual or e.fact not in ('min', 'sum') and e.value < e.usual then 0
                -- Of uploads that are always the same the spread is 0: then 5 % of the usual value counts, or one row.
                else abs(e.value - e.usual) / greatest(e.spread, abs(e.usual) * 0.05,
                       case when e.fact = 'empty' then greatest(0.02, 1 / nullif(e.written, 0)) when e.fact = 'share_changed' then 0.02
                            when e.fact like 'rows%' or e.fact in ('new_values', 'tenfold', 'outliers', 'missing_days') then 1
                            else 1e-9 end) end as distance,
           case when e.fact = 'share_changed' and e.is_correction
                  then format('A correction of %s rows: its share of changed rows is not compared with that of whole uploads.', e.rows)
                when e.fact = 'missing_days' and e.is_correction and e.value > 0
                  then format('A correction of %s rows need not have every day.', e.rows)
                when e.in_range and e.is_correction and e.value > 0
                  then format('A correction of %s rows, whose values are within the usual range.', e.rows)
                when e.fact = 'rows_insert' and e.is_correction and e.value < e.usual
                  then format('A correction of %s rows: uploads usually have %s.', e.rows, trim_scale(round(e.usual_rows, 1)))
                when e.is_part
                  then format('The usual sum of as many rows as this upload writes (%s; usually %s).', e.written, trim_scale(round(e.usual_written, 1)))
                when e.fact = 'rows_insert' and e.value < e.usual and e.shortfall > 3
                  then format('The file has %s rows, and usually %s: it may be cut off.', e.rows, trim_scale(round(e.usual_rows, 1))) end as reason
      from expected e
  )
  select coalesce(jsonb_agg(jsonb_build_object(
           'fact', j.fact, 'row_type', j.row_type, 'column', j."column", 'value', trim_scale(j.value), 'usual', trim_scale(round(j.usual, 6)),
           'spread', trim_scale(round(j.spread, 6)),
           'level', case when j.distance > 6 then 'high' when j.distance > 3 then 'notice'
                         when j.value > 0 and coalesce(j.value > j.usual, true) and not (coalesce(j.is_correction, false) and (j.fact = 'missing_days' or j.in_range))
                              and j.fact in ('tenfold', 'outliers', 'new_values', 'missing_days', 'rows_delete', 'rows_refused') then 'notice'
                         else 'ok' end,
           'filter', j.detail -> 'filter') || (j.detail - 'filter') || case when j.reason is null then '{}' else jsonb_build_object('reason', j.reason) end
         order by j.distance desc nulls last, j.fact, j.row_type, j."column"), '[]')
    from judged j
$$;

-- The facts of one plan: stored ones, or computed now and stored. {"facts", "not_computed", "cells": how many were read now}. Counts
-- of rows come from the totals, so they are known of plans whose rows were deleted, too. Internal.
create or replace function iu_core.fn_ingest_plan_facts(p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan, p_budget bigint) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started timestamptz := clock_timestamp();
  v_counts jsonb := iu_core.fn_ingest_plan_counts(p_plan.totals);
  v_stored jsonb;
  v_risk iu_core.ingest_plan_risk;
  v_computed jsonb;
begin
  select * into v_risk from iu_core.ingest_plan_risk where upload_id = p_upload.upload_id and plan_digest = p_plan.digest;
  if found then
    select coalesce(jsonb_agg(jsonb_build_object('fact', f.fact, 'row_type', f.row_type, 'column', f.column_name, 'value', f.value,
                                                 'detail', f.detail)), '[]')
      into v_stored from iu_core.ingest_plan_fact f where f.upload_id = p_upload.upload_id;
    return jsonb_build_object('facts', v_counts || v_stored, 'not_computed', v_risk.not_computed, 'cells', 0);
  end if;
  if exists (select from iu_core.ingest_promotion p where p.upload_id = p_upload.upload_id and p.images_dropped_at is not null) then
    return jsonb_build_object('facts', v_counts, 'cells', 0, 'not_computed', jsonb_build_array(jsonb_build_object(
      'reason', 'its rows were deleted after the time for an undo')));
  end if;
  v_computed := iu_core.fn_ingest_plan_compute_facts(p_upload, p_plan, p_budget);
  -- A token that can only read gets the same numbers, and leaves nothing behind. A plan that was replaced meanwhile keeps none.
  if current_setting('transaction_read_only') = 'off' then
    perform from iu_core.ingest_plan where upload_id = p_upload.upload_id and digest = p_plan.digest for key share;
    if found then
      delete from iu_core.ingest_plan_risk where upload_id = p_upload.upload_id and plan_digest <> p_plan.digest;
      insert into iu_core.ingest_plan_risk (upload_id, plan_digest, not_computed, took_ms)
      values (p_upload.upload_id, p_plan.digest, v_computed -> 'not_computed', extract(epoch from clock_timestamp() - v_started) * 1000)
      on conflict (upload_id) do nothing;
      if found then
        insert into iu_core.ingest_plan_fact (upload_id, fact, row_type, column_name, value, detail)
        select p_upload.upload_id, f.fact, f.row_type, f."column", f.value, coalesce(f.detail, '{}')
          from jsonb_to_recordset(v_computed -> 'facts') as f (fact text, row_type text, "column" text, value numeric, detail jsonb);
      end if;
    end if;
  end if;
  return v_computed || jsonb_build_object('facts', v_counts || (v_computed -> 'facts'));
end $$;

-- The facts that the totals of a plan give: rows by action, and the share of the existing rows that change. Internal.
create or replace function iu_core.fn_ingest_plan_counts(p_totals jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(f), '[]') from (
    select jsonb_build_object('fact', 'rows_' || a.action, 'row_type', t.key, 'column', null, 'value', coalesce((t.value ->> a.action)::numeric, 0),
                              'detail', jsonb_build_object('filter', jsonb_build_object('row_type', t.key, 'action', a.action))) as f
      from jsonb_each(p_totals) t, unnest(array['insert', 'update', 'unchanged', 'delete', 'skipped', 'refused']) as a (action)
     where t.value ? a.action or a.action in ('insert', 'update')
    union all
    select jsonb_build_object('fact', 'share_changed', 'row_type', t.key, 'column', null, 'value', s.share,
                              'detail', jsonb_build_object('filter', jsonb_build_object('row_type', t.key, 'action', 'update')))
      from jsonb_each(p_totals) t, lateral (select iu_core.fn_ingest_share_changed(jsonb_build_object(t.key, t.value))) as s (share)
     where s.share is not null) f
$$;

-- The share of the existing rows of a plan that are updated or deleted, 0 to 1; NULL if no row of it exists yet. Internal.
create or replace function iu_core.fn_ingest_share_changed(p_totals jsonb) returns numeric
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select round(sum(a.value::numeric) filter (where a.key in ('update', 'delete'))
               / nullif(sum(a.value::numeric) filter (where a.key in ('update', 'delete', 'unchanged')), 0), 6)
    from jsonb_each(p_totals) t, jsonb_each_text(t.value) a
$$;

-- Computes the facts of a plan's columns from its rows: all of them, never a sample. If rows × columns exceed the budget, columns are
-- left out (numbers are kept first), and the result names them. Internal.
create or replace function iu_core.fn_ingest_plan_compute_facts(p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan, p_budget bigint)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition jsonb;
  v_type record;
  v_rows bigint;
  v_cells bigint := 0;
  v_columns jsonb;
  v_facts jsonb := '[]';
  v_left jsonb := '[]';
  v_of_type jsonb;
  v_left_count integer := 100;
begin
  select definition into v_definition from iu_core.ingest_dataset where dataset = p_upload.dataset;
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, p_upload.reading -> 'layout') loop
    v_rows := coalesce((p_plan.totals #>> array[v_type.row_type, 'insert'])::bigint, 0)
            + coalesce((p_plan.totals #>> array[v_type.row_type, 'update'])::bigint, 0);
    continue when v_rows = 0 or v_type.target is null;
    -- At most 100 columns of all types, as many as the budget of cells allows. Ids and references say nothing as numbers or texts.
    with known as (
      select w."column" as name, w.type, w.ordinality as position,
             case when t.typname in ('int2', 'int4', 'int8', 'numeric', 'float4', 'float8') then 'number'
                  when t.typcategory in ('S', 'E') then 'text' else 'other' end as form,
             coalesce(p.ordinality, 0) as place
        from rows from (jsonb_to_recordset(v_type.written) as ("column" text, type text, source text)) with ordinality as w
        join pg_type t on t.oid = w.type::regtype
        left join rows from (jsonb_to_recordset(p_plan.inserted_columns -> v_type.row_type) as ("column" text)) with ordinality as p
          on p."column" = w."column"
       where w.source not like '$%'
    ), ranked as (
      select k.*, row_number() over (order by (k.form = 'number') desc, k.position) as rank from known k
    )
    select coalesce(jsonb_agg(to_jsonb(r) order by r.rank) filter (where r.rank <= x.allowed), '[]'),
           v_left || coalesce(jsonb_agg(jsonb_build_object('row_type', v_type.row_type, 'column', r.name, 'reason',
             case when x.allowed >= v_left_count then 'only 100 columns of a plan are looked at'
                  else format('%s rows × %s columns are more than are looked at', v_rows, count_all) end)) filter (where r.rank > x.allowed), '[]')
      into v_columns, v_left
      from ranked r, (select least(v_left_count, greatest((p_budget - v_cells) / v_rows, 0))) as x (allowed),
           (select count(*) from known) as c (count_all);
    v_left_count := v_left_count - jsonb_array_length(v_columns);
    v_cells := v_cells + v_rows * jsonb_array_length(v_columns);
    continue when v_columns = '[]';
    v_of_type := iu_core.fn_ingest_plan_number_facts(p_upload.upload_id, v_type, v_columns);
    v_facts := v_facts || v_of_type;
    -- Of a promoted plan every value is in the table.
    if p_upload.status = 'planned' then
      v_of_type := iu_core.fn_ingest_plan_new_values(p_upload, v_definition, v_type, v_columns);
      v_facts := v_facts || (v_of_type -> 'facts');
      v_left := v_left || (v_of_type -> 'not_computed');
    end if;
  end loop;
  v_facts := v_facts || iu_core.fn_ingest_missing_days(p_upload, v_definition);
  return jsonb_build_object('facts', v_facts, 'not_computed', v_left, 'cells', v_cells);
end $$;

-- Of every column the share of empty values; of numbers sum, least and greatest; of updates of numbers those that change by more
-- than tenfold, or by more than 6 standard deviations of what the rows hold now. Of the rows that are written. Internal.
create or replace function iu_core.fn_ingest_plan_number_facts(p_upload_id uuid, p_type record, p_columns jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_selected text;
  v_facts text;
  v_result jsonb;
  v_column record;
  v_beyond bigint;
begin
  select string_agg(case c.form when 'number'
           then format('(coalesce(r.after ->> %1$L, r.inserted[%2$s]))::numeric as v%3$s, (r.before ->> %1$L)::numeric as o%3$s', c.name, c.place, c.rank)
           else format('coalesce(r.after ->> %1$L, r.inserted[%2$s]) as v%3$s', c.name, c.place, c.rank) end, ', '),
         string_agg(format($sql$jsonb_build_object('rank', %1$s, 'empty', round(1 - count(v%1$s)::numeric / count(*), 6)%2$s)$sql$, c.rank,
           case c.form when 'number' then format($sql$, 'sum', sum(v%1$s), 'min', min(v%1$s), 'max', max(v%1$s),
               'tenfold', count(*) filter (where o%1$s <> 0 and abs(v%1$s - o%1$s) > 9 * abs(o%1$s)),
               'updates', count(v%1$s - o%1$s), 'furthest', max(abs(v%1$s - o%1$s)), 'deviation', stddev_pop(o%1$s)$sql$, c.rank) else '' end), ', ')
    into v_selected, v_facts
    from jsonb_to_recordset(p_columns) as c (name text, form text, place integer, rank integer);
  execute format($sql$
    select jsonb_build_array(%s) from (
      select %s from iu_core.ingest_plan_row r
       where r.upload_id = $1 and r.type_order = $2 and r.action in ('insert', 'update') offset 0) x
  $sql$, v_facts, v_selected) into v_result using p_upload_id, p_type.type_order;
  -- Beyond 6 standard deviations: counted only where the furthest change is.
  for v_column in
    select c.name, c.place, c.rank, (f.value ->> 'deviation')::numeric as deviation
      from jsonb_to_recordset(p_columns) as c (name text, place integer, rank integer), jsonb_array_elements(v_result) f
     where (f.value ->> 'rank')::integer = c.rank and (f.value ->> 'deviation')::numeric > 0
       and (f.value ->> 'furthest')::numeric > 6 * (f.value ->> 'deviation')::numeric
  loop
    select count(*) into v_beyond from iu_core.ingest_plan_row r
     where r.upload_id = p_upload_id and r.type_order = p_type.type_order and r.action = 'update'
       and abs((r.after ->> v_column.name)::numeric - (r.before ->> v_column.name)::numeric) > 6 * v_column.deviation;
    v_result := (select jsonb_agg(case when (f ->> 'rank')::integer = v_column.rank then f || jsonb_build_object('outliers', v_beyond) else f end)
                   from jsonb_array_elements(v_result) f);
  end loop;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('fact', m.fact, 'row_type', p_type.row_type, 'column', c.name, 'value', m.value,
             'detail', jsonb_build_object('filter', jsonb_build_object('row_type', p_type.row_type, 'column', c.name) || m.filter))), '[]')
      from jsonb_to_recordset(p_columns) as c (name text, rank integer)
      join jsonb_array_elements(v_result) f on (f.value ->> 'rank')::integer = c.rank,
           lateral (values ('empty', (f.value ->> 'empty')::numeric, '{"empty": true}'::jsonb),
                           ('sum', (f.value ->> 'sum')::numeric, '{}'),
                           ('min', (f.value ->> 'min')::numeric, jsonb_build_object('value', f.value ->> 'min')),
                           ('max', (f.value ->> 'max')::numeric, jsonb_build_object('value', f.value ->> 'max')),
                           ('tenfold', case when (f.value ->> 'updates')::bigint > 0 then (f.value ->> 'tenfold')::numeric end,
                            '{"action": "update", "by_more_than": 9}'),
                           ('outliers', case when (f.value ->> 'updates')::bigint > 0 then coalesce((f.value ->> 'outliers')::numeric, 0) end,
                            jsonb_build_object('action', 'update', 'by_amount', 6 * (f.value ->> 'deviation')::numeric))) as m (fact, value, filter)
     -- Infinity and NaN have no place in JSON and no distance.
     where m.value is not null and m.value::text !~* 'nan|inf');
end $$;

-- Of text columns with few values (at most 50): how many of them no row of the tenant has in the table yet. Columns of tables with more
-- than 1,000,000 rows are looked up only through an index that begins with them. Internal.
create or replace function iu_core.fn_ingest_plan_new_values(p_upload iu_core.ingest_upload, p_definition jsonb, p_type record, p_columns jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first text;
  v_few jsonb;
  v_values jsonb;
  v_tenant text := coalesce(iu_core.fn_ingest_snapshot_tenant_sql(p_upload, p_definition, p_type.spec, 't'), 'true');
  v_is_large boolean := (select c.reltuples > 1000000 from pg_class c where c.oid = p_type.target);
  v_column record;
  v_new text[];
  v_facts jsonb := '[]';
  v_left jsonb := '[]';
begin
  -- A column with more than 50 values in the first 1,000 rows has more than 50 in all.
  select string_agg(format('case when count(distinct coalesce(r.after ->> %1$L, r.inserted[%2$s])) <= 50 then %3$s end', c.name, c.place, c.rank), ', ')
    into v_first from jsonb_to_recordset(p_columns) as c (name text, form text, place integer, rank integer) where c.form = 'text';
  if v_first is null then
    return jsonb_build_object('facts', v_facts, 'not_computed', v_left);
  end if;
  execute format($sql$
    select to_jsonb(array_remove(array[%s]::integer[], null)) from (
      select p.after, p.inserted from iu_core.ingest_plan_row p
       where p.upload_id = $1 and p.type_order = $2 and p.action in ('insert', 'update') order by p.row_number limit 1000) r
  $sql$, v_first) into v_few using p_upload.upload_id, p_type.type_order;
  select string_agg(format('(%s, coalesce(r.after ->> %L, r.inserted[%s]))', c.rank, c.name, c.place), ', ')
    into v_first from jsonb_to_recordset(p_columns) as c (name text, place integer, rank integer) where v_few @> to_jsonb(c.rank);
  if v_first is null then
    return jsonb_build_object('facts', v_facts, 'not_computed', v_left);
  end if;
  execute format($sql$
    select coalesce(jsonb_object_agg(g.rank, g.members), '{}')
      from (select d.rank, jsonb_agg(d.value) as members
              from (select x.rank, x.value from iu_core.ingest_plan_row r, lateral (values %s) as x (rank, value)
                     where r.upload_id = $1 and r.type_order = $2 and r.action in ('insert', 'update') and x.value is not null
                     group by 1, 2) d
             group by 1 having count(*) <= 50) g
  $sql$, v_first) into v_values using p_upload.upload_id, p_type.type_order;
  for v_column in
    select c.name, c.type, v_values -> c.rank::text as members,
           exists (select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
                    where i.indrelid = p_type.target and i.indisvalid and i.indpred is null and a.attname = c.name) as is_indexed
      from jsonb_to_recordset(p_columns) as c (name text, type text, rank integer) where v_values ? c.rank::text order by c.rank
  loop
    if v_is_large and not v_column.is_indexed then
      v_left := v_left || jsonb_build_object('row_type', p_type.row_type, 'column', v_column.name, 'fact', 'new_values',
        'reason', 'the table has more than 1,000,000 rows and no index that begins with this column');
      continue;
    end if;
    execute format($sql$
      select coalesce(array_agg(m.value order by m.value collate "C"), '{}') from jsonb_array_elements_text($1) as m (value)
       where not exists (select from %s t where t.%I = m.value::%s and %s)
    $sql$, iu_core.fn_ingest_table_sql(p_type.target), v_column.name, v_column.type, v_tenant) into v_new using v_column.members;
    v_facts := v_facts || jsonb_build_object('fact', 'new_values', 'row_type', p_type.row_type, 'column', v_column.name,
      'value', cardinality(v_new), 'detail', jsonb_build_object(
        'values', (select coalesce(jsonb_agg(left(n, 100)), '[]') from unnest(v_new[1:5]) n),
        'filter', case when cardinality(v_new) > 0 and length(v_new[1]) <= 200
                       then jsonb_build_object('row_type', p_type.row_type, 'column', v_column.name, 'value', v_new[1]) end));
  end loop;
  return jsonb_build_object('facts', v_facts, 'not_computed', v_left);
end $$;

-- Days between the first and the last day of the file that no line has, by the date in the key of the leaf rows. Nothing if there is no
-- such date, or if the file spans more than ten years. Internal.
create or replace function iu_core.fn_ingest_missing_days(p_upload iu_core.ingest_upload, p_definition jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_field text;
  v_column text;
  v_days date[];
  v_missing date[];
begin
  select c.value, c.key into v_field, v_column
    from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
   where spec ->> 'name' = v_leaf and spec -> 'key' ? c.key and p_definition -> 'fields' -> c.value ->> 'type' = 'date'
     and p_upload.reading -> 'layout' -> 'fields' ? c.value
   order by c.key limit 1;
  if v_field is null then
    return '[]';
  end if;
  execute format($sql$
    select array_agg(d.day order by d.day)
      from (select v.text::date as day
              from (select distinct %s as text from iu_core.ingest_staged_row s
                     where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid') v) d
     where d.day is not null
  $sql$, iu_core.fn_ingest_member_sql(p_upload.reading -> 'layout', v_field)) into v_days using p_upload.upload_id, v_leaf;
  if coalesce(cardinality(v_days), 0) < 2 or v_days[cardinality(v_days)] - v_days[1] > 3660 then
    return '[]';
  end if;
  select coalesce(array_agg(day::date order by day), '{}') into v_missing
    from generate_series(v_days[1]::timestamp, v_days[cardinality(v_days)]::timestamp, interval '1 day') day where day::date <> all (v_days);
  return jsonb_build_array(jsonb_build_object('fact', 'missing_days', 'row_type', v_leaf, 'column', v_column, 'value', cardinality(v_missing),
    'detail', jsonb_build_object('filter', null, 'days', to_jsonb(v_missing[1:10]))));
end $$;
