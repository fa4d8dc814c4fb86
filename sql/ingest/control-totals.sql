-- Control totals of every measure: read, valid, left out, refused, written, and the difference to the current rows.

-- Control totals: how much of every measure was read, is valid, left out, refused, and would be written, and what the rows of
-- these keys hold now. Exact (numeric, returned as text); money by currency. Before there is a plan, only the results of the
-- check. An array of
--   {"measure", "title", "column", "currency", "read", "valid", "left_out", "refused", "totals_lines", "reasons", "unread",
--    "written", "unchanged", "before", "after", "difference", "lost_share"}
-- totals_lines: amounts in lines that sum up others (row.total, row.subtotal, row.sum); they count nowhere else, because the
-- lines that they sum up do. read = valid + left_out + refused. reasons: rule → amount in the lines that it left out, totals
-- lines included, so reasons add up to left_out + totals_lines. unread: cells that are not numbers. written: into new and
-- changed rows. before → after: the sum over all rows of the valid lines' keys, now and after promotion. lost_share, only of
-- the dataset's amount: refused and left_out as a share of all that was read, whatever its sign. Internal.
create or replace function iu_core.fn_ingest_control_totals(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_planned boolean, p_only_inserts boolean default false
) returns jsonb
language sql
set search_path = pg_catalog, pg_temp
as $$
  select iu_core.fn_ingest_control_sum(iu_core.fn_ingest_control_parts(p_upload, p_definition, p_planned, p_only_inserts),
                                       p_definition, p_upload.reading -> 'layout', p_planned)
$$;

-- What control totals are made of: for each kind of line, currency and reason the number of lines and the sum of every measure
-- (and, last, the size of the dataset's amount whatever its sign): [{"kind", "currency", "reason", "lines", "figures",
-- "unread"}]. Sums of disjoint lines add up to the sum of all, so that a repair adjusts them by the difference. p_lines: only
-- these lines. NULL if there is no measure. Internal.
create or replace function iu_core.fn_ingest_control_parts(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_planned boolean, p_only_inserts boolean default false, p_lines integer[] default null
) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf text := v_layout ->> 'leaf';
  v_type record;
  v_amount integer;
  v_currency text;
  v_currency_column text;
  v_payload text;
  v_lines text;
  v_cast text;
  v_before text;
  v_unread text;
  v_of_payload text;
  v_of_line text;
  v_rows text;
  v_parts jsonb;
  v_some text := iu_core.fn_ingest_lines_sql('row_number', p_lines);
  v_some_planned text := iu_core.fn_ingest_lines_sql('p.row_number', p_lines);
begin
  select t.* into v_type from iu_core.fn_ingest_row_types(p_definition, v_layout) t where t.is_leaf;
  select m.place into v_amount from iu_core.fn_ingest_measures(p_definition, v_layout) m where m.field = p_definition ->> 'amount';
  -- Amounts of two currencies have no sum.
  select w.source, w."column" into v_currency, v_currency_column
    from jsonb_to_recordset(v_type.written) as w ("column" text, source text)
   where p_definition -> 'fields' -> w.source ->> 'type' = 'currency' limit 1;
  -- One member for each measure, then the size of the dataset's amount whatever its sign.
  select string_agg(format('sum((%s)::numeric)', iu_core.fn_ingest_member_sql(v_layout, m.field)), ', ' order by m.place),
         string_agg(format('sum(l.%I)::numeric', m.slot), ', ' order by m.place),
         -- As the column will hold it (rounded to its scale), where it holds numbers.
         string_agg(case when t.is_number or t.is_money then format('sum(l.%I::%s)::numeric', m.slot, w.type)
                         else format('sum(l.%I)::numeric', m.slot) end, ', ' order by m.place),
         string_agg(case when t.is_number then format('sum((p.before ->> %L)::numeric)', m."column")
                         else format('sum(iu_core.fn_ingest_to_numeric(p.before ->> %L, %L::regtype))', m."column", w.type::regtype) end,
                    ', ' order by m.place),
         string_agg(format('count(*) filter (where %s is null and %s ~ ''[0-9]'')', iu_core.fn_ingest_member_sql(v_layout, m.field),
                           iu_core.fn_ingest_cell_sql(v_layout, coalesce(p_upload.reading -> 'map' -> 'fields' -> m.field ->> 'header', m.field))), ', ' order by m.place),
         max(format('sum(abs((%s)::numeric))', iu_core.fn_ingest_member_sql(v_layout, m.field))) filter (where m.place = v_amount),
         max(format('sum(abs(l.%I))::numeric', m.slot)) filter (where m.place = v_amount)
    into v_payload, v_lines, v_cast, v_before, v_unread, v_of_payload, v_of_line
    from iu_core.fn_ingest_measures(p_definition, v_layout) m
    join jsonb_to_recordset(v_type.written) as w ("column" text, type text) on w."column" = m."column"
    cross join lateral (select w.type::regtype = any (array['int2', 'int4', 'int8', 'numeric', 'float4', 'float8']::regtype[]),
                               w.type::regtype = 'money'::regtype) as t (is_number, is_money);
  if v_payload is null then
    return null;
  end if;
  v_payload := v_payload || ', ' || coalesce(v_of_payload, 'null::numeric');
  v_lines := v_lines || ', ' || coalesce(v_of_line, 'null::numeric');

  -- Invalid and left-out lines by their index; lines that the plan refuses, from the plan.
  v_rows := format($sql$
    select case s.validation_status when 'skipped' then 'left_out' else 'refused' end as kind, %1$s as currency,
           case when s.validation_status = 'skipped' then iu_core.fn_ingest_left_out_reason(s.validation_warnings) end as reason,
           count(*) as lines, array[%2$s] as figures, array[%3$s] as unread
      from (select * from iu_core.ingest_staged_row
             where upload_id = %4$L and (validation_status <> 'valid' or validation_warnings <> '[]')%6$s offset 0) s
     where s.row_type = %5$L and s.validation_status in ('invalid', 'skipped') group by 1, 2, 3
  $sql$, case when v_currency is null then 'null' else iu_core.fn_ingest_member_sql(v_layout, v_currency) end, v_payload, v_unread,
     p_upload.upload_id, v_leaf, v_some);
  -- A value of a valid line that is not a number counts as nothing, but is reported.
  v_rows := v_rows || format($sql$
    union all
    select 'unread', %1$s, null, count(*), null, array[%2$s]
      from (select * from iu_core.ingest_staged_row
             where upload_id = %3$L and (validation_status <> 'valid' or validation_warnings <> '[]')%5$s offset 0) s
     where s.row_type = %4$L and s.validation_status = 'valid' group by 1, 2
  $sql$, case when v_currency is null then 'null' else iu_core.fn_ingest_member_sql(v_layout, v_currency) end, v_unread,
     p_upload.upload_id, v_leaf, v_some);
  if not p_planned then
    v_rows := v_rows || format($sql$
      union all
      select 'valid', %1$s, null, count(*), array[%2$s], null
        from iu_core.ingest_staged_row s where s.upload_id = %3$L and s.row_type = %4$L and s.validation_status = 'valid'%5$s group by 1, 2
    $sql$, case when v_currency is null then 'null' else iu_core.fn_ingest_member_sql(v_layout, v_currency) end, v_payload,
       p_upload.upload_id, v_leaf, v_some);
  else
    v_rows := v_rows || format($sql$
      union all
      select 'refused', %1$s, null, count(*), array[%2$s], null
        from iu_core.ingest_plan_row p join iu_core.ingest_staged_row s
          on s.upload_id = p.upload_id and s.row_type = p.row_type and s.row_number = p.row_number
       where p.upload_id = %3$L and p.type_order = %4$s and p.action = 'refused' and s.validation_status = 'valid' and not %5$L::boolean%11$s%12$s
       group by 1, 2
      union all
      select k.kind, x.currency, null, x.lines, case k.kind when 'valid' then x.read else x.written end, null
        from (select coalesce(o.action, 'insert') as action, %6$s as currency, count(*) as lines, array[%7$s] as read, array[%8$s, null] as written
                from pg_temp.ingest_line l
                left join (select p.row_number, p.action from iu_core.ingest_plan_row p
                            where p.upload_id = %3$L and p.type_order = %4$s and p.action in ('update', 'unchanged', 'refused', 'skipped')
                              and not %5$L::boolean%11$s) o on o.row_number = l.row_number
               group by 1, 2) x,
             unnest(array['valid', x.action]) as k (kind)
       where x.action <> 'refused'
      union all
      select 'before', %9$s, null, count(*), array[%10$s, null], null
        from iu_core.ingest_plan_row p
       where p.upload_id = %3$L and p.type_order = %4$s and p.action in ('update', 'delete') and not %5$L::boolean%11$s
       group by 1, 2
    $sql$, case when v_currency is null then 'null' else iu_core.fn_ingest_member_sql(v_layout, v_currency) end, v_payload,
       p_upload.upload_id, v_type.type_order, p_only_inserts,
       case when v_currency is null then 'null' else format('l.%I', iu_core.fn_ingest_line_column(v_layout, v_currency)) end, v_lines, v_cast,
       case when v_currency is null then 'null' else format('p.before ->> %L', v_currency_column) end, v_before, v_some_planned,
       replace(v_some_planned, 'p.', 's.'));
  end if;

  execute format('select jsonb_agg(to_jsonb(r)) from (%s) r', v_rows) into v_parts;
  return coalesce(v_parts, '[]');
end $$;

-- Control totals from their parts; see fn_ingest_control_totals. Internal.
create or replace function iu_core.fn_ingest_control_sum(p_parts jsonb, p_definition jsonb, p_layout jsonb, p_planned boolean) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with r as materialized (
    select * from jsonb_to_recordset(p_parts) as r (kind text, currency text, reason text, figures numeric[], unread bigint[])
  ), amount as materialized (
    select m.place from iu_core.fn_ingest_measures(p_definition, p_layout) m where m.field = p_definition ->> 'amount'
  ),
  figures as (
    select m.place, m.field, m.title, m."column", case when m.is_money then r.currency end as currency, k.kind, r.reason,
           coalesce(r.figures[m.place], 0) as figure, case k.kind when 'totals' then 0 else coalesce(r.unread[m.place], 0) end as unread,
           case when m.place = (select place from amount) then coalesce(r.figures[cardinality(r.figures)], 0) end as size
      from r, iu_core.fn_ingest_measures(p_definition, p_layout) m,
           lateral (select case when r.kind = 'left_out' and r.reason = any (iu_core.fn_ingest_totals_rules()) then 'totals'
                                else r.kind end) as k (kind)
  ), sums as (
    select f.place, f.field, f.title, f."column", f.currency,
           coalesce(sum(f.figure) filter (where f.kind = 'valid'), 0) as valid,
           coalesce(sum(f.figure) filter (where f.kind = 'left_out'), 0) as left_out,
           coalesce(sum(f.figure) filter (where f.kind = 'refused'), 0) as refused,
           coalesce(sum(f.figure) filter (where f.kind = 'totals'), 0) as totals_lines,
           coalesce(sum(f.figure) filter (where f.kind in ('insert', 'update')), 0) as written,
           coalesce(sum(f.figure) filter (where f.kind = 'unchanged'), 0) as unchanged,
           coalesce(sum(f.figure) filter (where f.kind = 'before'), 0) as before,
           sum(f.unread) as unread,
           coalesce(sum(f.size) filter (where f.kind in ('refused', 'left_out')), 0) as lost,
           coalesce(sum(f.size) filter (where f.kind = 'valid'), 0) as kept
      from figures f group by 1, 2, 3, 4, 5
  ), reasons as (
    select a.place, a.currency, jsonb_object_agg(a.reason, trim_scale(a.figure)::text) as reasons
      from (select f.place, f.currency, f.reason, sum(f.figure) as figure from figures f where f.kind in ('left_out', 'totals') group by 1, 2, 3) a
     group by 1, 2
  )
  select coalesce(jsonb_agg(jsonb_build_object(
           'measure', s.field, 'title', s.title, 'column', s."column", 'currency', s.currency,
           'read', trim_scale(s.valid + s.left_out + s.refused)::text, 'valid', trim_scale(s.valid)::text,
           'left_out', trim_scale(s.left_out)::text, 'refused', trim_scale(s.refused)::text,
           'totals_lines', trim_scale(s.totals_lines)::text, 'reasons', coalesce(q.reasons, '{}'), 'unread', s.unread)
           || case when p_planned then jsonb_build_object(
             'written', trim_scale(s.written)::text, 'unchanged', trim_scale(s.unchanged)::text,
             'before', trim_scale(s.before + s.unchanged)::text, 'after', trim_scale(s.written + s.unchanged)::text,
             'difference', trim_scale(s.written - s.before)::text) else '{}' end
           || case when s.place = (select place from amount) and s.lost + s.kept > 0
                   then jsonb_build_object('lost_share', trim_scale(round(s.lost / (s.lost + s.kept), 9))::text) else '{}' end
           order by s.place, s.currency), '[]')
    from sums s left join reasons q on q.place = s.place and q.currency is not distinct from s.currency
   -- A currency that only other measures have.
   where s.currency is not null or not exists (select from sums o where o.place = s.place and o.currency is not null)
      or s.valid <> 0 or s.left_out <> 0 or s.refused <> 0 or s.totals_lines <> 0 or s.written <> 0 or s.unchanged <> 0
      or s.before <> 0 or s.unread > 0
$$;

-- The JSON value of a column as a number for control totals; NULL if it is not a number. A measure may be written into a text
-- column, which can hold anything. Internal.
create or replace function iu_core.fn_ingest_to_numeric(p_text text, p_type regtype) returns numeric
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_text ~ '^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?\s*$' or p_text in ('NaN', 'Infinity', '-Infinity')
                then p_text::numeric
              when p_type = 'money'::regtype then p_text::money::numeric end
$$;

-- The control totals of a plan without the rows that a table rejected during a LENIENT promotion; lost_share then includes
-- them. Internal.
create or replace function iu_core.fn_ingest_control_totals_promoted(p_plan iu_core.ingest_plan, p_definition jsonb, p_leaf_order smallint)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with refused as materialized (
    select p.before, iu_core.fn_ingest_plan_image(p_plan.inserted_columns, p) as image
      from iu_core.ingest_plan_row p
     where p.upload_id = p_plan.upload_id and p.type_order = p_leaf_order and p.action = 'refused'
       and (p.inserted is not null or p.after is not null)
  ), leaf as (
    select spec from jsonb_array_elements(p_definition -> 'rows') as spec
     where spec ->> 'name' = (select row_type from iu_core.ingest_plan_row where upload_id = p_plan.upload_id and type_order = p_leaf_order limit 1)
  ), currency as (
    select c.key as "column", c.value as field from leaf, jsonb_each_text(leaf.spec -> 'columns') as c
     where p_definition -> 'fields' -> c.value ->> 'type' = 'currency' limit 1
  ), planned as materialized (
    -- Lines that a table rejected are invalid now; the plan counted them as valid.
    select s.normalized_payload ->> (select field from currency) as currency, sum(abs((s.normalized_payload ->> (p_definition ->> 'amount'))::numeric)) as size
      from leaf join iu_core.v_ingest_staged_row s on s.upload_id = p_plan.upload_id and s.row_type = leaf.spec ->> 'name'
                                                and (s.validation_status = 'valid' or s.processing_action = 'failed')
     where exists (select from refused) and p_definition ? 'amount' group by 1
  )
  select case when not exists (select from refused) then p_plan.control else coalesce((
    select jsonb_agg(e.entry || jsonb_build_object(
             'valid', trim_scale((e.entry ->> 'valid')::numeric - x.lost)::text,
             'refused', trim_scale((e.entry ->> 'refused')::numeric + x.lost)::text,
             'written', trim_scale((e.entry ->> 'written')::numeric - x.lost)::text,
             'before', trim_scale((e.entry ->> 'before')::numeric - x.stays)::text,
             'after', trim_scale((e.entry ->> 'after')::numeric - x.lost)::text,
             'difference', trim_scale((e.entry ->> 'difference')::numeric - x.lost + x.stays)::text)
             || coalesce((
               select jsonb_build_object('lost_share', trim_scale(round(l.share + x.size * (1 - l.share) / k.size, 9))::text)
                 from planned k, lateral (select (e.entry ->> 'lost_share')::numeric) as l (share)
                where l.share is not null and k.size > 0 and k.currency is not distinct from e.entry ->> 'currency'), '{}') order by e.ordinality)
      from jsonb_array_elements(p_plan.control) with ordinality as e (entry, ordinality),
           lateral (select coalesce(sum(abs(iu_core.fn_ingest_to_numeric(r.image ->> (e.entry ->> 'column'), a.type)))
                                      filter (where e.entry ->> 'currency' is null or r.image ->> c."column" = e.entry ->> 'currency'), 0) as size,
                           coalesce(sum(iu_core.fn_ingest_to_numeric(r.image ->> (e.entry ->> 'column'), a.type))
                                      filter (where e.entry ->> 'currency' is null or r.image ->> c."column" = e.entry ->> 'currency'), 0) as lost,
                           coalesce(sum(iu_core.fn_ingest_to_numeric(r.before ->> (e.entry ->> 'column'), a.type))
                                      filter (where e.entry ->> 'currency' is null or r.before ->> c."column" = e.entry ->> 'currency'), 0) as stays
                      from refused r left join currency c on true
                      cross join (select t.atttypid::regtype as type from leaf, pg_attribute t
                                   where t.attrelid = to_regclass(leaf.spec ->> 'target') and t.attname = e.entry ->> 'column') a) as x), '[]') end
$$;

-- The rule that left a line out. Other warnings of the line are ignored. Internal.
create or replace function iu_core.fn_ingest_left_out_reason(p_warnings jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    jsonb_path_query_first(p_warnings, '$[*].rule ? (@ == $rules[*])',
                           jsonb_build_object('rules', iu_core.fn_ingest_totals_rules() || '{key.repeated,line.left_out}'::text[])) #>> '{}',
    p_warnings -> 0 ->> 'rule', 'unknown')
$$;

-- The rules that leave out lines which sum up other lines. Internal.
create or replace function iu_core.fn_ingest_totals_rules() returns text[]
language sql immutable parallel safe
as $$
  select '{row.total,row.subtotal,row.sum}'::text[]
$$;

-- The measures of an upload: its additive numbers in the order of the declaration, each with the column of the target table and
-- the column of `ingest_line`. Internal.
create or replace function iu_core.fn_ingest_measures(p_definition jsonb, p_layout jsonb)
returns table (place integer, field text, title text, "column" text, is_money boolean, slot text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select row_number() over (order by o.ordinality, c.key)::integer, c.value,
         coalesce(d.field ->> 'title', replace(c.value, '_', ' ')), c.key, d.field ->> 'type' = 'money',
         iu_core.fn_ingest_line_column(p_layout, c.value)
    from jsonb_array_elements(p_definition -> 'rows') as leaf
    cross join jsonb_each_text(leaf -> 'columns') as c
    cross join lateral (select p_definition -> 'fields' -> c.value) as d (field)
    left join jsonb_array_elements_text(p_definition -> 'field_order') with ordinality as o on o.value = c.value
   where leaf ->> 'name' = p_layout ->> 'leaf' and p_layout -> 'fields' ? c.value and not leaf -> 'key' ? c.key
     and d.field ->> 'type' in ('integer', 'money', 'decimal')
     and not d.field ? 'lookup'
     and coalesce((d.field ->> 'additive')::boolean, d.field ->> 'type' in ('integer', 'money'))
$$;
