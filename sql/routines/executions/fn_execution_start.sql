-- Starts a playbook, in the caller's transaction: rolled back, it never was. The same key again: the same execution.
-- Members start what is open to them, in a workspace of theirs; without a workspace it is global, for back-end code only.
create or replace function noetl.fn_execution_start(
  p_playbook text,
  p_args jsonb default '{}',
  p_workspace_id uuid default null,
  p_version integer default null,
  p_idempotency_key text default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member text;
  c noetl.catalog;
  v_unknown text;
  v_id bigint;
  v_digest bytea;
  v_first noetl.execution_key;
begin
  v_member := noetl.require_starter(p_workspace_id);
  perform iu_core.fn_require_workspace(p_workspace_id);
  c := noetl.fn_playbook_require(p_playbook, p_version);
  if v_member <> 'service' and not c.open_to_members then
    raise exception using
      errcode = 'SD810',
      message = format('The playbook %s is started by the back end only', p_playbook),
      detail = json_build_object('playbook', p_playbook)::text;
  end if;
  if jsonb_typeof(p_args) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The arguments of a playbook are a JSON object';
  end if;
  -- They stand in the log, and in every snapshot.
  if pg_column_size(p_args) > 16777216 then
    raise exception using
      errcode = 'SD001',
      message = 'The arguments of an execution have at most 16 MiB',
      hint = 'Put the data into a table or a file, and give its name.';
  end if;
  select string_agg(k, ', ' order by k) into v_unknown from jsonb_object_keys(p_args) k where not coalesce(c.payload -> 'args', '{}') ? k;
  if v_unknown is not null then
    raise exception using errcode = 'SD001', message = format('The playbook %s takes no %s', p_playbook, v_unknown);
  end if;
  if p_idempotency_key = '' then
    raise exception using errcode = 'SD001', message = 'An idempotency key is not empty';
  end if;
  v_id := noetl.fn_snowflake();
  if p_idempotency_key is not null then
    v_digest := sha256(convert_to(p_args::text, 'utf8'));
    -- Of two at once the second waits here for the first, and takes over only if that one is rolled back.
    insert into noetl.execution_key (path, workspace_id, idempotency_key, execution_id, args_digest)
    values (p_playbook, p_workspace_id, p_idempotency_key, v_id, v_digest) on conflict do nothing;
    if not found then
      select * into strict v_first from noetl.execution_key k
       where k.path = p_playbook and k.workspace_id is not distinct from p_workspace_id and k.idempotency_key = p_idempotency_key;
      -- Whoever asks for something else would take the old answer for theirs.
      if v_first.args_digest <> v_digest then
        raise exception using
          errcode = 'SD813',
          message = format('The key %s of the playbook %s belongs to the execution %s, which has other arguments',
                           p_idempotency_key, p_playbook, v_first.execution_id),
          detail = json_build_object('key', p_idempotency_key, 'playbook', p_playbook, 'execution', v_first.execution_id::text)::text;
      end if;
      return v_first.execution_id;
    end if;
  end if;
  perform noetl.fn_execution_begin(v_id, jsonb_build_object('catalog_id', c.catalog_id::text, 'args', p_args, 'workspace_id', p_workspace_id));
  return v_id;
end $$;

grant execute on function noetl.fn_execution_start(text, jsonb, uuid, integer, text) to authenticated, service_role, dot_executor, stagedoor_reviewer, stagedoor_producer;
