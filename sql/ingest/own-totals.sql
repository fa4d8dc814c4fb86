-- The file's own totals: lines that sum up others ("Total", "Total: Ads") compared with the lines themselves.

-- Compares every line that the reader left out as a total or subtotal with the sum of the lines that it is about. NULL if there is none.
--   {"lines", "agree", "disagree", "not_compared": numbers of such lines, "columns": the measures that are compared,
--    "excluded": [{"column", "reason"}], "more_excluded",
--    "totals": [{"line", "label", "result", "with", "lines", "reason", "figures": [{"column", "title", "field", "file", "sum",
--                "difference", "result", "unread", "reason"}], "more_figures"}], "more_totals"}
-- Only measures (fn_ingest_measures) are compared: percentages and other numbers that nobody adds up are listed as excluded. The sum is over
-- all lines of the file as they are now, corrected ones included: valid, invalid and left out, without lines that sum up others. It is
-- compared on the decimals that the total shows. unread: cells of these lines that are not numbers, whose amount the sum lacks.
-- At most 1,000 such lines are compared (the first and the last 500) and 100 are listed, those that disagree first. Internal.
create or replace function iu_core.fn_ingest_own_totals(p_upload iu_core.ingest_upload, p_definition jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_found bigint;
  v_lines integer[];
begin
  drop table if exists pg_temp.ingest_own_total, pg_temp.ingest_own_basis, pg_temp.ingest_own_sum;
  create temporary table ingest_own_total on commit drop as
  select s.row_number as line, s.rule, nullif(btrim(s.label), '') as label, s.raw_payload as raw, s.normalized_payload as payload,
         row_number() over (order by s.row_number) as place, count(*) over () as all_totals,
         null::text as label_column, null::text as named, '{}'::jsonb as dimensions
    from (select l.*, iu_core.fn_ingest_left_out_reason(l.validation_warnings) as rule,
                 jsonb_path_query_first(l.validation_warnings, '$[*] ? (@.rule == "row.total" || @.rule == "row.subtotal").value') #>> '{}' as label
            from iu_core.v_ingest_staged_row l
           where l.upload_id = p_upload.upload_id and (l.validation_status <> 'valid' or l.validation_warnings <> '[]') offset 0) s
   where s.row_type = v_layout ->> 'leaf' and s.rule in ('row.total', 'row.subtotal');
  select max(t.all_totals) into v_found from pg_temp.ingest_own_total t;
  if v_found is null then
    drop table pg_temp.ingest_own_total;
    return null;
  end if;
  v_lines := array(select t.line from pg_temp.ingest_own_total t order by t.line);
  delete from pg_temp.ingest_own_total where place > 500 and place <= v_found - 500;
  perform iu_core.fn_ingest_own_totals_read_labels(p_upload, p_definition);
  perform iu_core.fn_ingest_own_totals_choose_lines(p_upload, p_definition);
  perform iu_core.fn_ingest_own_totals_add_up(p_upload, p_definition, v_lines);
  return iu_core.fn_ingest_own_totals_compare(p_upload, p_definition, v_found);
end $$;

-- Notes for each total in `ingest_own_total` the column of its label, the group that it names ("Ads" of "Total: Ads"), and the other columns
-- that it fills and that are not numbers: field → value, as its lines have them. Internal.
create or replace function iu_core.fn_ingest_own_totals_read_labels(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update pg_temp.ingest_own_total t
     set label_column = (select h.header from jsonb_array_elements_text(p_upload.reading -> 'headers') with ordinality as h (header, place)
                          where btrim(t.raw ->> h.header) = t.label order by h.place limit 1),
         -- Of "Total of 12 campaigns" and of "Total" it is NULL.
         named = nullif(lower(btrim(substring(t.label from '^[^:：]{1,60}[:：](.*)$'), E' \t"''“”„«»')), '');
  update pg_temp.ingest_own_total t
     set dimensions = coalesce((
           select jsonb_object_agg(f.key, t.payload ->> f.key)
             from jsonb_each(p_upload.reading -> 'map' -> 'fields') as f
            where f.value ->> 'header' is distinct from t.label_column and t.payload ->> f.key is not null
              and p_definition -> 'fields' -> f.key ->> 'type' not in ('integer', 'decimal', 'money', 'percent', 'json', 'array')), '{}')
$$;

-- Puts into `ingest_own_basis` which lines each total may be about, the likeliest first. A basis is an array of conditions: {"column" of the
-- file or "field", "value"}, or {"block": n}, the lines since the total before; none: all lines.
--   "Total: Ads": lines that have Ads in a column; if there is none, all lines.
--   "Total": lines that agree with it in what else it fills; the lines since the total before it, of a subtotal or of a total that another
--   one follows; all lines.
-- A total agrees if it agrees with one of them; if not, it is compared with the first that has lines. Internal.
create or replace function iu_core.fn_ingest_own_totals_choose_lines(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cells constant text[] := array(select jsonb_array_elements_text(p_upload.reading #> '{layout,packing,cells}'));
  v_names text[] := array(select distinct t.named from pg_temp.ingest_own_total t where t.named is not null limit 1000);
begin
  create temporary table ingest_own_basis (line integer, place integer, conditions jsonb, description text) on commit drop;
  if v_names <> '{}' then
    insert into pg_temp.ingest_own_basis
    with numbers as (
      select f.value ->> 'header' as header from jsonb_each(p_upload.reading -> 'map' -> 'fields') as f
       where p_definition -> 'fields' -> f.key ->> 'type' in ('integer', 'decimal', 'money', 'percent')
    ), found as materialized (
      -- The columns that have one of these names, found in one pass.
      select distinct c.key as header, lower(btrim(c.value)) as name
        from iu_core.ingest_staged_row s,
             lateral (select o.key, o.value from jsonb_each_text(s.raw_payload) o
                      union all select v_cells[v.place], v.value from unnest(s.raw_values) with ordinality as v (value, place)) as c
       where s.upload_id = p_upload.upload_id and s.row_type = p_upload.reading -> 'layout' ->> 'leaf'
         and lower(btrim(c.value)) = any (v_names)
    )
    select t.line, row_number() over (partition by t.line order by d.with_dimensions desc, h.header),
           jsonb_build_array(jsonb_build_object('column', h.header, 'value', t.named)) || case when d.with_dimensions then x.conditions else '[]' end,
           format('lines with %s in %s', iu_core.fn_ingest_quoted(t.named), h.header)
      from pg_temp.ingest_own_total t
      join found h on h.name = t.named and h.header not in (select n.header from numbers n)
      cross join lateral (select coalesce(jsonb_agg(jsonb_build_object('field', k.key, 'value', k.value) order by k.key), '[]') as conditions
                            from jsonb_each_text(t.dimensions) k) x
      cross join (values (false), (true)) as d (with_dimensions)
     where not d.with_dimensions or x.conditions <> '[]';
  end if;
  insert into pg_temp.ingest_own_basis
  select t.line, b.place, b.conditions, b.description
    from pg_temp.ingest_own_total t
    cross join lateral (select coalesce(jsonb_agg(jsonb_build_object('field', k.key, 'value', k.value) order by k.key), '[]') as conditions,
                               string_agg(format('%s %s', coalesce(p_definition -> 'fields' -> k.key ->> 'title', replace(k.key, '_', ' ')),
                                                 iu_core.fn_ingest_quoted(k.value)), ', ' order by k.key) as description
                          from jsonb_each_text(t.dimensions) k) x
    cross join lateral (select t.rule = 'row.total' and t.named is null
                               and (t.label ~* '^sub' or exists (select from pg_temp.ingest_own_total n where n.line > t.line and n.named is null and n.dimensions = t.dimensions))) as s (is_part)
    cross join lateral (values (1, x.conditions, 'lines of ' || x.description),
                               (case when s.is_part then 2 else 4 end, jsonb_build_array(jsonb_build_object('block', t.place)),
                                case t.place when 1 then 'the lines above it' else 'the lines since the total above it' end),
                               (3, '[]'::jsonb, 'all lines')) as b (place, conditions, description)
   where (b.place <> 1 or x.conditions <> '[]')
     -- Where the label names a group, nothing else counts.
     and not exists (select from pg_temp.ingest_own_basis o where o.line = t.line);
end $$;

-- Text from a file, as messages show it. Internal.
create or replace function iu_core.fn_ingest_quoted(p_text text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('“%s”', case when length(p_text) > 60 then left(p_text, 59) || '…' else p_text end)
$$;

-- Fills `ingest_own_sum` for every basis: lines, and for each measure its sum, smallest and largest value and the cells that are not numbers.
-- p_totals: the lines of all totals, which separate the blocks. At most 8 sets of columns that conditions name are summed. Internal.
create or replace function iu_core.fn_ingest_own_totals_add_up(p_upload iu_core.ingest_upload, p_definition jsonb, p_totals integer[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_figures text;
  v_sets jsonb;
  v_set jsonb;
begin
  create temporary table ingest_own_sum (
    conditions jsonb, lines bigint, currencies bigint, sums numeric[], min_values numeric[], max_values numeric[], unread bigint[]) on commit drop;
  select format('array[%s]::numeric[], array[%s]::numeric[], array[%s]::numeric[], array[%s]::bigint[]',
                string_agg(format('sum(g.s%s)', m.place), ', ' order by m.place), string_agg(format('min(g.l%s)', m.place), ', ' order by m.place),
                string_agg(format('max(g.h%s)', m.place), ', ' order by m.place), string_agg(format('sum(g.u%s)', m.place), ', ' order by m.place))
    into v_figures
    from iu_core.fn_ingest_measures(p_definition, v_layout) m having count(*) > 0;
  if v_figures is null then
    return;
  end if;
  select coalesce(jsonb_agg(jsonb_build_object('key', 'k' || w.place, 'conditions', w.conditions, 'wanted', w.wanted) order by w.place), '[]') into v_sets
    from (select (array_agg(b.conditions))[1] as conditions, jsonb_agg(distinct k.wanted) as wanted,
                 row_number() over (order by count(*) desc, k.names::text) as place
            from pg_temp.ingest_own_basis b
           cross join lateral (select jsonb_agg(c - 'value' order by o) as names, jsonb_agg(c -> 'value' order by o) as wanted
                                 from jsonb_array_elements(b.conditions) with ordinality as e (c, o)) k
           where b.conditions <> '[]' and not b.conditions @? '$[*].block' group by k.names) w
   where w.place <= 8;
  -- Each line counts in one part, and a basis is the sum of its parts. All sets share one pass over the lines, as long as there are far fewer
  -- parts than lines.
  if (select exp(sum(ln(jsonb_array_length(s -> 'wanted') + 1))) from jsonb_array_elements(v_sets) s) * (cardinality(p_totals) + 1) > 10000 then
    perform iu_core.fn_ingest_own_totals_parts(p_upload, p_definition, p_totals, '[]');
  else
    perform iu_core.fn_ingest_own_totals_parts(p_upload, p_definition, p_totals, v_sets);
  end if;
  -- All lines: all blocks together. Of those the currencies of lines that were left out do not count.
  execute format($sql$
    insert into pg_temp.ingest_own_sum
    select case when grouping(g.block) = 1 then '[]' else jsonb_build_array(jsonb_build_object('block', g.block + 1)) end, sum(g.lines),
           case when grouping(g.block) = 1 then count(distinct g.currency) filter (where g.taken) else count(distinct g.currency) end, %s
      from pg_temp.ingest_own_part g group by grouping sets ((g.block), ()) having count(*) > 0
  $sql$, v_figures);
  for v_set in select s from jsonb_array_elements(v_sets) s loop
    if not exists (select from pg_attribute where attrelid = 'pg_temp.ingest_own_part'::regclass and attname = v_set ->> 'key') then
      perform iu_core.fn_ingest_own_totals_parts(p_upload, p_definition, '{}', jsonb_build_array(v_set));
    end if;
    execute format($sql$
      insert into pg_temp.ingest_own_sum
      select jsonb_build_array(%1$s), sum(g.lines), count(distinct g.currency), %2$s from pg_temp.ingest_own_part g where g.%3$I is not null group by g.%3$I
    $sql$, (select string_agg(format('jsonb_build_object(%L, %L, ''value'', g.%I[%s])', case when c ? 'column' then 'column' else 'field' end,
                                     coalesce(c ->> 'column', c ->> 'field'), v_set ->> 'key', o), ', ' order by o)
              from jsonb_array_elements(v_set -> 'conditions') with ordinality as e (c, o)), v_figures, v_set ->> 'key');
  end loop;
end $$;

-- Puts the sums of all lines into `ingest_own_part`, by block, by currency, and for each set of conditions by those values that somebody wants to know.
-- Every value is read once for each line, and groups are plain values: with objects as groups and every aggregate reading the payload itself
-- it took six times as long (1.5 s for 100,000 lines). Internal.
create or replace function iu_core.fn_ingest_own_totals_parts(p_upload iu_core.ingest_upload, p_definition jsonb, p_totals integer[], p_sets jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- As in fn_ingest_check_subtotals: nothing is known yet of these rows.
set enable_nestloop = off
-- The planner takes many lines for a few. Few parts come out of them, so that a second core, where there is one, takes half of the work.
set parallel_setup_cost = 0
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_currency text;
  v_values text;
  v_parts text;
  v_keys text;
  v_groups text;
  v_selected text;
begin
  select iu_core.fn_ingest_member_sql(v_layout, f.key) into v_currency
    from jsonb_each(p_definition -> 'fields') as f where f.value ->> 'type' = 'currency' order by f.key limit 1;
  select string_agg(format('(%1$s)::numeric as v%2$s, %1$s is null and %3$s ~ ''[0-9]'' as u%2$s', iu_core.fn_ingest_member_sql(v_layout, m.field), m.place,
                           iu_core.fn_ingest_cell_sql(v_layout, coalesce(p_upload.reading -> 'map' -> 'fields' -> m.field ->> 'header', m.field))), ', '),
         string_agg(format('sum(l.v%1$s) as s%1$s, min(l.v%1$s) as l%1$s, max(l.v%1$s) as h%1$s, count(*) filter (where l.u%1$s) as u%1$s', m.place), ', ')
    into v_values, v_parts
    from iu_core.fn_ingest_measures(p_definition, v_layout) m;
  select string_agg(format(', array[%s]::text[] as %s', l.listed, s ->> 'key'), '' order by o),
         string_agg(format(', case when l.%1$s in (values %2$s) then l.%1$s end', s ->> 'key', v.wanted), '' order by o),
         string_agg(format(', case when l.%1$s in (values %2$s) then l.%1$s end as %1$s', s ->> 'key', v.wanted), '' order by o)
    into v_keys, v_groups, v_selected
    from jsonb_array_elements(p_sets) with ordinality as e (s, o),
         lateral (select string_agg(iu_core.fn_ingest_own_totals_value_sql(v_layout, c), ', ' order by n)
                    from jsonb_array_elements(s -> 'conditions') with ordinality as x (c, n)) as l (listed),
         lateral (select string_agg(format('(%L::text[])', array(select jsonb_array_elements_text(w))), ', ') from jsonb_array_elements(s -> 'wanted') w) as v (wanted);
  drop table if exists pg_temp.ingest_own_part;
  execute format($sql$
    create temporary table ingest_own_part on commit drop as
    select l.block, l.currency, l.taken, count(*) as lines, %5$s%8$s
      from (select width_bucket(s.row_number, %1$L::integer[]) as block, %2$s as currency, s.validation_status <> 'skipped' as taken, %3$s%4$s
              from iu_core.ingest_staged_row s
             where s.upload_id = %6$L and s.row_type = %7$L
               and (s.validation_status <> 'skipped' or iu_core.fn_ingest_left_out_reason(s.validation_warnings) <> all (iu_core.fn_ingest_totals_rules()))
            -- Otherwise the aggregates would read each value again.
            offset 0) l
     group by l.block, l.currency, l.taken%9$s
  $sql$, p_totals, coalesce(v_currency, 'null::text'), v_values, v_keys, v_parts, p_upload.upload_id, v_layout ->> 'leaf', v_selected, v_groups);
end $$;

-- The value of a condition in a line `s`. Internal.
create or replace function iu_core.fn_ingest_own_totals_value_sql(p_layout jsonb, p_condition jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_condition ? 'column' then format('lower(btrim(%s))', iu_core.fn_ingest_cell_sql(p_layout, p_condition ->> 'column'))
              else iu_core.fn_ingest_member_sql(p_layout, p_condition ->> 'field') end
$$;

-- Compares the totals with the sums; see fn_ingest_own_totals for the result. Internal.
create or replace function iu_core.fn_ingest_own_totals_compare(p_upload iu_core.ingest_upload, p_definition jsonb, p_found bigint) returns jsonb
language sql
set search_path = pg_catalog, pg_temp
as $$
  with measure as materialized (
    select m.place, m.field, m.title, m.is_money, coalesce(p_upload.reading -> 'map' -> 'fields' -> m.field ->> 'header', m.field) as header
      from iu_core.fn_ingest_measures(p_definition, p_upload.reading -> 'layout') m
  ), printed as materialized (
    select t.line, m.*, (t.payload ->> m.field)::numeric as value, x.decimals
      from pg_temp.ingest_own_total t cross join measure m
     cross join lateral (select greatest(scale(trim_scale((t.payload ->> m.field)::numeric)), coalesce(length(substring(t.raw ->> m.header from
                                  case p_upload.reading -> 'styles' ->> 'decimal' when 'comma' then ',([0-9]+)[^0-9]*$' when 'dot' then '[.]([0-9]+)[^0-9]*$'
                                       -- Nothing says which sign it is.
                                       else '^$' end)), 0))) as x (decimals)
     where t.payload ->> m.field is not null
  ), compared as materialized (
    select p.*, b.place as basis, b.description, s.lines, s.sums[p.place] as total, s.unread[p.place] as unread,
           case when p.is_money and s.currencies > 1 then 'its lines have several currencies'
                when a.agrees then null
                when n.is_rate and p.value between s.min_values[p.place] and s.max_values[p.place] then 'it lies between the smallest and the largest value: an average or a rate'
                when n.is_unique and p.value between s.max_values[p.place] and s.sums[p.place] then 'it counts each only once'
           end as reason, a.agrees
      from printed p
      join pg_temp.ingest_own_basis b on b.line = p.line
      join pg_temp.ingest_own_sum s on s.conditions = b.conditions and s.lines > 0
     cross join lateral (select abs(coalesce(s.sums[p.place], 0) - p.value) * 2 <= 10::numeric ^ (-p.decimals)
                                and (p.decimals < scale(trim_scale(coalesce(s.sums[p.place], 0))) or coalesce(s.sums[p.place], 0) = p.value)) as a (agrees)
     cross join lateral (select lower(replace(concat_ws(' ', p.header, p.title), '_', ' '))) as w (words)
     cross join lateral (select w.words ~ ('(^|[^[:alpha:]])(cp[acimlv]|ctr|cvr|roas|roi|acos|aov|avg|average|mean|median|rate|ratio|share|percent|pct|per|price|position'
                                           '|rank|score|frequency|durchschnitt[a-z]*|mittelwert|quote|anteil|preis|stückpreis|taux|prix|moyenne?|promedio|precio|prezzo|medio|media)([^[:alpha:]]|$)|[%øØ⌀]'),
                                w.words ~ '(^|[^[:alpha:]])(reach|unique|uniques|users|visitors|people|reichweite|nutzer|besucher)([^[:alpha:]]|$)') as n (is_rate, is_unique)
  ), basis as (
    -- One basis for each total: one with which all figures agree, else the first.
    select distinct on (c.line) c.line, c.basis, c.description, c.lines
      from (select c.line, c.basis, min(c.description) as description, min(c.lines) as lines,
                   bool_and(c.agrees or c.reason is not null) and bool_or(c.reason is null) as agrees
              from compared c group by 1, 2) c
     order by c.line, c.agrees desc, c.basis
  ), total as materialized (
    select t.line, t.label, t.place, b.description, b.lines,
           count(*) filter (where c.agrees and c.reason is null) as agreeing, count(*) filter (where not c.agrees and c.reason is null) as disagreeing,
           case when b.line is null then
             case when not exists (select from measure) then 'no column of the dataset is a sum'
                  when not exists (select from printed p where p.line = t.line) then 'it has no figure in a column that is a sum'
                  else 'no line belongs to it, or more than 8 different columns tell what totals are about' end end as reason,
           jsonb_agg(jsonb_build_object('column', c.header, 'title', c.title, 'field', c.field,
                       'file', round(c.value, c.decimals)::text, 'sum', trim_scale(coalesce(c.total, 0))::text,
                       'difference', trim_scale(c.value - coalesce(c.total, 0))::text, 'unread', c.unread,
                       'result', case when c.reason is not null then 'not_compared' when c.agrees then 'agrees' else 'disagrees' end)
                     || case when c.reason is null then '{}' else jsonb_build_object('reason', c.reason) end
                     order by c.reason is null and not c.agrees desc, c.place) filter (where c.line is not null) as figures
      from pg_temp.ingest_own_total t
      left join basis b on b.line = t.line
      left join compared c on c.line = b.line and c.basis = b.basis
     group by t.line, t.label, t.place, b.line, b.description, b.lines
  ), ranked as (
    select t.*, case when t.disagreeing > 0 then 'disagrees' when t.agreeing > 0 then 'agrees' else 'not_compared' end as result,
           row_number() over (order by t.disagreeing > 0 desc, t.agreeing > 0, t.line) as rank
      from total t
  ), excluded as (
    -- Numbers of these lines that are not sums.
    select f.value ->> 'header' as header, min((f.value ->> 'column')::integer) as place,
           case when d.field ->> 'type' = 'percent' then 'a percentage is not a sum'
                when d.field ->> 'additive' = 'false' then 'its values cannot be added up'
                when d.field ->> 'type' = 'decimal' and not coalesce((d.field ->> 'additive')::boolean, false) then 'a decimal is a sum only where the dataset says additive: true'
                else 'it is not a figure of the rows' end as reason
      from jsonb_each(p_upload.reading -> 'map' -> 'fields') as f
     cross join lateral (select p_definition -> 'fields' -> f.key) as d (field)
     where d.field ->> 'type' in ('integer', 'decimal', 'money', 'percent') and f.key not in (select m.field from measure m)
       and exists (select from pg_temp.ingest_own_total t where t.payload ->> f.key is not null)
     group by 1, 3
    union all
    select u.value ->> 'header', (u.value ->> 'column')::integer, 'no field of the dataset has it'
      from jsonb_array_elements(coalesce(p_upload.reading -> 'map' -> 'unknown', '[]')) as u
     where exists (select from pg_temp.ingest_own_total t where t.raw ->> (u.value ->> 'header') ~ '^[^[:alpha:]]*[0-9][^[:alpha:]]*$')
    union all
    select m.header, m.place, 'the total is not a number'
      from measure m
     where exists (select from pg_temp.ingest_own_total t where t.payload ->> m.field is null and t.raw ->> m.header ~ '[0-9]')
  )
  select jsonb_build_object(
           'lines', p_found,
           'agree', (select count(*) from ranked t where t.result = 'agrees'),
           'disagree', (select count(*) from ranked t where t.result = 'disagrees'),
           'not_compared', (select count(*) from ranked t where t.result = 'not_compared') + p_found - (select count(*) from ranked),
           'columns', (select coalesce(jsonb_agg(m.header order by m.place), '[]') from measure m
                        where exists (select from compared c join basis b using (line, basis) where c.field = m.field and c.reason is null)),
           'excluded', (select coalesce(jsonb_agg(jsonb_build_object('column', e.header, 'reason', e.reason) order by e.place), '[]')
                          from (select * from excluded order by place limit 50) e),
           'more_excluded', (select greatest(count(*) - 50, 0) from excluded),
           'totals', (select coalesce(jsonb_agg(jsonb_build_object('line', t.line, 'label', t.label, 'result', t.result, 'with', t.description, 'lines', t.lines, 'reason', t.reason,
                               'figures', coalesce((select jsonb_agg(f order by o) from jsonb_array_elements(t.figures) with ordinality as e (f, o) where o <= 20), '[]'),
                               'more_figures', greatest(coalesce(jsonb_array_length(t.figures), 0) - 20, 0)) order by t.rank), '[]')
                        from ranked t where t.rank <= 100),
           'more_totals', greatest(p_found - 100, 0))
$$;

-- Why a plan is refused for the file's own totals; NULL if it is not: the dataset asks for no more than a warning, or they agree. Internal.
create or replace function iu_core.fn_ingest_own_totals_refusal(p_own_totals jsonb, p_definition jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('the file''s own totals disagree with its lines: line %s %s says %s for %s, and %s sum up to %s', t ->> 'line',
                iu_core.fn_ingest_quoted(coalesce(t ->> 'label', 'without a label')), f ->> 'file', f ->> 'column', t ->> 'with', f ->> 'sum')
         || case when (p_own_totals ->> 'disagree')::bigint > 1 then format('; %s such lines in all', p_own_totals ->> 'disagree') else '' end
    from (select p_own_totals -> 'totals' -> 0 as t) x, lateral (select t -> 'figures' -> 0 as f) y
   where p_definition ->> 'ownTotals' = 'refuse' and (p_own_totals ->> 'disagree')::bigint > 0
$$;
