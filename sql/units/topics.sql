-- The topic vocabulary.

-- Adds a topic to the vocabulary of a workspace, or of every workspace (NULL: back-end code only). An existing topic is
-- returned, a retired one is activated again.
create or replace function iu_core.fn_topic_add(p_workspace_id uuid, p_topic_label text, p_description text default null) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_topic uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_topic_label is null or p_topic_label !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception using
      errcode = 'SD001',
      message = format('%L is not a valid topic', p_topic_label),
      hint = 'A topic has lowercase letters, digits, dots, _ and -, at most 63 characters: ad-spend.';
  end if;
  insert into iu_core.topic_vocabulary as t (workspace_id, topic_label, description, registered_by)
  values (p_workspace_id, p_topic_label, p_description, iu_core.fn_actor())
  on conflict (workspace_id, topic_label) do update
     set retired_at = null, description = coalesce(excluded.description, t.description)
  returning topic_id into v_topic;
  return v_topic;
end $$;

grant execute on function iu_core.fn_topic_add(uuid, text, text) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;

-- Retires a topic: it cannot be added to units any more; units that have it keep it, and the checker reports it.
create or replace function iu_core.fn_topic_retire(p_workspace_id uuid, p_topic_label text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  update iu_core.topic_vocabulary
     set retired_at = coalesce(retired_at, clock_timestamp())
   where workspace_id is not distinct from p_workspace_id and topic_label = p_topic_label;
  if not found then
    raise exception using
      errcode = 'SD907',
      message = format('Not in the topic vocabulary: %s', coalesce(p_topic_label, 'NULL')),
      detail = json_build_object('topics', p_topic_label)::text;
  end if;
end $$;

grant execute on function iu_core.fn_topic_retire(uuid, text) to
  authenticated, stagedoor_reviewer, service_role, dot_executor;
