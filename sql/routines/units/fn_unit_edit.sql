-- Edits a draft: text, title or language; what is NULL stays. The editor names the version that the edit was made from; if
-- somebody was faster, nothing is written and both hashes are told. What changes nothing makes no version (changed = false).
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_edit(
  p_unit_id uuid,
  p_expected_version integer,
  p_body text default null,
  p_title text default null,
  p_note text default null,
  p_language text default null,
  p_actor text default null,
  out version_no integer,
  out unit_version_id uuid,
  out content_hash text,
  out changed boolean
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  u iu_core.information_unit;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  u := iu_core.fn_unit_editable(p_unit_id, p_expected_version);
  select * into version_no, unit_version_id, content_hash, changed
    from iu_core.fn_unit_version_write(u, p_body, p_title, p_language, p_note, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_edit(uuid, integer, text, text, text, text, text) to
  dot_executor, service_role, authenticated, stagedoor_reviewer;
