-- The checker: conformance of units, and drift from their document.

-- The checker: verifies the edges of these units again, then writes its result for each. Any finding but a drift from the
-- document makes a unit non-conforming. Back-end code only: an author does not judge their own units.
create or replace function iu_core.fn_unit_check(p_unit_ids uuid[])
returns table (unit_id uuid, conformance text, drift text, findings jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_unknown uuid;
begin
  if p_unit_ids is null or array_position(p_unit_ids, null) is not null or cardinality(p_unit_ids) > 10000 then
    raise exception using errcode = 'SD001', message = 'fn_unit_check takes the ids of at most 10000 units';
  end if;
  select i.id into v_unknown from unnest(p_unit_ids) as i (id)
   where not exists (select from iu_core.information_unit u where u.unit_id = i.id) limit 1;
  if found then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', v_unknown),
      detail = json_build_object('unit', v_unknown)::text;
  end if;
  perform iu_core.fn_unit_edges_verify(p_unit_ids);
  return query
    with found as materialized (
      select f.unit_id, f.version_no, f.findings,
             case when f.findings @? '$[*] ? (@.code != "drifted")' then 'deviates' else 'conforms' end as conformance,
             case when f.findings @> '[{"code": "drifted"}]' then 'drifted' else 'none' end as drift
        from iu_core.fn_unit_findings(p_unit_ids) f
    ), written as (
      insert into iu_core.unit_check as c (unit_id, conformance, drift, findings, checked_version_no, checked_by)
      select f.unit_id, f.conformance, f.drift, f.findings, f.version_no, iu_core.fn_actor() from found f order by f.unit_id
      on conflict (unit_id) do update
         set conformance = excluded.conformance, drift = excluded.drift, findings = excluded.findings,
             checked_version_no = excluded.checked_version_no, checked_by = excluded.checked_by, checked_at = clock_timestamp()
       -- A slow checker must not write a result for an older version.
       where c.checked_version_no <= excluded.checked_version_no
    )
    select f.unit_id, f.conformance, f.drift, f.findings from found f order by f.unit_id;
end $$;

grant execute on function iu_core.fn_unit_check(uuid[]) to dot_executor, service_role;

-- Verifies the edges of units again: an unverified edge whose target is a unit now becomes verified; a verified edge whose
-- target was deleted or retired becomes unverified. Internal: the first step of the checker.
create or replace function iu_core.fn_unit_edges_verify(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with looked_at as (
    select e.edge_id, nullif(iu_core.fn_unit_find(e.workspace_id, e.target_ref), e.from_unit_id) as to_unit_id
      from iu_core.universal_edges e
     where e.from_unit_id = any (p_unit_ids)
       and (e.edge_status = 'unverified'
            or exists (select from iu_core.information_unit t
                        where t.unit_id = e.to_unit_id and (t.deleted_at is not null or t.lifecycle_status = 'retired')))
     order by e.edge_id
       for update of e
  )
  update iu_core.universal_edges e
     set to_unit_id = l.to_unit_id, edge_status = case when l.to_unit_id is null then 'unverified' else 'verified' end
    from looked_at l
   where e.edge_id = l.edge_id and e.to_unit_id is distinct from l.to_unit_id;
end $$;

-- The findings of the checker about the current units: references only, one object for each finding. Internal.
create or replace function iu_core.fn_unit_findings(p_unit_ids uuid[])
returns table (unit_id uuid, version_no integer, findings jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select u.unit_id, u.version_no,
         (select coalesce(jsonb_agg(f.finding order by f.rank, f.finding), '[]')
            from (
              select 1 as rank, jsonb_build_object('code', 'edge_unverified', 'edge_id', e.edge_id, 'edge_type', e.edge_type,
                                                   'target_ref', e.target_ref) as finding
                from iu_core.universal_edges e
               where e.from_unit_id = u.unit_id and e.edge_status = 'unverified'
              union all
              select 2, jsonb_build_object('code', 'profile_incomplete', 'keys', jsonb_agg(k.key order by k.key))
                from iu_core.unit_kind d, unnest(d.required_profile) as k (key)
               where d.unit_kind = u.unit_kind and coalesce(u.content_profile -> k.key, 'null') = 'null'
              having count(*) > 0
              union all
              select 3, jsonb_build_object('code', 'topic_retired', 'topic', l.topic)
                from jsonb_array_elements_text(u.content_profile -> 'topic_labels') as l (topic)
               where not exists (select from iu_core.topic_vocabulary t
                                  where t.topic_label = l.topic and t.retired_at is null
                                    and (t.workspace_id is null or t.workspace_id = u.workspace_id))
              union all
              select 4, jsonb_build_object('code', 'container_gone', 'container_id', c.unit_id)
                from iu_core.information_unit c
               where c.unit_id = u.container_id and (c.deleted_at is not null or c.lifecycle_status = 'retired')
              union all
              -- The map of every unit that ever held a piece has the current hash of the piece (fn_cut_write_map).
              select 5, jsonb_build_object('code', 'drifted', 'document_id', m.document_id, 'source_ref', d.source_ref,
                                           'document_hash', case when not dropped.is_dropped then m.content_hash end)
                from iu_core.kb_unit_map m
                join iu_core.kb_document d on d.document_id = m.document_id
               cross join lateral (
                 -- A document of the old knowledge base that was removed there may have been cut since.
                 select m.dropped_at is not null
                        or d.deleted_at is not null
                           and not exists (select from iu_core.kb_document_cut c
                                            where c.document_id = d.document_id and c.cut_at > d.deleted_at) as is_dropped) as dropped
               where m.unit_id = u.unit_id and u.lifecycle_status in ('draft', 'enacted')
                 and (dropped.is_dropped or m.content_hash <> u.content_hash)
            ) as f)
    from iu_core.information_unit u
   where u.unit_id = any (p_unit_ids)
$$;

-- Units that the checker should check, longest waiting first: never checked, changed since, or with an unverified edge. Deleted
-- units are left out until they are restored. Back-end code only; NULL: in every workspace.
create or replace function iu_core.fn_unit_check_due(p_workspace_id uuid, p_limit integer default 1000) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception using errcode = 'SD001', message = 'The checker takes between 1 and 10000 units at a time';
  end if;
  perform iu_core.fn_require_workspace(p_workspace_id);
  return array(
    select u.unit_id
      from iu_core.information_unit u
      left join iu_core.unit_check c on c.unit_id = u.unit_id
     where (p_workspace_id is null or u.workspace_id = p_workspace_id)
       and u.deleted_at is null
       and (c.unit_id is null or c.checked_version_no < u.version_no or c.checked_at < u.changed_at
            or exists (select from iu_core.universal_edges e where e.from_unit_id = u.unit_id and e.edge_status = 'unverified'))
     order by c.checked_at nulls first, u.unit_id
     limit p_limit);
end $$;

grant execute on function iu_core.fn_unit_check_due(uuid, integer) to dot_executor, service_role;

-- After a unit was retired: checks every unit with an edge to it again, by its address or by its id. Back-end code only.
create or replace function iu_core.fn_unit_axis_refresh(p_unit_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before uuid := '00000000-0000-0000-0000-000000000000';
  v_units uuid[];
  v_checked integer := 0;
begin
  if not exists (select from iu_core.information_unit where unit_id = p_unit_id) then
    return jsonb_build_object('skipped', 'there is no such unit');
  end if;
  -- fn_unit_check takes no more at once. Those it has unverified no longer lead here, so none comes twice.
  loop
    v_units := array(select distinct e.from_unit_id from iu_core.universal_edges e
                      where e.to_unit_id = p_unit_id and e.from_unit_id > v_before order by 1 limit 10000);
    exit when v_units = '{}';
    perform from iu_core.fn_unit_check(v_units);
    v_checked := v_checked + cardinality(v_units);
    v_before := v_units[cardinality(v_units)];
  end loop;
  return jsonb_build_object('checked', v_checked);
end $$;

grant execute on function iu_core.fn_unit_axis_refresh(uuid) to dot_executor, service_role;

-- After a command run, which may have created the targets of edges: checks units with an unverified edge whose target exists
-- now, and units with such an edge that were never checked. Units whose edges still have no target were reported before.
-- Back-end code only.
create or replace function iu_core.fn_unit_link_refresh(p_workspace_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
begin
  if p_workspace_id is null then
    return jsonb_build_object('skipped', 'units belong to a workspace, the run to none');
  end if;
  v_units := array(
    select distinct e.from_unit_id
      from iu_core.universal_edges e
     where e.workspace_id = p_workspace_id and e.edge_status = 'unverified'
       -- In one join each, not by fn_unit_find: most unverified edges lead out of here for good, and each run asks again.
       and (exists (select from iu_core.information_unit u
                     where u.workspace_id = e.workspace_id and u.canonical_address = e.target_ref
                       and u.deleted_at is null and u.lifecycle_status <> 'retired')
            or exists (select from iu_core.information_unit u
                        where u.unit_id = case when e.target_ref ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then e.target_ref::uuid end
                          and u.workspace_id = e.workspace_id and u.deleted_at is null and u.lifecycle_status <> 'retired')
            or not exists (select from iu_core.unit_check c where c.unit_id = e.from_unit_id))
     order by 1 limit 10000);
  perform from iu_core.fn_unit_check(v_units);
  return jsonb_build_object(
    'checked', cardinality(v_units),
    'unverified', (select count(*) from iu_core.universal_edges e
                    where e.workspace_id = p_workspace_id and e.edge_status = 'unverified'));
end $$;

grant execute on function iu_core.fn_unit_link_refresh(uuid) to dot_executor, service_role;

-- Only fn_unit_check, which back-end code calls, writes the checker's results; the owner of the table cannot. A superuser is a
-- member of every role and can: a superuser can also disable this trigger.
create or replace function iu_core.fn_unit_check_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role name := iu_core.fn_caller_role();
begin
  if tg_op in ('INSERT', 'UPDATE') and (pg_has_role(v_role, 'dot_executor', 'USAGE') or pg_has_role(v_role, 'service_role', 'USAGE')) then
    return null;
  end if;
  raise exception using
    errcode = '42501',
    message = format('%s of iu_core.unit_check is not allowed: only the checker writes it', lower(tg_op)),
    hint = 'iu_core.fn_unit_check checks units, as dot_executor.';
end $$;

-- Before each statement, not each row: who writes is the same for all of them.
create or replace trigger unit_check_is_written_by_checker
  before insert or update or delete or truncate on iu_core.unit_check
  for each statement execute function iu_core.fn_unit_check_guard();
