-- Results that are stored by reference.

-- Stores a result that is too large for an event, in one statement: its bytes (db), or the location of its file (disk) or object
-- (s3, pvc: the scheme of its location).
-- content_hash is of the text that jsonb returns, or of the file's bytes: the reader compares it.
create or replace function noetl.fn_result_put(
  p_execution_id bigint,
  p_bytes bigint,
  p_body jsonb default null,
  p_ref_id bigint default null,
  p_physical_uri text default null,
  p_content_hash bytea default null,
  p_node_name text default null,
  p_command_id text default null,
  p_name text default null,
  p_parent_ref_id bigint default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ref bigint := coalesce(p_ref_id, noetl.fn_snowflake());
begin
  if p_execution_id is null or p_bytes is null
     or (p_body is null) = (p_physical_uri is null) or (p_physical_uri is null) <> (p_content_hash is null) then
    raise exception using errcode = 'SD001', message = 'A result needs an execution, a size, and either a body or a file with its hash';
  end if;
  insert into noetl.result_ref (ref_id, execution_id, node_name, command_id, name, parent_ref_id, store_tier, physical_uri, content_hash, bytes)
  values (v_ref, p_execution_id, p_node_name, p_command_id, p_name, p_parent_ref_id,
          case when p_body is not null then 'db' when p_physical_uri ~ '^(s3|pvc):' then split_part(p_physical_uri, ':', 1) else 'disk' end, coalesce(p_physical_uri, 'db:noetl.result_body/' || v_ref),
          coalesce(p_content_hash, sha256(convert_to(p_body::text, 'UTF8'))), p_bytes);
  if p_body is not null then
    insert into noetl.result_body (ref_id, body) values (v_ref, p_body);
  end if;
  return v_ref;
end $$;

grant execute on function noetl.fn_result_put(bigint, bigint, jsonb, bigint, text, bytea, text, text, text, bigint) to dot_executor;

-- A result for those who may read the workspace of its execution: the body, if the database stores it or combines it now. For a
-- result on disk (`object` is an older name for disk) the body is null; the server that has the file reads it after this
-- function has let the caller through.
create or replace function noetl.fn_result_read(
  p_ref_id bigint,
  out execution_id bigint, out node_name text, out command_id text, out parent_ref_id bigint,
  out store_tier text, out media_type text, out bytes bigint, out created_at timestamptz, out body jsonb
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_collected timestamptz;
begin
  perform iu_core.require_member(noetl.fn_result_workspace(p_ref_id), 'read');
  if exists (select from noetl.result_ref r where r.ref_id = p_ref_id and r.store_tier = 'eventlog') then
    perform noetl.fn_loop_results(p_ref_id);
  end if;
  select r.execution_id, r.node_name, r.command_id, r.parent_ref_id, case r.store_tier when 'object' then 'disk' else r.store_tier end, r.media_type, r.bytes, r.created_at, b.body, r.collected_at
    into execution_id, node_name, command_id, parent_ref_id, store_tier, media_type, bytes, created_at, body, v_collected
    from noetl.result_ref r left join noetl.result_body b on b.ref_id = r.ref_id
   where r.ref_id = p_ref_id;
  if v_collected is not null then
    raise exception using
      errcode = 'SD811',
      message = format('The result %s is no longer stored', p_ref_id),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
end $$;

grant execute on function noetl.fn_result_read(bigint) to authenticated, service_role, dot_executor, stagedoor_reviewer;

-- The workspace of a result's execution, if the caller may see it; another workspace's result gives the same error as a missing
-- one. Read from the first event of the log, because the projection may be behind. Internal: fn_result_read passes it to
-- require_member.
create or replace function noetl.fn_result_workspace(p_ref_id bigint) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select (e.meta ->> 'workspace_id')::uuid into v_workspace
    from noetl.result_ref r join noetl.event e on e.execution_id = r.execution_id and e.seq = 1
   where r.ref_id = p_ref_id;
  if not found
     or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD811',
      message = format('There is no result %s', coalesce(p_ref_id::text, 'NULL')),
      detail = json_build_object('ref', p_ref_id::text)::text;
  end if;
  return v_workspace;
end $$;

-- Expires results whose execution ended longer ago than noetl.retention says: their rows stay for the trace, marked, and bodies
-- in the database are deleted. Returns the marked rows; the caller deletes the files of the others before it commits: if it
-- fails in between, they are returned again. A result is kept while it may still be read: by a running ancestor (a child's
-- result is also its parent's), or by a running rerun that took over outcomes of the execution.
create or replace function noetl.fn_results_expire(p_limit integer default 1000) returns setof noetl.result_ref
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before timestamptz := clock_timestamp() - (select results from noetl.retention);
  v_ids bigint[];
begin
  if p_limit is null or p_limit < 1 then
    raise exception using errcode = 'SD001', message = 'The limit must be at least 1';
  end if;
  with recursive taken_over as (
    select e.meta ->> 'rerun_of' as id
      from noetl.checkpoint c
      join noetl.event e on e.execution_id = c.execution_id and e.seq = 1
     where e.meta ->> 'rerun_of' is not null
    union
    select e.meta ->> 'rerun_of'
      from taken_over t
      join noetl.event e on e.execution_id = t.id::bigint and e.seq = 1
     where e.meta ->> 'rerun_of' is not null
  ), old as (
    select r.ref_id
      from noetl.result_ref r
      join noetl.execution x on x.execution_id = r.execution_id
     where r.collected_at is null and r.created_at <= v_before and x.end_time <= v_before
       and not exists (
         with recursive line as (
           select x.execution_id as id, x.parent_execution_id as parent, x.end_time
           union all
           select p.execution_id, p.parent_execution_id, p.end_time
             from line l join noetl.execution p on p.execution_id = l.parent)
         select from line l
          where l.end_time is null or l.end_time > v_before or l.id::text in (select t.id from taken_over t))
     order by r.created_at limit p_limit
       for update of r skip locked
  )
  select array_agg(ref_id) into v_ids from old;
  delete from noetl.result_body where ref_id = any (v_ids);
  return query update noetl.result_ref set collected_at = clock_timestamp() where ref_id = any (v_ids) returning *;
end $$;

grant execute on function noetl.fn_results_expire(integer) to dot_executor;
