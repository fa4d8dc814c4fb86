-- The unit of the whole document: at the first segment of all addresses, its body is the title. Born if it is not there, a new version
-- if the title changed and it is a draft. Returns it if pieces can be put into it. Internal.
create or replace function iu_core.fn_cut_root(p_workspace_id uuid, p_document jsonb, p_address text, p_actor text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.information_unit;
  v_title text := p_document ->> 'title';
  v_id uuid;
begin
  select * into u from iu_core.information_unit
   where workspace_id = p_workspace_id and canonical_address = p_address for no key update;
  if not found then
    select b.unit_id into v_id from iu_core.fn_unit_birth(p_workspace_id, jsonb_build_array(jsonb_build_object(
      'canonical_address', p_address, 'body', v_title, 'title', v_title, 'unit_kind', 'document',
      'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref')), p_actor) b;
    return v_id;
  end if;
  if u.deleted_at is not null or u.lifecycle_status in ('retired', 'superseded') then
    return null;
  end if;
  if u.lifecycle_status = 'draft' then
    perform iu_core.fn_unit_version_write(u, v_title, v_title, p_document ->> 'language', null);
  end if;
  return u.unit_id;
end $$;
