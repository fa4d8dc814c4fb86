-- Actors: the subject of the token, or the actor that back-end code names.

-- Checks an actor that a caller names: it must be the one who acts. Only service_role may name another actor, and then `via` is
-- the login that really acts. For a machine token `via` is the person who created it: both count as one party under the four-eyes rule.
create or replace function iu_core.fn_actor_for(p_named text, out actor text, out via text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := iu_core.fn_actor();
begin
  if length(p_named) > 255 or p_named ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'SD001', message = 'The name of an actor has at most 255 characters and no control characters';
  end if;
  if p_named is null or p_named = v_actor then
    actor := v_actor;
    if starts_with(v_actor, 'token:') then
      via := iu_core.fn_my_token_creator();
    end if;
  elsif btrim(p_named) <> '' and pg_has_role(iu_core.fn_caller_role(), 'service_role', 'USAGE') then
    actor := p_named;
    via := v_actor;
  else
    raise exception using
      errcode = 'SD203',
      message = format('%s cannot act as %L', v_actor, p_named),
      detail = json_build_object('actor', v_actor, 'named', p_named)::text;
  end if;
end $$;

grant execute on function iu_core.fn_actor_for(text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;
