-- Keeps a result that is too large for an event, in one statement: the bytes themselves (db), or where its file is (disk).
-- content_hash is of the text that jsonb gives back, or of the file's bytes: whoever loads it compares.
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
    raise exception using errcode = 'SD001', message = 'A result has an execution, a size, and either its body or a file with its hash';
  end if;
  insert into noetl.result_ref (ref_id, execution_id, node_name, command_id, name, parent_ref_id, store_tier, physical_uri, content_hash, bytes)
  values (v_ref, p_execution_id, p_node_name, p_command_id, p_name, p_parent_ref_id,
          case when p_body is null then 'disk' else 'db' end, coalesce(p_physical_uri, 'db:noetl.result_body/' || v_ref),
          coalesce(p_content_hash, sha256(convert_to(p_body::text, 'UTF8'))), p_bytes);
  if p_body is not null then
    insert into noetl.result_body (ref_id, body) values (v_ref, p_body);
  end if;
  return v_ref;
end $$;

grant execute on function noetl.fn_result_put(bigint, bigint, jsonb, bigint, text, bytea, text, text, text, bigint) to dot_executor;
