-- Rules over all lines of an upload: a line that sums up others, a key that repeats. What an earlier run found is taken away first, so that a repair
-- of one line also clears the other. Returns how many lines it changed. Internal.
create or replace function iu_core.fn_ingest_check_set(p_upload iu_core.ingest_upload, p_definition jsonb) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
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

  -- A line that was found to be a sum has with it what was wrong with it before. They are found once, by their own index, and
  -- joined by their place: by their key the planner, which knows nothing of the upload yet or plans for a small one that this session had
  -- before, may look through all lines again for each line (15 s for 3,000).
  with e as materialized (
    select r.place, coalesce(jsonb_path_query_first(r.validation_warnings, '$[*] ? (@.rule == "row.sum").errors'),
                                  iu_core.fn_ingest_without_set_problems(r.validation_errors)) as errors
      from (select l.ctid as place, l.* from public.staging_rows l
             where upload_id = p_upload.upload_id and (validation_status <> 'valid' or validation_warnings <> '[]') offset 0) r
     where r.row_type = v_layout ->> 'leaf' and r.validation_status in ('invalid', 'skipped')
       and (r.validation_errors @> '[{"scope": "set"}]' or r.validation_warnings @> '[{"scope": "set"}]'))
  update public.staging_rows s
     set validation_errors = e.errors, validation_warnings = iu_core.fn_ingest_without_set_problems(s.validation_warnings),
         validation_status = case when e.errors = '[]' then 'valid' else 'invalid' end::public.staging_validation_status,
         updated_at = now()
    from e
   where s.ctid = e.place;
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
    ), affected as (
      select line, lines
        from repeated, unnest(lines) as line
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
