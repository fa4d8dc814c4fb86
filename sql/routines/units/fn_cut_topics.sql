-- Topics that the manifest gives to pieces whose units are there and have them not. Those that a unit has stay. Internal.
create or replace function iu_core.fn_cut_topics(p_plan jsonb, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given jsonb;
begin
  if not p_plan @? '$[*].topics[0]' then
    return;
  end if;
  with changed as (
    update iu_core.information_unit u
       set content_profile = u.content_profile || jsonb_build_object('topic_labels', (
             select jsonb_agg(distinct l.label)
               from jsonb_array_elements_text(coalesce(u.content_profile -> 'topic_labels', '[]') || p.topics) as l (label)))
      from iu_core.fn_cut_planned(p_plan) p
     where p.topics <> '[]' and p.is_alive and p.what in ('unchanged', 'versioned') and u.unit_id = p.head_id
       and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
       and not coalesce(u.content_profile -> 'topic_labels', '[]') @> p.topics
    returning u.unit_id, u.canonical_address, u.workspace_id, p."position"
  )
  select jsonb_agg(jsonb_build_object(
           'event_domain', 'iu', 'event_type', 'unit_profile_changed', 'event_subject_ref', unit_id, 'canonical_address', canonical_address,
           'workspace_id', workspace_id, 'safe_payload', jsonb_build_object('unit_id', unit_id, 'keys', array['topic_labels']))
         order by "position") into v_given from changed;
  if v_given is not null then
    perform iu_core.fn_event_emit_batch(v_given);
  end if;
end $$;
