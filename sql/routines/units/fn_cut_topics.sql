-- Topics that the manifest gives to pieces whose units are there and have them not. Those that a unit has stay. Internal.
create or replace function iu_core.fn_cut_topics(p_plan jsonb, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_units uuid[];
  v_given jsonb;
begin
  if not p_plan @? '$[*].topics[0]' then
    return;
  end if;
  v_units := array(
    select p.head_id from iu_core.fn_cut_planned(p_plan) p
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
     where p.topics <> '[]' and p.is_alive and p.what in ('unchanged', 'versioned')
       and not coalesce(u.content_profile -> 'topic_labels', '[]') @> p.topics);
  -- Before their profiles are read: what somebody puts into one at this moment is not lost.
  perform from iu_core.information_unit u where u.unit_id = any (v_units) order by u.unit_id for no key update;
  with given as materialized (
    select u.unit_id, p."position", n.profile
      from iu_core.fn_cut_planned(p_plan) p
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
     cross join lateral (
       select u.content_profile || jsonb_build_object('topic_labels', jsonb_agg(distinct l.label)) as profile
         from jsonb_array_elements_text(coalesce(u.content_profile -> 'topic_labels', '[]') || p.topics) as l (label)) n
     cross join lateral iu_core.fn_unit_profile_check(n.profile)
     where p.head_id = any (v_units) and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
       and not coalesce(u.content_profile -> 'topic_labels', '[]') @> p.topics
  ), changed as (
    update iu_core.information_unit u
       set content_profile = g.profile
      from given g
     where u.unit_id = g.unit_id
    returning u.unit_id, u.canonical_address, u.workspace_id, g."position"
  )
  select jsonb_agg(jsonb_build_object(
           'event_domain', 'iu', 'event_type', 'unit_profile_changed', 'event_subject_ref', unit_id, 'canonical_address', canonical_address,
           'workspace_id', workspace_id, 'safe_payload', jsonb_build_object('unit_id', unit_id, 'keys', array['topic_labels']))
         order by "position") into v_given from changed;
  if v_given is not null then
    perform iu_core.fn_event_emit_batch(v_given);
  end if;
end $$;
