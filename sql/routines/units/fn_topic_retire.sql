-- Takes a topic out of use: no unit gets it any more, those that have it keep it, and the checker says so.
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
