-- Rules over all lines of an upload: a line that sums up others, a key that repeats. What an earlier run found is taken away first, so that a repair
-- of one line also clears the other. Returns how many lines it changed. Internal.
create or replace function iu_core.fn_ingest_check_set(p_upload iu_core.ingest_upload, p_definition jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- Nothing is known yet of an upload that was staged a moment ago: joined in loops, 20,000 lines with repeated keys took 200 s.
set enable_nestloop = off
as $$
declare
  v_layout jsonb := p_upload.reading -> 'layout';
  v_leaf jsonb;
  v_policy text;
  v_no_ids text;
  v_key text;
  v_changed integer := 0;
  v_count integer;
begin
  select spec into v_leaf from jsonb_array_elements(p_definition -> 'rows') as spec where spec ->> 'name' = v_layout ->> 'leaf';
  v_policy := iu_core.fn_ingest_repeated_keys(p_upload, p_definition);
  -- Told apart by name, two of the same name have one key: most exports without ids are refused for that.
  select string_agg(coalesce(p_definition -> 'fields' -> (spec -> 'identity' ->> 'id') ->> 'title', spec -> 'identity' ->> 'id'), ', ')
    into v_no_ids
    from jsonb_array_elements(p_definition -> 'rows') as spec
   where v_layout -> 'row_types' ? (spec ->> 'name') and spec -> 'identity' ? 'id' and not v_layout -> 'fields' ? (spec -> 'identity' ->> 'id');

  -- A line that was found to be a sum has with it what was wrong with it before. (Not joined with itself: 8,000 lines took 90 s.)
  update public.staging_rows s
     set (validation_errors, validation_warnings, validation_status, updated_at) = (
           select e.errors, iu_core.fn_ingest_without_set_problems(s.validation_warnings),
                  case when e.errors = '[]' then 'valid' else 'invalid' end::public.staging_validation_status, now()
             from (select coalesce(jsonb_path_query_first(s.validation_warnings, '$[*] ? (@.rule == "row.sum").errors'),
                                   iu_core.fn_ingest_without_set_problems(s.validation_errors)) as errors) e)
   where s.upload_id = p_upload.upload_id and s.row_type = v_layout ->> 'leaf'
     and s.validation_status in ('invalid', 'skipped') and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')
     and (s.validation_errors @> '[{"scope": "set"}]' or s.validation_warnings @> '[{"scope": "set"}]');
  get diagnostics v_changed = row_count;
  v_changed := v_changed + iu_core.fn_ingest_check_sums(p_upload, p_definition);

  -- Sums are made when it is planned.
  if v_policy = 'sum' then
    return v_changed;
  end if;
  -- The text of the key's sources; what is the same for the whole upload tells nothing.
  select string_agg(format(case when iu_core.fn_ingest_field_type(p_definition -> 'fields' -> source) = 'numeric'
                                then '(normalized_payload ->> %L)::numeric' else 'normalized_payload ->> %L' end,
                           case when source like '$%' and source <> '$identity' then '@' || substr(source, 2)
                                when source = '$identity' then '@' || (v_leaf ->> 'name') else source end), ', ')
    into v_key
    from jsonb_array_elements_text(v_leaf -> 'key') as k,
         lateral (select v_leaf -> 'columns' ->> k) as s (source)
   where v_layout -> 'fields' ? source or (source like '$%' and v_layout -> 'row_types' ? substr(source, 2)) or source = '$identity';
  if v_key is null then
    return v_changed;
  end if;
  execute format($sql$
    with repeated as (
      select array_agg(row_number order by row_number) as lines
        from public.staging_rows
       where upload_id = $1 and row_type = $2 and validation_status = 'valid'
       group by %1$s having count(*) > 1
    ), line as materialized (
      select unnest(lines) as line, lines from repeated
    ), affected as materialized (
      select line, lines from line
       where %2$L = 'refuse' or line <> case %2$L when 'first' then lines[1] else lines[cardinality(lines)] end
    )
    update public.staging_rows s
       set validation_status = case when %2$L = 'refuse' then 'invalid' else 'skipped' end::public.staging_validation_status,
           validation_errors = case when %2$L = 'refuse' then s.validation_errors || problem else s.validation_errors end,
           validation_warnings = case when %2$L = 'refuse' then s.validation_warnings else s.validation_warnings || problem end,
           updated_at = now()
      from affected a,
           lateral (select jsonb_build_object(
             'scope', 'set', 'line', a.line, 'rule', 'key.repeated', 'lines', to_jsonb(a.lines[1:20]),
             'message', case when %2$L = 'refuse'
               then format('The same key stands in %%s lines: %%s.%%s', cardinality(a.lines), array_to_string(a.lines[1:5], ', '),
                           ' The file has no ' || %3$L || ', so those with the same name cannot be told apart.')
               when %2$L = 'first' then format('Line %%s has the same key and comes before, so it is taken instead.', a.lines[1])
               else format('Line %%s has the same key and comes later, so it is taken instead.', a.lines[cardinality(a.lines)]) end,
             'suggestion', case when %2$L = 'refuse'
               then coalesce('Export again with the column ' || %3$L || '.', 'Correct what tells them apart.')
                    || ' Or choose how repeated keys are taken: sum adds them up, last or first takes one of them (upload plan --repeated-keys).'
               else 'Nothing to do.' end)) as p (problem)
     where s.upload_id = $1 and s.row_type = $2 and s.row_number = a.line
  $sql$, v_key, v_policy, v_no_ids) using p_upload.upload_id, v_layout ->> 'leaf';
  get diagnostics v_count = row_count;
  return v_changed + v_count;
end $$;
