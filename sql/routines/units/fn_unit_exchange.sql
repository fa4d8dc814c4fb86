-- Units of a workspace are retired, and new ones come in their place, connected with each of them by an edge of p_edge_type: what a
-- split and a merge have in common. Of drafts come drafts; what was in force is replaced by what is in force from the same moment, under
-- the approval that is named. Internal: the caller holds the tree, and has checked who acts.
create or replace function iu_core.fn_unit_exchange(
  p_workspace_id uuid,
  p_old iu_core.information_unit[],
  p_new jsonb,
  p_edge_type text,
  p_apr_ref text,
  p_reason text,
  p_actor text,
  p_via text
) returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old uuid[] := array(select o.unit_id from unnest(p_old) as o order by o.unit_id);
  v_status text := p_old[1].lifecycle_status;
  v_new uuid[];
  v_unit record;
begin
  if exists (select from unnest(p_old) as o where o.lifecycle_status <> v_status) then
    raise exception using errcode = 'SD920', message = 'Drafts and what is in force do not become one unit',
      detail = '{"reason": "drafts and what is in force do not become one unit"}';
  end if;
  select o.canonical_address into v_unit from unnest(p_old) as o where cardinality(iu_core.fn_unit_children(o.unit_id)) > 0 limit 1;
  if found then
    raise exception using errcode = 'SD920', message = format('Other units are inside of %s', v_unit.canonical_address),
      detail = json_build_object('reason', format('other units are inside of %s; move them first', v_unit.canonical_address))::text;
  end if;
  if v_status = 'enacted' then
    perform iu_core.fn_unit_apr_ref_check(p_apr_ref);
  elsif p_apr_ref is not null then
    raise exception using errcode = 'SD920', message = 'What becomes of drafts are drafts: an approval is named where they are enacted',
      detail = '{"reason": "what becomes of drafts are drafts, and an approval is named where those are enacted"}';
  end if;
  v_new := array(select b.unit_id from iu_core.fn_unit_birth(p_workspace_id, p_new, p_actor, p_via) b);
  if v_status = 'enacted' then
    update iu_core.information_unit u set lifecycle_status = 'enacted', apr_ref = p_apr_ref where u.unit_id = any (v_new);
    perform iu_core.fn_unit_lifecycle_log(v_new, 'draft', 'enacted', p_actor, p_via, p_apr_ref);
  end if;
  update iu_core.information_unit u set lifecycle_status = 'retired' where u.unit_id = any (v_old);
  perform iu_core.fn_vector_enqueue(v_old, 'patch');
  perform iu_core.fn_unit_lifecycle_log(v_old, v_status, 'retired', p_actor, p_via, p_reason => p_reason);
  insert into iu_core.universal_edges (workspace_id, from_unit_id, edge_type, target_ref, to_unit_id, edge_status, created_by, created_via)
  select p_workspace_id, n.id, p_edge_type, o.id::text, o.id, 'verified', p_actor, p_via
    from unnest(v_new) as n (id) cross join unnest(v_old) as o (id) order by n.id, o.id;
  return query
    select u.unit_id, u.canonical_address, u.current_version_id, u.content_hash
      from unnest(v_new) with ordinality as g (id, n) join iu_core.information_unit u on u.unit_id = g.id order by g.n;
end $$;
