-- The next versions of the drafts whose pieces changed, or whose titles did, as fn_unit_version_write makes one. Internal: the units are locked.
create or replace function iu_core.fn_cut_versions(p_document jsonb, p_source bytea, p_plan jsonb, p_run_id uuid, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_cause record := iu_core.fn_event_cause();
  v_ids uuid[] := array(select p.head_id from iu_core.fn_cut_planned(p_plan) p where p.what = 'versioned' order by p."position");
begin
  if v_ids = '{}' then
    return;
  end if;
  insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, language, body, content_hash, note, edited_by)
  select u.unit_id, u.version_no + 1, u.unit_kind, p.title, p_document ->> 'language',
         case when p.keeps_body then v.body else convert_from(substr(p_source, p."from" + 1, p."to" - p."from"), 'UTF8') end,
         '', 'cut ' || p_run_id, p_actor
    from iu_core.fn_cut_planned(p_plan) p
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
   cross join lateral (select x.body from iu_core.unit_version x where x.unit_version_id = u.current_version_id offset 0) v
   where p.what = 'versioned';
  update iu_core.information_unit u
     set current_version_id = v.unit_version_id, version_no = v.version_no, content_hash = v.content_hash, title = v.title
    from unnest(v_ids) as g (unit_id)
    join iu_core.information_unit o on o.unit_id = g.unit_id
    join iu_core.unit_version v on v.unit_id = o.unit_id and v.version_no = o.version_no + 1
   where u.unit_id = g.unit_id;
  perform iu_core.fn_vector_enqueue(
    array(select p.head_id from iu_core.fn_cut_planned(p_plan) p where p.what = 'versioned' and not p.keeps_body order by p."position"),
    'upsert');
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id,
    causation_depth, actor, safe_payload)
  select e.id, 'iu', 'unit_versioned', u.unit_id::text, u.canonical_address, u.workspace_id, coalesce(v_cause.correlation_id, e.id),
         v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, jsonb_build_object(
           'unit_id', u.unit_id, 'unit_version_id', u.current_version_id, 'version_no', u.version_no, 'content_hash', u.content_hash,
           'previous_hash', p.unit_hash)
    from iu_core.fn_cut_planned(p_plan) p
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
   cross join lateral (select iu_core.fn_time_uuid() as id where p.head_id is not null offset 0) e
   where p.what = 'versioned'
   order by p."position";
end $$;
