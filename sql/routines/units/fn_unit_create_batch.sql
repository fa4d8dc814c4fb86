-- Many units in one transaction and one round trip, all or none: at most 10,000 objects {canonical_address, body, title?,
-- unit_kind?, language?, container_id?, source_ref?, profile?, position?}. Search learns of them one after the other.
-- p_actor: whom a back-end service acts for; others name nobody, or themselves.
create or replace function iu_core.fn_unit_create_batch(p_workspace_id uuid, p_units jsonb, p_actor text default null)
returns table (unit_id uuid, canonical_address text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_actor record;
  v_unknown text;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  perform iu_core.fn_unit_workspace_check(p_workspace_id);
  if jsonb_typeof(p_units) is distinct from 'array' or p_units @? '$[*] ? (@.type() != "object")' then
    raise exception using errcode = 'SD001', message = 'fn_unit_create_batch takes a JSON array of objects';
  end if;
  if jsonb_array_length(p_units) > 10000 then
    raise exception using errcode = 'SD001', message = format('A batch has at most 10000 units, this has %s', jsonb_array_length(p_units));
  end if;
  select k into v_unknown from jsonb_array_elements(p_units) e, jsonb_object_keys(e) k
   where k not in ('canonical_address', 'body', 'title', 'unit_kind', 'language', 'container_id', 'source_ref', 'profile', 'position')
   limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A unit of a batch has no field called %L', v_unknown);
  end if;
  return query select b.unit_id, b.canonical_address from iu_core.fn_unit_birth(p_workspace_id, p_units, v_actor.actor, v_actor.via) b;
end $$;

grant execute on function iu_core.fn_unit_create_batch(uuid, jsonb, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;
