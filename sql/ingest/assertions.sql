-- Assertions of a dataset: queries over its tables as they would be after the promotion, which return no row where they hold. They run with
-- every plan that writes into one of these tables, whichever dataset or statement made it, and are part of it; and once more with the
-- promotion, on the tables as they are then.

-- Adds to a plan what its assertions found: a note for each, and a refusal where one that is an error does not hold. The digest covers
-- them. Internal.
create or replace function iu_core.fn_ingest_plan_assertions(p_upload iu_core.ingest_upload, p_definition jsonb, p_plan iu_core.ingest_plan)
returns iu_core.ingest_plan
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found jsonb := iu_core.fn_ingest_assertions(p_upload, p_definition, true);
begin
  if v_found = '[]' then
    return p_plan;
  end if;
  update iu_core.ingest_plan p
     set notes = p.notes || (select coalesce(jsonb_agg(jsonb_build_object('rule', 'assertion.' || (f.value ->> 'name'), 'message', f.value ->> 'message')
                                                       order by f.ordinality), '[]')
                               from jsonb_array_elements(v_found) with ordinality f),
         refusal = coalesce(p.refusal, iu_core.fn_ingest_assertions_refusal(v_found)),
         digest = encode(sha256(convert_to(p.digest || v_found::text, 'UTF8')), 'hex')
   where p.upload_id = p_upload.upload_id returning * into p_plan;
  return p_plan;
end $$;

-- Raises plan_refused where an assertion that is an error does not hold on the tables after the promotion wrote them: rows that the plan
-- does not have may have changed since. Internal.
create or replace function iu_core.fn_ingest_require_assertions(p_upload iu_core.ingest_upload, p_definition jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal text := iu_core.fn_ingest_assertions_refusal(iu_core.fn_ingest_assertions(p_upload, p_definition, false));
begin
  if v_refusal is not null then
    perform iu_core.fn_ingest_raise_plan_refused(p_upload.upload_id, v_refusal);
  end if;
end $$;

-- The declarations whose assertions concern an upload: of datasets that its workspace has, with a table that this one writes. Internal.
create or replace function iu_core.fn_ingest_asserting(p_workspace_id uuid, p_definition jsonb) returns setof jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select d.definition
    from iu_core.ingest_dataset d
   where jsonb_array_length(coalesce(d.definition -> 'assertions', '[]')) > 0 and (d.workspace_id is null or d.workspace_id = p_workspace_id)
     and exists (select from jsonb_array_elements(d.definition -> 'rows') a, jsonb_array_elements(p_definition -> 'rows') b
                  where iu_core.fn_ingest_table(a ->> 'target') = iu_core.fn_ingest_table(b ->> 'target'))
   order by d.dataset
$$;

-- The first of those that do not hold and are errors; NULL: none. Internal.
create or replace function iu_core.fn_ingest_assertions_refusal(p_found jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select f.value ->> 'message' from jsonb_array_elements(p_found) with ordinality f
   where f.value ->> 'severity' = 'error' and not (f.value ->> 'holds')::boolean order by f.ordinality limit 1
$$;

-- [{"name", "severity", "holds", "message"}] of all assertions that concern an upload; p_definition: of its own dataset. p_planned: on the
-- rows as the plan of the upload would leave them; else as they are. A query sees each row type under its name, and under that of its table where no row type has it: the rows of the upload's
-- workspace and client, where a column says whose they are. It can only read: it runs in a subtransaction that refuses every write and is
-- rolled back. It has as long as it says (seconds, default 10): notices tell the caller which one begins and when it ends, and the caller
-- cancels the statement (src/ingest/assertion-limit.ts); that ends the assertion alone, and it does not hold. Internal.
create or replace function iu_core.fn_ingest_assertions(p_upload iu_core.ingest_upload, p_definition jsonb, p_planned boolean) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_max_rows constant integer := 1000;
  c_max_shown constant integer := 3;
  c_seconds constant integer := 10;
  -- As in assertion-limit.ts.
  c_lock constant integer := 20059;
  v_asserting jsonb;
  v_tables text;
  v_assertion jsonb;
  v_count bigint;
  v_shown text;
  v_failure text;
  v_seconds integer;
  v_began timestamptz;
  v_found jsonb := '[]';
begin
  for v_asserting in select a from iu_core.fn_ingest_asserting(p_upload.workspace_id, p_definition) a loop
    v_tables := iu_core.fn_ingest_asserted_tables(p_upload, p_definition, v_asserting, p_planned);
    for v_assertion in select value from jsonb_array_elements(v_asserting -> 'assertions') with ordinality a order by a.ordinality loop
      v_failure := null;
      v_count := null;
      v_seconds := coalesce((v_assertion ->> 'seconds')::integer, c_seconds);
      v_began := clock_timestamp();
      begin
        -- Held exactly as long as the assertion is checked: what is cancelled is this, and nothing after it.
        perform pg_advisory_xact_lock(c_lock, pg_backend_pid());
        raise info using message = 'stagedoor: assertion', detail = jsonb_build_object('backend', pg_backend_pid(), 'seconds', v_seconds);
        perform set_config('transaction_read_only', 'on', true);
        execute format($sql$
          with %s
          select count(*), left((select string_agg(to_jsonb(s)::text, ', ') from (select * from found limit %s) s), 500)
            from (select * from found limit %s) f
        $sql$, v_tables || iu_core.fn_ingest_assertion_query(v_assertion), c_max_shown, c_max_rows) into v_count, v_shown;
        -- Ends the subtransaction, and with it that nothing can be written.
        raise triggered_action_exception;
      exception
        when triggered_action_exception then
          -- A function that the query calls may raise it as well: then nothing was counted.
          if v_count is null then
            get stacked diagnostics v_failure = message_text;
          end if;
        when query_canceled then
          -- A limit of the whole statement, or whoever ended it: not the assertion's own time.
          if clock_timestamp() < v_began + v_seconds * interval '1 second' then
            raise exception using errcode = 'query_canceled', message = format('the assertion %s was being checked: %s', v_assertion ->> 'name', sqlerrm);
          end if;
          v_failure := format('it takes longer than %s s. Make its query faster (an index on what it groups or joins by), or give it more time in the dataset ("seconds", at most 300)', v_seconds);
        when others then
          get stacked diagnostics v_failure = message_text;
      end;
      raise info 'stagedoor: assertion';
      v_found := v_found || jsonb_build_object(
        'name', v_assertion ->> 'name', 'severity', coalesce(v_assertion ->> 'severity', 'error'), 'holds', v_failure is null and v_count = 0,
        'message', case
          when v_failure is not null then format('The assertion %s cannot be checked: %s', v_assertion ->> 'name', v_failure)
          when v_count = 0 then format('The assertion %s holds', v_assertion ->> 'name')
          else format('The assertion %s does not hold%s: %s%s', v_assertion ->> 'name', coalesce(' (' || (v_assertion ->> 'message') || ')', ''), v_shown,
                      case when v_count >= c_max_rows then format(' and at least %s more', v_count - c_max_shown)
                           when v_count > c_max_shown then format(' and %s more', v_count - c_max_shown) else '' end) end);
    end loop;
  end loop;
  return v_found;
end $$;

-- In a subquery, where nothing but a SELECT may stand. Internal.
create or replace function iu_core.fn_ingest_assertion_query(p_assertion jsonb) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format(E', found as (select * from (\n%s\n) q)', p_assertion ->> 'sql')
$$;

-- The row types of a dataset that asserts (p_asserting) as the tables of a WITH, for an upload of the dataset p_definition. Internal.
create or replace function iu_core.fn_ingest_asserted_tables(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_asserting jsonb, p_planned boolean
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_type record;
  v_in_file boolean;
  v_table regclass;
  v_own text;
  v_body text;
  v_tables text;
  v_names text[] := array(select s ->> 'name' from jsonb_array_elements(p_asserting -> 'rows') s);
begin
  for v_spec in select value from jsonb_array_elements(p_asserting -> 'rows') with ordinality r order by r.ordinality loop
    v_table := iu_core.fn_ingest_table(v_spec ->> 'target');
    select string_agg(format('t.%I = %L', m.key, case m.value when '$workspace' then p_upload.workspace_id else p_upload.client_id end), ' and ')
      into v_own
      from jsonb_each_text(v_spec -> 'columns') m where m.value = '$workspace' or m.value = '$client' and p_definition ? 'client';
    v_in_file := false;
    if p_planned then
      select t.* into v_type from iu_core.fn_ingest_row_types(p_definition, p_upload.reading -> 'layout') t
       where t.target = v_table order by t.row_type = v_spec ->> 'name' desc limit 1;
      v_in_file := found;
    end if;
    if not v_in_file then
      v_body := format('select t.* from %s t where %s', iu_core.fn_ingest_table_sql(v_table), coalesce(v_own, 'true'));
    else
      v_body := iu_core.fn_ingest_asserted_rows(p_upload.upload_id, v_type, coalesce(v_own, 'true'));
    end if;
    v_tables := concat_ws(', ', v_tables, format(E'%I as (\n%s\n)', v_spec ->> 'name', v_body));
    if (select relname::text from pg_class where oid = v_table) <> all (v_names) then
      v_names := v_names || (select relname::text from pg_class where oid = v_table);
      v_tables := v_tables || format(', %I as (select * from %I)', (select relname from pg_class where oid = v_table), v_spec ->> 'name');
    end if;
  end loop;
  return v_tables;
end $$;

-- The rows of a table as a plan would leave them, as a query: those that stay, those that are updated, those that come. Generated columns
-- of updated rows are those of before; columns that defaults will fill are NULL. Internal.
create or replace function iu_core.fn_ingest_asserted_rows(p_upload_id uuid, p_type record, p_own text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_rows text := format('ingest_after_%s', p_type.type_order);
  v_planned record;
  v_updated text;
  v_inserted text;
  v_stays text := p_own;
begin
  v_planned := iu_core.fn_ingest_planned_rows(p_upload_id, p_type);
  execute format('drop table if exists pg_temp.%I', v_rows);
  execute format('alter table pg_temp.ingest_now rename to %I', v_rows);
  select string_agg(case when w.slot is not null and not coalesce(w.insert_only, false) then format('n.%s::%s', w.slot, a.type) else format('t.%I', a.name) end, ', ' order by a.place),
         string_agg(case when w.slot is not null then format('n.%s::%s', w.slot, a.type)
                         when a.name = p_type.id_column then format('n."#id"::%s', a.type)
                         else format('null::%s', a.type) end, ', ' order by a.place)
    into v_updated, v_inserted
    from (select c.attname::text as name, c.attnum as place, format_type(c.atttypid, c.atttypmod) as type
            from pg_attribute c where c.attrelid = p_type.target and c.attnum > 0 and not c.attisdropped) a
    left join jsonb_to_recordset(p_type.written) as w ("column" text, slot text, insert_only boolean) on w."column" = a.name;
  if v_planned.updates > 0 then
    v_stays := v_stays || format(' and not exists (select from pg_temp.%I n where n."#action" = ''update'' and %s)', v_rows, v_planned.row_match);
  end if;
  if exists (select from iu_core.ingest_plan_row r where r.upload_id = p_upload_id and r.type_order = p_type.type_order and r.action = 'delete') then
    v_stays := v_stays || format($sql$ and not exists (
        select from iu_core.ingest_plan_row p, lateral jsonb_populate_record(null::%1$s, p.before) d
         where p.upload_id = %2$L and p.type_order = %3$s and p.action = 'delete' and %4$s)$sql$,
      v_target, p_upload_id, p_type.type_order,
      (select string_agg(format('d.%1$I is not distinct from t.%1$I', k), ' and ') from unnest(p_type.key_columns) k));
  end if;
  return format('select t.* from %s t where %s', v_target, v_stays)
    || case when v_planned.updates > 0 then
         format(E'\nunion all select %s from pg_temp.%I n join %s t on %s where n."#action" = ''update'' and %s', v_updated, v_rows, v_target, v_planned.row_match, p_own) else '' end
    || case when v_planned.inserts > 0 then format(E'\nunion all select %s from pg_temp.%I n where n."#action" = ''insert''', v_inserted, v_rows) else '' end;
end $$;

-- What is wrong with the queries of a declaration, each with what PostgreSQL says. Internal.
create or replace function iu_core.fn_ingest_assertion_problems(p_definition jsonb) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nobody iu_core.ingest_upload;
  v_assertion jsonb;
  v_failure text;
begin
  for v_assertion in select value from jsonb_array_elements(p_definition -> 'assertions') loop
    v_failure := null;
    begin
      perform set_config('transaction_read_only', 'on', true);
      execute format('explain with %s%s select * from found', iu_core.fn_ingest_asserted_tables(v_nobody, p_definition, p_definition, false),
                     iu_core.fn_ingest_assertion_query(v_assertion));
      raise triggered_action_exception;
    exception
      when triggered_action_exception then
        null;
      when others then
        get stacked diagnostics v_failure = message_text;
    end;
    if v_failure is not null then
      return next format('the assertion %s cannot be checked: %s', v_assertion ->> 'name', v_failure);
    end if;
  end loop;
end $$;
