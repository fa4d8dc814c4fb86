-- One row type of a plan into its table: rows to be updated are locked in the order of their keys, everything that was
-- planned is compared with what is there, then it is written, with both images in the ledger. Internal.
create or replace function iu_core.fn_ingest_promote_type(p_upload_id uuid, p_type record, p_gate_mode text) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_planned bigint;
  v_same bigint;
  v_taken bigint;
  v_match text;
  v_record text;
  v_columns text;
  v_sets text;
  v_order text;
  v_result text;
  -- What tells which planned row a written one is.
  v_link text[];
begin
  if not exists (select from iu_core.ingest_plan_row
                  where upload_id = p_upload_id and type_order = p_type.type_order and action in ('insert', 'update', 'unchanged')) then
    return;
  end if;
  select string_agg(format('%I %s', w."column", w.type), ', '), string_agg(quote_ident(w."column"), ', '),
         string_agg(format('%1$I = x.%1$I', w."column"), ', ')
    into v_record, v_columns, v_sets
    from jsonb_to_recordset(p_type.written) as w ("column" text, type text);
  -- By its id where it has one; else by the key as it was planned.
  v_match := case when p_type.id_column is not null then format('t.%I = p.target_id', p_type.id_column)
    else (select string_agg(format('t.%1$I is not distinct from (p.target_key ->> %1$L)::%2$s', a.attname, format_type(a.atttypid, a.atttypmod)), ' and ')
            from unnest(p_type.key_columns) k join pg_attribute a on a.attrelid = p_type.target and a.attname = k) end;
  select string_agg(format('t.%I', k), ', ') into v_order from unnest(p_type.key_columns) k;

  execute format($sql$
    select count(*) from (
      select from iu_core.ingest_plan_row p join %1$s t on %2$s
       where p.upload_id = $1 and p.type_order = $2 and p.action = 'update' order by %3$s for no key update of t) locked
  $sql$, p_type.target, v_match, v_order) using p_upload_id, p_type.type_order;
  -- A statement of its own: it sees what was committed while we waited for the locks.
  execute format($sql$
    select count(*), count(*) filter (where sha256(convert_to(to_jsonb(t)::text, 'UTF8')) = p.before_hash)
      from iu_core.ingest_plan_row p left join %1$s t on %2$s
     where p.upload_id = $1 and p.type_order = $2 and p.action in ('update', 'unchanged')
  $sql$, p_type.target, v_match) into v_planned, v_same using p_upload_id, p_type.type_order;
  execute format($sql$
    select count(*) from iu_core.ingest_plan_row p, jsonb_to_record(p.after) as x (%2$s) join %1$s t on %3$s
     where p.upload_id = $1 and p.type_order = $2 and p.action = 'insert'
  $sql$, p_type.target, v_record,
    (select string_agg(case when w."column" is null then format('t.%I is null', k.k)
                            when iu_core.fn_ingest_column_not_null(p_type.target, k.k) then format('t.%1$I = x.%1$I', k.k)
                            else format('t.%1$I is not distinct from x.%1$I', k.k) end, ' and ')
       from unnest(p_type.key_columns) as k (k)
       left join jsonb_to_recordset(p_type.written) as w ("column" text) on w."column" = k.k))
    into v_taken using p_upload_id, p_type.type_order;
  if v_same < v_planned or v_taken > 0 then
    raise exception using
      errcode = 'SD606',
      message = format('%s rows of %s have changed since the plan was made', v_planned - v_same + v_taken, p_type.target_name),
      detail = json_build_object('upload', p_upload_id,
        'reason', format('%s rows of %s have changed since', v_planned - v_same + v_taken, p_type.target_name))::text;
  end if;

  v_link := case when p_type.id_column is not null then array[p_type.id_column]
    else array(select k from unnest(p_type.key_columns) k
                where exists (select from jsonb_to_recordset(p_type.written) as w ("column" text) where w."column" = k)) end;
  if p_type.id_column is not null then
    v_record := v_record || format(', %I uuid', p_type.id_column);
    v_columns := v_columns || format(', %I', p_type.id_column);
  end if;
  v_result := format($sql$ insert into iu_core.ingest_ledger (
        upload_id, type_order, row_type, row_number, target, target_id, target_key, action, before, after)
      select p.upload_id, p.type_order, p.row_type, p.row_number, %L, p.target_id, p.target_key, p.action, p.before, w.image
        from written w join iu_core.ingest_plan_row p
          on p.upload_id = $1 and p.type_order = $2 and p.row_number = w.row_number $sql$, p_type.target_name);
  perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'insert', format($sql$
    with planned as materialized (
      select p.row_number, x.* from iu_core.ingest_plan_row p, jsonb_to_record(p.after) as x (%1$s)
       where p.upload_id = $1 and p.type_order = $2 and p.action = 'insert' and p.row_number between $3 and $4
       order by p.row_number
    ), inserted as (
      insert into %2$s as t (%3$s) select %3$s from planned returning to_jsonb(t) as image, %4$s
    ), written as (
      select planned.row_number, inserted.image from inserted join planned on %5$s
    ) %6$s
  $sql$, v_record, p_type.target, v_columns,
     (select string_agg(format('t.%1$I as %1$I', c), ', ') from unnest(v_link) c),
     (select string_agg(case when iu_core.fn_ingest_column_not_null(p_type.target, c)
                             then format('planned.%1$I = inserted.%1$I', c)
                             else format('planned.%1$I is not distinct from inserted.%1$I', c) end, ' and ') from unnest(v_link) c),
     v_result));
  perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'update', format($sql$
    with written as (
      update %1$s t set %2$s
        from iu_core.ingest_plan_row p, jsonb_to_record(p.after) as x (%3$s)
       where p.upload_id = $1 and p.type_order = $2 and p.action = 'update' and p.row_number between $3 and $4 and %4$s
      returning p.row_number, to_jsonb(t) as image
    ) %5$s
  $sql$, p_type.target, v_sets, v_record, v_match, v_result));
end $$;
