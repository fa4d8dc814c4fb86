-- Replaces a slice of a draft's text: characters from p_from up to, but not with, p_to, counted from 0. An empty slice inserts,
-- an empty text takes out. Otherwise like fn_unit_edit.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_slice_edit(
  p_unit_id uuid,
  p_expected_version integer,
  p_from integer,
  p_to integer,
  p_text text,
  p_note text default null,
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
  v_body text;
begin
  perform iu_core.fn_unit_require_member(p_unit_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  if num_nulls(p_from, p_to, p_text) > 0 then
    raise exception using errcode = 'SD001', message = 'A slice edit needs from, to and a text, which may be empty';
  end if;
  u := iu_core.fn_unit_editable(p_unit_id, p_expected_version);
  select body into v_body from iu_core.unit_version v where v.unit_version_id = u.current_version_id;
  if p_from < 0 or p_to < p_from or p_to > length(v_body) then
    raise exception using
      errcode = 'SD906',
      message = format('The slice from %s to %s is not within the text, which has %s characters', p_from, p_to, length(v_body)),
      detail = json_build_object('from', p_from, 'to', p_to, 'length', length(v_body))::text;
  end if;
  select * into version_no, unit_version_id, content_hash, changed
    from iu_core.fn_unit_version_write(u, left(v_body, p_from) || p_text || substr(v_body, p_to + 1), null, null, p_note, v_actor.actor, v_actor.via);
end $$;

grant execute on function iu_core.fn_unit_slice_edit(uuid, integer, integer, integer, text, text, text) to
  dot_executor, service_role, authenticated, stagedoor_reviewer;
