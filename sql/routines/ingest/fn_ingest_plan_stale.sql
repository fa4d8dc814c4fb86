-- The rows of a plan that are no longer what it was made on, each with what the plan saw, what it would write and what is there
-- now, in the order of the plan; none: it is not stale. Of a row that the plan leaves unchanged it saw only a fingerprint, so
-- before is NULL. total: how many there are in all. Changes nothing.
create or replace function iu_core.fn_ingest_plan_stale(p_upload_id uuid, p_limit integer default 200)
returns table (
  target_table text, row_type text, line integer, action text, key jsonb, before jsonb, planned jsonb, now jsonb, total bigint
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; nobody needs to hear that they do not.
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
  v_definition jsonb;
  v_type record;
  v_planned record;
  v_key text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
  if u.status <> 'planned' then
    raise exception using
      errcode = 'SD602',
      message = format('Upload %s is %s and has no plan that could be stale', p_upload_id, u.status),
      detail = json_build_object('upload', p_upload_id, 'status', u.status, 'action', 'compared with its tables')::text;
  end if;
  select d.definition into v_definition from iu_core.ingest_dataset d where d.dataset = u.dataset;
  drop table if exists pg_temp.ingest_stale;
  create temporary table ingest_stale (
    type_order smallint, line integer, key jsonb, now jsonb) on commit drop;
  for v_type in select * from iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') where target is not null loop
    select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload_id, v_type);
    continue when v_planned.inserts + v_planned.updates + v_planned.unchanged = 0;
    -- Its key as it is there; of a row that is gone, as it was planned.
    select string_agg(format('%L, case when t.ctid is null then to_jsonb(%s) else to_jsonb(t.%I) end', k.name,
                             coalesce('n.' || w.slot, 'null::text'), k.name), ', ' order by k.position) into v_key
      from unnest(v_type.key_columns) with ordinality as k (name, position)
      left join jsonb_to_recordset(v_type.written) as w ("column" text, slot text) on w."column" = k.name;
    execute format('insert into pg_temp.ingest_stale %s', iu_core.fn_ingest_stale_sql(v_type, v_planned.row_match, v_planned.key_match,
      format('%s::smallint, n."#row", jsonb_build_object(%s), case when t.ctid is not null then to_jsonb(t.*) end', v_type.type_order, v_key)));
  end loop;
  return query
    select t.target_name, r.row_type, s.line, r.action, s.key, r.before, iu_core.fn_ingest_plan_image(p.inserted_columns, r), s.now,
           (select count(*) from pg_temp.ingest_stale)
      from (select * from pg_temp.ingest_stale x order by x.type_order, x.line limit least(greatest(p_limit, 0), 1000)) s
      join iu_core.ingest_plan_row r on r.upload_id = p_upload_id and r.type_order = s.type_order and r.row_number = s.line
      join iu_core.ingest_plan p on p.upload_id = p_upload_id
      join iu_core.fn_ingest_row_types(v_definition, u.reading -> 'layout') t on t.type_order = s.type_order
     order by s.type_order, s.line;
end $$;

grant execute on function iu_core.fn_ingest_plan_stale(uuid, integer)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
