-- After the pieces of a container changed their order: numbers them without gaps and says what its text is now: how many
-- pieces, and the SHA-256 of their bodies joined by an empty line. A successor that is still a draft is not part of it: its
-- predecessor is. Of more than 64 MiB the hash is left out: nobody holds that much text in memory for a number. Back-end code
-- only; no event of its own, or it would set itself off.
create or replace function iu_core.fn_unit_recompose(p_container_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_order uuid[];
  v_versions uuid[];
  v_bytes bigint;
  v_hash text;
begin
  select workspace_id into v_workspace from iu_core.information_unit where unit_id = p_container_id;
  if not found then
    return jsonb_build_object('skipped', 'there is no such unit');
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  v_order := iu_core.fn_unit_children(p_container_id);
  perform iu_core.fn_unit_number(v_order);
  v_versions := array(
    select u.current_version_id
      from unnest(v_order) with ordinality as o (unit_id, number)
      join iu_core.information_unit u on u.unit_id = o.unit_id
     where not (u.lifecycle_status = 'draft'
                and exists (select from iu_core.information_unit p
                             where p.unit_id = u.supersedes and p.unit_id = any (v_order)))
     order by o.number);
  select coalesce(sum(octet_length(v.body)), 0) into v_bytes from iu_core.unit_version v where v.unit_version_id = any (v_versions);
  if v_bytes <= 64 * 1024 * 1024 then
    select encode(sha256(convert_to(coalesce(string_agg(v.body, E'\n\n' order by o.number), ''), 'UTF8')), 'hex') into v_hash
      from unnest(v_versions) with ordinality as o (unit_version_id, number)
      join iu_core.unit_version v on v.unit_version_id = o.unit_version_id;
  end if;
  return jsonb_build_object('container_id', p_container_id, 'pieces', cardinality(v_versions), 'bytes', v_bytes, 'content_hash', v_hash);
end $$;

grant execute on function iu_core.fn_unit_recompose(uuid) to dot_executor, service_role;
