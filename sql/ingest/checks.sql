-- Checks across all lines of an upload: repeated keys, subtotals, counts.

-- Checks across all lines of an upload: subtotals and repeated keys. The findings of an earlier run are removed first, so that
-- the repair of one line also clears the other. Returns how many lines changed. Internal.
create or replace function iu_core.fn_ingest_check_across_lines(p_upload iu_core.ingest_upload, p_definition jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed integer;
begin
  v_changed := iu_core.fn_ingest_remove_cross_line_problems(p_upload);
  -- A subtotal is known by what it lacks: what it names is looked up afterwards.
  v_changed := v_changed + iu_core.fn_ingest_remove_lookup_problems(p_upload);
  v_changed := v_changed + iu_core.fn_ingest_check_subtotals(p_upload, p_definition);
  v_changed := v_changed + iu_core.fn_ingest_check_lookups(p_upload, p_definition);
  return v_changed + iu_core.fn_ingest_check_repeated_keys(p_upload, p_definition);
end $$;

-- Removes from the lines of an upload, or from some of them, what a check across lines found. Returns how many lines changed.
-- Internal.
create or replace function iu_core.fn_ingest_remove_cross_line_problems(p_upload iu_core.ingest_upload, p_lines integer[] default null)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- Nothing is known yet of an upload that was staged a moment ago: joined in loops, 20,000 lines with repeated keys took 200 s.
set enable_nestloop = off
as $$
declare
  v_changed integer;
begin
  -- A line that was found to be a sum keeps its earlier errors. (No self-join: 8,000 lines took 90 s.)
  update iu_core.ingest_staged_row s
     set (validation_errors, validation_warnings, validation_status, updated_at) = (
           select e.errors, iu_core.fn_ingest_without_cross_line_problems(s.validation_warnings),
                  case when e.errors = '[]' then 'valid' else 'invalid' end::public.staging_validation_status, now()
             from (select coalesce(jsonb_path_query_first(s.validation_warnings, '$[*] ? (@.rule == "row.sum").errors'),
                                   iu_core.fn_ingest_without_cross_line_problems(s.validation_errors)) as errors) e)
   where s.upload_id = p_upload.upload_id and s.row_type = p_upload.reading -> 'layout' ->> 'leaf'
     and s.validation_status in ('invalid', 'skipped') and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')
     and (s.validation_errors @> '[{"scope": "set"}]' or s.validation_warnings @> '[{"scope": "set"}]')
     and (p_lines is null or s.row_number = any (p_lines));
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;

-- The problems of a row without those that a check across lines found. Internal.
create or replace function iu_core.fn_ingest_without_cross_line_problems(p_problems jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(p order by position), '[]')
    from jsonb_array_elements(p_problems) with ordinality as e (p, position)
   where p ->> 'scope' is distinct from 'set'
$$;

-- Finds subtotals: lines that lack a name or a breakdown and whose figures are exactly the sum of the lines that agree with
-- them otherwise (the same day, the same campaign …). They are left out and listed. The errors for which they were refused are
-- kept with the warning, so that repairing another line brings them back. Lines without such a sum keep their error. One
-- aggregate for each set of empty dimensions, and none if no line lacks any. A line with a part of the breakdown (a gender, no
-- age) is refused if lines that agree with it are broken down otherwise: added to them, its figures would count twice. If all
-- lines lack the same part, the file is complete without it. Internal.
create or replace function iu_core.fn_ingest_check_subtotals(p_upload iu_core.ingest_upload, p_definition jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_across_lines: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf jsonb;
  v_dims text[];
  v_measures text[];
  v_is_candidate text;
  v_filled_sql text;
  v_filled text[];
  v_is_part text;
  v_count integer;
  v_changed integer := 0;
  v_pair record;
  v_lines integer[];
  v_mixed integer[] := '{}';
begin
  select spec into v_leaf from jsonb_array_elements(p_definition -> 'rows') as spec where spec ->> 'name' = v_layout ->> 'leaf';
  -- The dimensions of a line, as members of the normalised payload.
  select array_agg(distinct s.member) into v_dims
    from jsonb_array_elements_text(v_leaf -> 'key') as k,
         lateral (select v_leaf -> 'columns' ->> k) as c (source),
         lateral (select case when c.source = '$identity' then '@' || (v_leaf ->> 'name')
                              when c.source like '$%' then '@' || substr(c.source, 2) else c.source end) as s (member)
   where v_layout -> 'fields' ? c.source or c.source = '$identity' or v_layout -> 'row_types' ? substr(c.source, 2);
  v_measures := array(select m.field from iu_core.fn_ingest_measures(p_definition, v_layout) m order by m.place);
  if v_dims is null or v_measures = '{}' then
    return 0;
  end if;
  -- The members of a line's key that have a value.
  select format('array_remove(array[%s]::text[], null)', string_agg(format('case when %s is not null then %L end', iu_core.fn_ingest_member_sql(v_layout, d), d), ', ' order by d))
    into v_filled_sql from unnest(v_dims) d;
  v_is_part := $sql$s.validation_status = 'valid' and s.validation_warnings @> '[{"rule": "breakdown.partly_missing"}]'$sql$;
  -- Lines whose only error or warning is an empty dimension.
  v_is_candidate := format($sql$(
    s.validation_status = 'invalid' and not s.validation_errors @? '$[*] ? (@.rule != "required.missing" && @.rule != "breakdown.missing")'
    or %s)$sql$, v_is_part);
  for v_filled in execute format($sql$
    select p.filled
      from (select * from iu_core.ingest_staged_row
             where upload_id = $1 and (validation_status <> 'valid' or validation_warnings <> '[]')
            -- Its own index finds them; without a fence the planner takes the one over all lines.
            offset 0) s,
           lateral (select %2$s) as p (filled)
     where s.row_type = $2 and %1$s and cardinality(p.filled) < cardinality($3)
     group by p.filled order by count(*) desc limit 8
  $sql$, v_is_candidate, v_filled_sql) using p_upload.upload_id, v_layout ->> 'leaf', v_dims
  loop
    execute format($sql$
      with candidate as (
        select s.place, s.validation_errors, %2$s as key, array[%3$s] as figures
          from (select l.ctid as place, l.* from iu_core.ingest_staged_row l
                 where upload_id = $1 and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) s
         where s.row_type = $2 and %1$s
           and %5$s = $4
      ), others as (
        select %2$s as key, count(*) as lines, array[%4$s] as sums
          from iu_core.ingest_staged_row s
         where s.upload_id = $1 and s.row_type = $2 and s.validation_status in ('valid', 'invalid') and not %1$s
         group by 1
      )
      update iu_core.ingest_staged_row s
         set validation_status = 'skipped', validation_errors = '[]', updated_at = clock_timestamp(),
             validation_warnings = s.validation_warnings || jsonb_build_array(jsonb_build_object(
               'scope', 'set', 'line', s.row_number, 'column', null, 'field', null, 'value', null, 'rule', 'row.sum',
               'message', format('Its figures are the sum of %%s other lines, so it was left out.', o.lines),
               'suggestion', 'Nothing to do. If it is a line of its own, fill in what tells it apart.', 'errors', c.validation_errors))
        from candidate c join others o using (key)
       where s.ctid = c.place
         -- One line alone may have the same figures by chance.
         and o.lines > 1
         and not exists (select from unnest(c.figures, o.sums) as f (figure, total)
                          where f.figure is not null and f.figure <> coalesce(f.total, 0))
         and exists (select from unnest(c.figures) as f where f <> 0)
    $sql$, v_is_candidate,
       format('jsonb_build_array(%s)', (select string_agg(iu_core.fn_ingest_member_json_sql(v_layout, d), ', ') from unnest(v_filled) as d)),
       (select string_agg(format('(%s)::numeric', iu_core.fn_ingest_member_sql(v_layout, m)), ', ') from unnest(v_measures) as m),
       (select string_agg(format('sum((%s)::numeric)', iu_core.fn_ingest_member_sql(v_layout, m)), ', ') from unnest(v_measures) as m), v_filled_sql)
      using p_upload.upload_id, v_layout ->> 'leaf', v_dims, v_filled;
    get diagnostics v_count = row_count;
    v_changed := v_changed + v_count;
  end loop;

  execute format($sql$
    select count(*) from (select * from iu_core.ingest_staged_row
                           where upload_id = $1 and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) s
     where s.row_type = $2 and %s
  $sql$, v_is_part) into v_count using p_upload.upload_id, v_layout ->> 'leaf';
  if v_count = 0 then
    return v_changed;
  end if;
  for v_pair in execute format($sql$
    with found as (
      select p.filled, bool_or(%1$s) as is_part
        from iu_core.ingest_staged_row s,
             lateral (select %2$s) as p (filled)
       where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid' group by 1)
    select f.filled, o.filled as other, array(select d from unnest(f.filled) as d where d = any (o.filled)) as common
      from found f join found o on o.filled <> f.filled where f.is_part
  $sql$, v_is_part, v_filled_sql) using p_upload.upload_id, v_layout ->> 'leaf', v_dims
  loop
    execute format($sql$
      with line as (
        select s.row_number, %1$s as is_part, %2$s as key,
               %3$s as filled
          from iu_core.ingest_staged_row s where s.upload_id = $1 and s.row_type = $2 and s.validation_status = 'valid')
      select array_agg(l.row_number) from line l
       where l.is_part and l.filled = $4 and l.key in (select o.key from line o where o.filled = $5)
    $sql$, v_is_part,
       format('jsonb_build_array(%s)', (select string_agg(iu_core.fn_ingest_member_json_sql(v_layout, d), ', ') from unnest(v_pair.common) as d)), v_filled_sql)
      into v_lines using p_upload.upload_id, v_layout ->> 'leaf', v_dims, v_pair.filled, v_pair.other;
    v_mixed := v_mixed || v_lines;
  end loop;
  update iu_core.ingest_staged_row s
     set validation_status = 'invalid', updated_at = clock_timestamp(),
         validation_errors = s.validation_errors || jsonb_build_array(jsonb_build_object(
           'scope', 'set', 'line', s.row_number, 'rule', 'breakdown.mixed', 'column', w -> 'column', 'field', w -> 'field', 'value', null,
           'message', 'It lacks a part of the breakdown that other lines of the same have: added to them, its figures would count twice.',
           'suggestion', 'Leave the line out if it sums up others; else fill in what is missing.'))
    from (select distinct line from unnest(v_mixed) as line) m,
         lateral (select x.ctid as place, jsonb_path_query_first(x.validation_warnings, '$[*] ? (@.rule == "breakdown.partly_missing")') as w
                    from iu_core.ingest_staged_row x
                   where x.upload_id = p_upload.upload_id and x.row_type = v_layout ->> 'leaf' and x.row_number = m.line offset 0) as p
   where s.ctid = p.place;
  get diagnostics v_count = row_count;
  return v_changed + v_count;
end $$;

-- Marks the lines whose key occurs more than once, as the upload handles them. p_lines: only these lines are looked at; they
-- must include every line with the key of one of them. Returns how many lines changed. Internal.
create or replace function iu_core.fn_ingest_check_repeated_keys(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_lines integer[] default null
) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_remove_cross_line_problems: nothing is known yet of these rows.
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_policy text := iu_core.fn_ingest_repeated_keys(p_upload, p_definition);
  v_no_ids text;
  v_key text;
  v_count integer;
begin
  -- Without ids, two entities with the same name share a key: most exports without ids are refused for this.
  select string_agg(coalesce(p_definition -> 'fields' -> (spec -> 'identity' ->> 'id') ->> 'title', spec -> 'identity' ->> 'id'), ', ')
    into v_no_ids
    from jsonb_array_elements(p_definition -> 'rows') as spec
   where v_layout -> 'row_types' ? (spec ->> 'name') and spec -> 'identity' ? 'id' and not v_layout -> 'fields' ? (spec -> 'identity' ->> 'id');
  -- The plan computes the sums.
  if v_policy = 'sum' then
    return 0;
  end if;
  select string_agg(k.expression, ', ') into v_key from iu_core.fn_ingest_key_members(p_definition, v_layout) k;
  if v_key is null then
    return 0;
  end if;
  execute format($sql$
    with repeated as (
      select array_agg(row_number order by row_number) as lines
        from iu_core.ingest_staged_row
       where upload_id = $1 and row_type = $2 and validation_status = 'valid'%4$s
       group by %1$s having count(*) > 1
    ), line as materialized (
      select unnest(lines) as line, lines from repeated
    ), affected as materialized (
      select line, lines from line
       where %2$L = 'refuse' or line <> case %2$L when 'first' then lines[1] else lines[cardinality(lines)] end
    )
    update iu_core.ingest_staged_row s
       set validation_status = case when %2$L = 'refuse' then 'invalid' else 'skipped' end::public.staging_validation_status,
           validation_errors = case when %2$L = 'refuse' then s.validation_errors || problem else s.validation_errors end,
           validation_warnings = case when %2$L = 'refuse' then s.validation_warnings else s.validation_warnings || problem end,
           updated_at = now()
      from affected a,
           lateral (select jsonb_build_object(
             'scope', 'set', 'line', a.line, 'rule', 'key.repeated', 'lines', to_jsonb(a.lines[1:20]),
             'message', case when %2$L = 'refuse'
               then format('The same key occurs in %%s lines: %%s.%%s', cardinality(a.lines), array_to_string(a.lines[1:5], ', '),
                           ' The file has no ' || %3$L || ', so those with the same name cannot be told apart.')
               when %2$L = 'first' then format('Line %%s has the same key and comes first, so it is used instead.', a.lines[1])
               else format('Line %%s has the same key and comes later, so it is used instead.', a.lines[cardinality(a.lines)]) end,
             'suggestion', case when %2$L = 'refuse'
               then coalesce('Export again with the column ' || %3$L || '.', 'Correct the columns of the key.')
                    || ' Or choose how repeated keys are handled: sum adds them up, last or first uses one of them (upload plan --repeated-keys).'
               else 'Nothing to do.' end)) as p (problem)
     where s.upload_id = $1 and s.row_type = $2 and s.row_number = a.line%5$s
  $sql$, v_key, v_policy, v_no_ids, case when p_lines is null then '' else ' and row_number = any ($3)' end,
     case when p_lines is null then '' else ' and s.row_number = any ($3)' end)
    using p_upload.upload_id, v_layout ->> 'leaf', p_lines;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- What makes up the key of a line, without what is constant for the upload: SQL expressions over a staged row without an alias, as lines
-- are compared (expression) and in the type of the column of `ingest_line l` that holds it (typed, slot). Internal.
create or replace function iu_core.fn_ingest_key_members(p_definition jsonb, p_layout jsonb)
returns table (place integer, member text, expression text, typed text, slot text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.ordinality::integer, m.member,
         format(case when m.type = 'numeric' then '(%s)::numeric'
                     when p_definition -> 'lookups' -> (p_definition -> 'fields' -> s.source ->> 'lookup') ->> 'ignoreCase' = 'true'
                     then 'lower(%s)' else '%s' end, x.sql),
         -- Equal numbers have one text.
         format(case m.type when 'numeric' then 'trim_scale((%s)::numeric)' else '(%s)::%s' end, x.sql, m.type),
         format(case m.type when 'numeric' then 'trim_scale(l.%I)' else 'l.%I' end,
                iu_core.fn_ingest_line_column(p_layout, case when m.member like '@%' then '$' || substr(m.member, 2) else m.member end))
    from jsonb_array_elements(p_definition -> 'rows') as leaf,
         jsonb_array_elements_text(leaf -> 'key') with ordinality as k (name, ordinality),
         lateral (select leaf -> 'columns' ->> k.name) as s (source),
         lateral (select case when s.source = '$identity' then '@' || (leaf ->> 'name')
                              when s.source like '$%' then '@' || substr(s.source, 2) else s.source end,
                         case when s.source like '$%' or p_definition -> 'fields' -> s.source ? 'lookup' then 'text'
                              else iu_core.fn_ingest_field_type(p_definition -> 'fields' -> s.source) end)
                 as m (member, type),
         lateral (select iu_core.fn_ingest_member_sql(p_layout, m.member, '')) as x (sql)
   where leaf ->> 'name' = p_layout ->> 'leaf'
     and (p_layout -> 'fields' ? s.source or (s.source like '$%' and p_layout -> 'row_types' ? substr(s.source, 2)) or s.source = '$identity')
   order by 1
$$;

-- Counts the lines of an upload by verdict, and the left-out lines by reason. If the reader has counted all lines, only
-- invalid, left-out and warned lines are read, by index. Internal.
create or replace function iu_core.fn_ingest_recount(p_upload_id uuid, p_leaf text, p_lines integer) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update iu_core.ingest_upload u
     set line_count = p_lines, valid_count = p_lines - c.invalid - c.skipped, invalid_count = c.invalid,
         skipped_count = c.skipped, warning_count = c.warned, left_out = c.left_out
    from (select coalesce(sum(g.lines) filter (where g.validation_status = 'invalid'), 0) as invalid,
                 coalesce(sum(g.lines) filter (where g.validation_status = 'skipped'), 0) as skipped,
                 coalesce(sum(g.warned) filter (where g.validation_status <> 'skipped'), 0) as warned,
                 coalesce(jsonb_object_agg(g.reason, g.lines) filter (where g.reason is not null), '{}') as left_out
            from (select s.validation_status, r.reason, count(*) as lines, count(*) filter (where s.validation_warnings <> '[]') as warned
                    from (select * from iu_core.ingest_staged_row
                           where upload_id = p_upload_id and (validation_status <> 'valid' or validation_warnings <> '[]')
                          -- Its own index finds them; without a fence the planner takes the one over all lines (0.4 s for 100,000).
                          offset 0) s,
                         lateral (select case when s.validation_status = 'skipped'
                                              then iu_core.fn_ingest_left_out_reason(s.validation_warnings) end) as r (reason)
                   where s.row_type = p_leaf group by 1, 2) g) c
   where u.upload_id = p_upload_id;
end $$;

-- How lines with the same key are handled: as the upload says, else as its dataset says. refuse: none is used; sum: one row
-- with the sum of the additive fields; last, first: that line is used and the others are left out. Internal.
create or replace function iu_core.fn_ingest_repeated_keys(p_upload iu_core.ingest_upload, p_definition jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_upload.repeated_keys,
                  (select spec ->> 'duplicates' from jsonb_array_elements(p_definition -> 'rows') as spec
                    where spec ->> 'name' = p_upload.reading -> 'layout' ->> 'leaf'),
                  'refuse')
$$;

-- Raises if p_repeated_keys is not a way to handle lines with the same key; NULL is allowed. Internal.
create or replace function iu_core.fn_ingest_repeated_keys_check(p_repeated_keys text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_repeated_keys not in ('refuse', 'sum', 'last', 'first') then
    raise exception using errcode = 'SD001',
      message = format('Repeated keys: %L is none of refuse, sum, last, first', p_repeated_keys);
  end if;
end $$;
