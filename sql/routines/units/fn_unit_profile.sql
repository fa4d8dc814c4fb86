-- Changes the profile of a unit that is a draft or enacted: the patch is merged at the top level, null takes a key out. Topics are
-- in topic_labels. Metadata: no version, nothing for search. Returns the profile as it is then.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_profile(p_unit_id uuid, p_patch jsonb, p_actor text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
  v_profile jsonb;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_profile_check(p_patch);
  u := iu_core.fn_unit_metadata_lock(p_unit_id);
  v_profile := u.content_profile || p_patch;
  if p_patch @? '$.* ? (@ == null)' then
    v_profile := v_profile - array(select key from jsonb_each(p_patch) where value = 'null');
  end if;
  if v_profile = u.content_profile then
    return v_profile;
  end if;
  update iu_core.information_unit set content_profile = v_profile where unit_id = p_unit_id;
  -- Keys, never values; and of a profile with thousands of long ones the first.
  perform iu_core.fn_event_write('iu', 'unit_profile_changed', p_unit_id::text, u.workspace_id, v_actor.actor, v_actor.via, jsonb_build_object(
    'unit_id', p_unit_id,
    'keys', array(select left(k, 60) from jsonb_object_keys(p_patch) k
                   where u.content_profile -> k is distinct from v_profile -> k order by k limit 50)), u.canonical_address);
  return v_profile;
end $$;

grant execute on function iu_core.fn_unit_profile(uuid, jsonb, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;
