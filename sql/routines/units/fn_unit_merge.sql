-- Two or more units of a workspace are retired, and one holds what they said (IU-VP-4): in the first one's container and place, with its
-- language, source, kind and profile, and with their topics; edges merged_from lead back to each. Without p_body their texts stand
-- one after the other, in the order of p_unit_ids. Of drafts comes a draft; of what is in force comes what is in force, under p_apr_ref.
-- p_expected_versions are the versions that were read, side by side with the units.
-- p_actor: the person whose decision a back-end service carries out; reviewers name nobody, or themselves.
create or replace function iu_core.fn_unit_merge(
  p_unit_ids uuid[],
  p_expected_versions integer[],
  p_canonical_address text,
  p_body text default null,
  p_title text default null,
  p_apr_ref text default null,
  p_reason text default null,
  p_actor text default null
) returns table (unit_id uuid, canonical_address text, unit_version_id uuid, content_hash text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_workspace uuid;
  v_actor record;
  u iu_core.information_unit;
  v_units iu_core.information_unit[] := '{}';
  v_first iu_core.unit_version;
  v_body text;
  v_topics jsonb;
  v_new record;
begin
  v_workspace := iu_core.fn_unit_require_member(p_unit_ids[1], 'review');
  v_actor := iu_core.fn_unit_decided_by(p_actor);
  perform iu_core.fn_unit_reason_check(p_reason);
  if cardinality(p_unit_ids) not between 2 and 1000 or cardinality(p_unit_ids) is distinct from cardinality(p_expected_versions)
     or array_position(p_unit_ids, null) is not null or array_position(p_expected_versions, null) is not null
     or (select count(distinct i) from unnest(p_unit_ids) as i) <> cardinality(p_unit_ids) then
    raise exception using errcode = 'SD001', message = 'A merge names 2 to 1000 different units, and of each the version that was read';
  end if;
  perform iu_core.fn_unit_tree_lock(v_workspace);
  perform from iu_core.information_unit x where x.unit_id = any (p_unit_ids) order by x.unit_id for no key update;
  for i in 1 .. cardinality(p_unit_ids) loop
    select * into u from iu_core.information_unit x where x.unit_id = p_unit_ids[i] and x.workspace_id = v_workspace;
    if not found then
      perform iu_core.fn_unit_refuse_unknown(p_unit_ids[i]);
    end if;
    if u.lifecycle_status not in ('draft', 'enacted') or u.deleted_at is not null then
      perform iu_core.fn_unit_refuse_transition(u, 'retired');
    end if;
    perform iu_core.fn_unit_expect_version(u, p_expected_versions[i]);
    v_units := v_units || u;
  end loop;
  select v.* into v_first from iu_core.unit_version v where v.unit_version_id = v_units[1].current_version_id;
  v_body := coalesce(p_body, (
    select string_agg(rtrim(v.body, E' \n\r\t'), E'\n\n' order by array_position(p_unit_ids, o.unit_id)) || E'\n'
      from unnest(v_units) as o join iu_core.unit_version v on v.unit_version_id = o.current_version_id));
  select jsonb_agg(distinct t) into v_topics
    from unnest(v_units) as o cross join lateral jsonb_array_elements(o.content_profile -> 'topic_labels') as t;
  select x.* into v_new from iu_core.fn_unit_exchange(
    v_workspace, v_units, jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
      'canonical_address', p_canonical_address, 'body', v_body, 'title', coalesce(p_title, v_units[1].title), 'unit_kind', v_units[1].unit_kind,
      'language', v_first.language, 'container_id', v_units[1].container_id, 'source_ref', v_units[1].source_ref,
      'position', v_units[1].position)) || jsonb_build_object('profile',
        v_units[1].content_profile || case when v_topics is null then '{}' else jsonb_build_object('topic_labels', v_topics) end)),
    'merged_from', p_apr_ref, coalesce(p_reason, 'merged'), v_actor.actor, v_actor.via) x;
  perform iu_core.fn_event_write('iu', 'unit_merged', v_new.unit_id::text, v_workspace, v_actor.actor, v_actor.via,
    jsonb_build_object('unit_id', v_new.unit_id, 'units', cardinality(p_unit_ids)), v_new.canonical_address);
  return query select v_new.unit_id, v_new.canonical_address, v_new.unit_version_id, v_new.content_hash;
end $$;

grant execute on function iu_core.fn_unit_merge(uuid[], integer[], text, text, text, text, text, text) to
  dot_executor, service_role, stagedoor_reviewer;
