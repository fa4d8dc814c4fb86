-- The cut: an approved manifest becomes units, in one transaction. cut-plan.sql says what it does with each piece.

-- Cuts a document into units according to the approved manifest: consumes the record, writes the document, its units and the
-- map of pieces, in one transaction and one run. p_manifest_digest is the digest of the part manifest, or that of the record.
-- p_source is the document, if the record contains only the manifest; its hash must be the approved one. If a changed document
-- is cut again, only changes are written: a draft gets a version; an enacted unit gets a new draft (<address>~2, ~3, …)
-- that supersedes it; the unit of a removed piece is retired if it is a draft, else kept. Edits, moves and reorderings by
-- people stay where the document's piece did not change. Returns {run_id, document_id, created, versioned, successors, retired,
-- kept, unchanged, units: [{unit_id, canonical_address, what, replaced_version?, moved_from?, moved_to?, replaced_place?}],
-- kinds_kept?, orders_replaced?, legacy_kept?, left_out?}. The numbers count pieces; units are the changed ones, with the
-- document's own unit if its title changed. replaced_version: an edit by people since the last cut that the document's text
-- replaced. moved_from, moved_to: addresses of containers, absent for none; replaced_place: people had moved it there.
-- kinds_kept: addresses of units that the manifest calls another kind; only fn_unit_change_kind changes a kind (U3).
-- orders_replaced: containers whose order people had made and the document changed. legacy_kept: true if the document belongs
-- to the old knowledge base, whose own text stays. left_out {bytes, parts: [{from, to, first_line, last_line}]}: text of the
-- document that is in no piece.
create or replace function iu_core.dot_iu_cut_from_manifest(
  p_staging_record_id uuid,
  p_manifest_digest text,
  p_source text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid := iu_core.fn_iu_staging_workspace(p_staging_record_id);
  v_actor text := iu_core.fn_actor();
  v_run_id uuid;
  v_manifest jsonb;
  v_digest text;
  v_source text;
  v_bytes bytea;
  v_document_id uuid;
  v_is_legacy boolean;
  v_root text;
  v_unit record;
  v_plan jsonb;
  v_changed jsonb;
  v_removed jsonb;
  v_places jsonb;
  v_more jsonb;
  v_counts jsonb;
  v_execution text := current_setting('stagedoor.execution', true);
begin
  perform iu_core.require_member(v_workspace, 'operate');
  if p_manifest_digest is null then
    raise exception using errcode = 'SD001', message = 'A cut needs the digest of the approved manifest';
  end if;
  if not exists (select from iu_core.iu_staging_record
                  where staging_record_id = p_staging_record_id and (staging_kind, payload_type) = ('mark_manifest', 'manifest_json')) then
    raise exception using
      errcode = 'SD909',
      message = format('Record %s is a %s, not the marking of a document', p_staging_record_id,
                       (select staging_kind from iu_core.iu_staging_record where staging_record_id = p_staging_record_id)),
      detail = '{"reason": "the record is not the marking of a document"}';
  end if;
  perform iu_core.fn_unit_workspace_check(v_workspace);
  select r.content_hash into v_digest from iu_core.iu_staging_record r
   where r.staging_record_id = p_staging_record_id and r.part_digests @> jsonb_build_array(jsonb_build_object(
     'part_index', 0, 'part_name', 'manifest', 'content_hash', p_manifest_digest));
  v_run_id := iu_core.fn_command_run_start('dot_iu_cut_from_manifest', p_manifest_digest, v_workspace);
  perform iu_core.fn_iu_staging_consume(p_staging_record_id, v_run_id, coalesce(v_digest, p_manifest_digest));
  -- Everything written from here on was approved, whatever else the execution has read (fn_execution_refuse_unapproved).
  perform set_config('stagedoor.execution', '', true);
  select payload_json into v_manifest from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (0, 'manifest');
  select payload_text into v_source from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (1, 'source');
  v_source := coalesce(v_source, p_source, iu_core.fn_mark_find_source(v_workspace, v_manifest));
  if v_source is null then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: its document is missing',
      hint = 'The record contains only the manifest: give the document to the cut (p_source; stagedoor cut --source FILE).',
      detail = '{"reason": "its document is missing; give it to the cut"}';
  end if;
  -- From here on one cut at a time in a workspace: addresses and containers do not change.
  perform iu_core.fn_unit_tree_lock(v_workspace);
  -- The reviewer approved the changes of that time. A cut since then would be reverted without a review.
  if exists (select from iu_core.kb_document d
               left join iu_core.kb_document_cut c on c.document_id = d.document_id
               join iu_core.iu_staging_record r on r.approved_at < case d.origin when 'cut' then d.updated_at else c.cut_at end
              where r.staging_record_id = p_staging_record_id and d.workspace_id = v_workspace
                and d.source_ref = v_manifest -> 'document' ->> 'source_ref') then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: the document was cut again after this was approved',
      hint = 'Mark the current document, and have that approved.',
      detail = '{"reason": "the document was cut again after this was approved; mark it as it is now"}';
  end if;
  perform iu_core.fn_mark_manifest_require(v_manifest, v_source, v_workspace);
  v_bytes := convert_to(v_source, 'UTF8');
  v_root := split_part(v_manifest -> 'pieces' -> 0 ->> 'address', '/', 1);
  v_unit := iu_core.fn_cut_root_unit(v_workspace, v_manifest -> 'document', v_root, v_actor);
  select c.document_id, c.is_legacy into v_document_id, v_is_legacy
    from iu_core.fn_cut_write_document(v_workspace, v_manifest -> 'document', v_source, v_actor) c;
  loop
    v_plan := iu_core.fn_cut_plan(v_workspace, v_document_id, v_unit.unit_id, v_manifest -> 'pieces');
    v_changed := jsonb_path_query_array(v_plan, '$[*] ? (@.what != "unchanged")');
    exit when iu_core.fn_cut_lock(v_changed);
  end loop;
  v_removed := iu_core.fn_cut_retire_removed(v_document_id, v_plan, v_run_id, v_actor);
  perform iu_core.fn_cut_create_units(v_workspace, v_manifest -> 'document', v_bytes, v_changed, v_actor);
  perform iu_core.fn_cut_write_versions(v_manifest -> 'document', v_bytes, v_changed, v_run_id, v_actor);
  perform iu_core.fn_cut_write_map(v_document_id, v_plan, v_changed, v_run_id);
  perform iu_core.fn_cut_add_topics(v_plan, v_actor);
  v_places := iu_core.fn_cut_place_units(v_workspace, v_document_id, v_plan);

  select jsonb_build_object(
           'created', count(*) filter (where what = 'created'), 'versioned', count(*) filter (where what = 'versioned'),
           'successors', count(*) filter (where what = 'successor'), 'retired', jsonb_array_length(v_removed -> 'units'),
           'kept', v_removed -> 'kept', 'unchanged', jsonb_array_length(v_plan) - count(*)) into v_counts
    from iu_core.fn_cut_plan_rows(v_changed);
  perform iu_core.fn_event_emit(
    'iu', 'unit_cut', p_event_subject_ref => v_document_id::text, p_canonical_address => v_root, p_workspace_id => v_workspace,
    p_safe_payload => v_counts || jsonb_build_object('document_id', v_document_id, 'run_id', v_run_id));
  perform iu_core.fn_command_run_finish(v_run_id);
  perform set_config('stagedoor.execution', coalesce(v_execution, ''), true);
  v_more := jsonb_strip_nulls(jsonb_build_object(
    'orders_replaced', nullif(v_places -> 'orders_replaced', '[]'),
    'legacy_kept', nullif(v_is_legacy, false),
    'left_out', iu_core.fn_mark_left_out(v_bytes, v_manifest -> 'pieces')));
  return v_counts || coalesce(iu_core.fn_cut_kept_kinds(v_plan), '{}') || v_more || jsonb_build_object(
    'run_id', v_run_id, 'document_id', v_document_id,
    'units', iu_core.fn_cut_changed_units(v_changed, v_removed, v_places -> 'moves', case when v_unit.is_versioned then v_unit.unit_id end));
end $$;

grant execute on function iu_core.dot_iu_cut_from_manifest(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- The document of a manifest, if we have it: as it was cut last, or from the old knowledge base. Found by its hash, so it is
-- exactly that text. Internal.
create or replace function iu_core.fn_mark_find_source(p_workspace_id uuid, p_manifest jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.body
    from iu_core.kb_document d
    left join iu_core.kb_document_cut c on c.document_id = d.document_id
   cross join lateral (values (d.body, d.content_hash), (c.body, c.content_hash)) as s (body, content_hash)
   where d.workspace_id = p_workspace_id and d.source_ref = p_manifest -> 'document' ->> 'source_ref'
     and s.content_hash = p_manifest -> 'document' ->> 'content_hash'
   limit 1
$$;

-- The unit of the whole document, at the first segment of all addresses; its body is the title. Created if missing; a draft
-- gets a new version if the document's title or language changed, and keeps its text otherwise. If people superseded it, its
-- successor. unit_id is NULL if no unit can be put into it. Internal: before fn_cut_write_document.
create or replace function iu_core.fn_cut_root_unit(
  p_workspace_id uuid,
  p_document jsonb,
  p_address text,
  p_actor text,
  out unit_id uuid,
  out is_versioned boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  u iu_core.information_unit;
  v_title text := p_document ->> 'title';
begin
  is_versioned := false;
  select * into u from iu_core.information_unit
   where workspace_id = p_workspace_id and canonical_address = p_address for no key update;
  if not found then
    select b.unit_id into unit_id from iu_core.fn_unit_create_rows(p_workspace_id, jsonb_build_array(jsonb_build_object(
      'canonical_address', p_address, 'body', v_title, 'title', v_title, 'unit_kind', 'document',
      'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref')), p_actor) b;
    return;
  end if;
  while u.lifecycle_status = 'superseded' and u.deleted_at is null loop
    select * into u from iu_core.information_unit x where x.unit_id = u.superseded_by for no key update;
  end loop;
  if u.deleted_at is not null or u.lifecycle_status = 'retired' then
    return;
  end if;
  unit_id := u.unit_id;
  if u.lifecycle_status = 'draft'
     and exists (select from iu_core.kb_document d
                   left join iu_core.kb_document_cut c on c.document_id = d.document_id and d.origin = 'knowledge_base'
                  where d.workspace_id = p_workspace_id and d.source_ref = p_document ->> 'source_ref'
                    and (coalesce(c.title, d.title), coalesce(c.language, d.language)) is distinct from (v_title, p_document ->> 'language')) then
    select w.changed into is_versioned
      from iu_core.fn_unit_version_write(u, v_title, v_title, p_document ->> 'language', null, p_actor) w;
  end if;
end $$;

-- Creates, updates or restores the document that is cut. A document of the old knowledge base is not changed: the text of the
-- cut is stored in kb_document_cut. Internal: under fn_unit_tree_lock.
create or replace function iu_core.fn_cut_write_document(
  p_workspace_id uuid,
  p_document jsonb,
  p_source text,
  p_actor text,
  out document_id uuid,
  out is_legacy boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into iu_core.kb_document as d (workspace_id, source_ref, title, language, body, content_hash, updated_by)
  values (p_workspace_id, p_document ->> 'source_ref', p_document ->> 'title', p_document ->> 'language', p_source,
          p_document ->> 'content_hash', p_actor)
  on conflict (workspace_id, source_ref) do update
     set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
         updated_by = excluded.updated_by, updated_at = clock_timestamp(), deleted_at = null
   where d.origin = 'cut'
     and (d.title, d.language, d.content_hash, d.deleted_at) is distinct from (excluded.title, excluded.language, excluded.content_hash, null);
  select d.document_id, d.origin = 'knowledge_base' into document_id, is_legacy from iu_core.kb_document d
   where d.workspace_id = p_workspace_id and d.source_ref = p_document ->> 'source_ref';
  if is_legacy then
    insert into iu_core.kb_document_cut as c (document_id, title, language, body, content_hash, cut_by)
    values (document_id, p_document ->> 'title', p_document ->> 'language', p_source, p_document ->> 'content_hash', p_actor)
    on conflict (document_id) do update
       set title = excluded.title, language = excluded.language, body = excluded.body, content_hash = excluded.content_hash,
           cut_by = excluded.cut_by, cut_at = clock_timestamp();
  end if;
end $$;

-- Locks the units that a plan changes, and returns whether they are still as planned. If not, the cut is planned again; the
-- locks, also that of the tree, are kept, so that this ends. Internal.
create or replace function iu_core.fn_cut_lock(p_plan jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed boolean;
begin
  with locked as (
    select u.unit_id, u.version_no, u.lifecycle_status, u.deleted_at
      from iu_core.information_unit u
     where u.unit_id = any (array(select p.head_id from iu_core.fn_cut_plan_rows(p_plan) p where p.what in ('versioned', 'successor')))
     order by u.unit_id
       for no key update
  )
  select exists (
    select from iu_core.fn_cut_plan_rows(p_plan) p join locked l on l.unit_id = p.head_id
     where (l.version_no, l.lifecycle_status, l.deleted_at is null and l.lifecycle_status in ('draft', 'enacted'))
       is distinct from (p.version_no, p.lifecycle_status, p.is_alive)) into v_changed;
  return not v_changed;
end $$;

-- Handles pieces that the manifest no longer has, because the document lost them or somebody left them out: drafts are retired,
-- enacted units stay, and the map records since when. Returns {"units": [ids of retired units], "kept": number of pieces that
-- stay}. Internal.
create or replace function iu_core.fn_cut_retire_removed(p_document_id uuid, p_plan jsonb, p_run_id uuid, p_actor text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_removed text[];
  v_units uuid[];
  v_retired uuid[];
  v_kept integer;
begin
  v_removed := array(
    select m.piece_address from iu_core.kb_unit_map m where m.document_id = p_document_id and m.dropped_at is null
    except
    select p.address from iu_core.fn_cut_plan_rows(p_plan) p);
  if v_removed = '{}' then
    return '{"units": [], "kept": 0}';
  end if;
  v_units := array(
    select m.unit_id from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.piece_address = any (v_removed) order by m.position, m.unit_id);
  perform from iu_core.information_unit u where u.unit_id = any (v_units) order by u.unit_id for no key update;
  v_retired := array(
    select g.unit_id from unnest(v_units) with ordinality as g (unit_id, number)
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) u
     where u.lifecycle_status = 'draft' and u.deleted_at is null
     order by g.number);
  if v_retired <> '{}' then
    update iu_core.information_unit u set lifecycle_status = 'retired' where u.unit_id = any (v_retired);
    perform iu_core.fn_vector_enqueue(v_retired, 'patch');
    perform iu_core.fn_unit_lifecycle_log(v_retired, 'draft', 'retired', p_actor,
                                          p_reason => 'no longer a piece of the document', p_change_set_id => p_run_id);
  end if;
  select count(distinct m.piece_address) into v_kept
    from iu_core.kb_unit_map m
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id offset 0) u
   where m.document_id = p_document_id and m.piece_address = any (v_removed)
     and u.lifecycle_status = 'enacted' and u.deleted_at is null;
  update iu_core.kb_unit_map set dropped_at = clock_timestamp(), cut_run_id = p_run_id
   where document_id = p_document_id and piece_address = any (v_removed) and dropped_at is null;
  return jsonb_build_object('units', v_retired, 'kept', v_kept);
end $$;

-- Creates the units of a plan that do not exist yet: new pieces, and successor drafts of units that cannot be edited. Internal.
create or replace function iu_core.fn_cut_create_units(
  p_workspace_id uuid,
  p_document jsonb,
  p_source bytea,
  p_plan jsonb,
  p_actor text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  perform from iu_core.fn_unit_create_rows(p_workspace_id, (
    select coalesce(jsonb_agg(jsonb_build_object(
             'unit_id', p.unit_id, 'canonical_address', p.unit_address, 'unit_kind', p.kind, 'title', p.title,
             'body', convert_from(substr(p_source, p."from" + 1, p."to" - p."from"), 'UTF8'),
             'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref',
             'container_id', p.container_id, 'position', p.number,
             'profile', case when p.topics = '[]' then '{}' else jsonb_build_object('topic_labels', p.topics) end,
             'supersedes', p.replaces_id) order by p."position"), '[]')
      from iu_core.fn_cut_plan_rows(p_plan) p
     where p.what in ('created', 'successor')), p_actor);
end $$;

-- Writes the next versions of drafts whose piece or title changed, as fn_unit_version_write does. Internal: the units are
-- locked.
create or replace function iu_core.fn_cut_write_versions(p_document jsonb, p_source bytea, p_plan jsonb, p_run_id uuid, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_cause record := iu_core.fn_event_cause();
  v_ids uuid[] := array(select p.head_id from iu_core.fn_cut_plan_rows(p_plan) p where p.what = 'versioned' order by p."position");
begin
  if v_ids = '{}' then
    return;
  end if;
  insert into iu_core.unit_version (unit_id, version_no, unit_kind, title, language, body, content_hash, note, edited_by)
  select u.unit_id, u.version_no + 1, u.unit_kind, p.title, p_document ->> 'language',
         case when p.keeps_body then v.body else convert_from(substr(p_source, p."from" + 1, p."to" - p."from"), 'UTF8') end,
         '', 'cut ' || p_run_id, p_actor
    from iu_core.fn_cut_plan_rows(p_plan) p
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
    array(select p.head_id from iu_core.fn_cut_plan_rows(p_plan) p where p.what = 'versioned' and not p.keeps_body order by p."position"),
    'upsert');
  insert into iu_core.event_outbox (
    id, event_domain, event_type, event_subject_ref, canonical_address, workspace_id, correlation_id, causation_event_id,
    causation_depth, actor, safe_payload)
  select e.id, 'iu', 'unit_versioned', u.unit_id::text, u.canonical_address, u.workspace_id, coalesce(v_cause.correlation_id, e.id),
         v_cause.event_id, coalesce(v_cause.depth + 1, 0), p_actor, jsonb_build_object(
           'unit_id', u.unit_id, 'unit_version_id', u.current_version_id, 'version_no', u.version_no, 'content_hash', u.content_hash,
           'previous_hash', p.unit_hash)
    from iu_core.fn_cut_plan_rows(p_plan) p
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
   cross join lateral (select iu_core.fn_time_uuid() as id where p.head_id is not null offset 0) e
   where p.what = 'versioned'
   order by p."position";
end $$;

-- Writes which unit holds which piece after the cut. All units that ever held a piece get its current hash, so that the checker
-- sees which of them have drifted. p_changed: the plan without unchanged pieces. Internal.
create or replace function iu_core.fn_cut_write_map(p_document_id uuid, p_plan jsonb, p_changed jsonb, p_run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
begin
  insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, parent_address, position, title, content_hash, cut_run_id)
  select p_document_id, p.unit_id, p.address, coalesce(p.parent, ''), p."position", p.title, p.hash, p_run_id
    from iu_core.fn_cut_plan_rows(p_changed) p
  on conflict (document_id, unit_id) do update set cut_run_id = excluded.cut_run_id;
  update iu_core.kb_unit_map m
     set parent_address = coalesce(p.parent, ''), position = p."position", title = p.title, content_hash = p.hash, dropped_at = null
    from iu_core.fn_cut_plan_rows(p_plan) p
   where m.document_id = p_document_id and m.piece_address = p.address
     and (m.parent_address, m.position, m.title, m.content_hash, m.dropped_at)
         is distinct from (coalesce(p.parent, ''), p."position", p.title, p.hash, null);
end $$;

-- Adds the topics of the manifest to units that lack them. Existing topics stay. Internal.
create or replace function iu_core.fn_cut_add_topics(p_plan jsonb, p_actor text) returns void
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
    select p.head_id from iu_core.fn_cut_plan_rows(p_plan) p
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = p.head_id offset 0) u
     where p.topics <> '[]' and p.is_alive and p.what in ('unchanged', 'versioned')
       and not coalesce(u.content_profile -> 'topic_labels', '[]') @> p.topics);
  -- Locked before their profiles are read, so that no concurrent change is lost.
  perform from iu_core.information_unit u where u.unit_id = any (v_units) order by u.unit_id for no key update;
  with given as materialized (
    select u.unit_id, p."position", n.profile
      from iu_core.fn_cut_plan_rows(p_plan) p
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

-- Puts the units into the containers and the order of the manifest (fn_cut_move_units, fn_cut_plan_order). Moves and orders by
-- people stay until the document itself moves the piece. Units that people put between pieces stay after the piece that they
-- follow. One piece.piece_reordered for each container in which existing units changed places. Returns {moves, orders_replaced:
-- [addresses of containers whose order people had made]}. Internal: under fn_unit_tree_lock, after the units were created.
create or replace function iu_core.fn_cut_place_units(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_moves jsonb := iu_core.fn_cut_move_units(p_workspace_id, p_document_id, p_plan);
  v_order jsonb;
  v_events jsonb;
  v_replaced jsonb;
begin
  v_order := iu_core.fn_cut_plan_order(p_document_id, p_plan, array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_moves) m));
  perform iu_core.fn_unit_renumber(array(select value::uuid from jsonb_array_elements_text(o -> 'units'))) from jsonb_array_elements(v_order) o;
  select jsonb_agg(jsonb_build_object(
           'event_domain', 'piece', 'event_type', 'piece_reordered', 'event_subject_ref', u.unit_id, 'canonical_address', u.canonical_address,
           'workspace_id', p_workspace_id,
           'safe_payload', jsonb_build_object('unit_id', u.unit_id, 'pieces', jsonb_array_length(o -> 'units')))
         order by u.canonical_address),
         coalesce(jsonb_agg(u.canonical_address order by u.canonical_address) filter (where (o ->> 'by_hand')::boolean), '[]')
    into v_events, v_replaced
    from jsonb_array_elements(v_order) o
   cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = (o ->> 'container_id')::uuid offset 0) u
   where (o ->> 'is_reordered')::boolean;
  if v_events is not null then
    perform iu_core.fn_event_emit_batch(v_events);
  end if;
  return jsonb_build_object('moves', v_moves, 'orders_replaced', v_replaced);
end $$;

-- Moves the units into the containers of the manifest (fn_cut_plan_moves), with one iu.unit_moved for each, and returns the
-- moves. Moves by people stay unless the document moved the piece, or unless the two together would make a cycle: then all
-- units go where the manifest has them. Internal: under fn_unit_tree_lock, after the units were created.
create or replace function iu_core.fn_cut_move_units(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_all jsonb := '[]';
  v_moves jsonb;
  v_keep boolean;
  v_moved uuid[];
  v_circle uuid;
  v_events jsonb;
begin
  foreach v_keep in array array[true, false] loop
    v_moves := iu_core.fn_cut_plan_moves(p_document_id, p_plan, v_keep);
    exit when v_moves is null;
    v_all := v_all || v_moves;
    v_moved := array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_all) m);
    perform from iu_core.information_unit where unit_id = any (v_moved) order by unit_id for no key update;
    update iu_core.information_unit u
       set container_id = (m ->> 'to')::uuid, position = (m ->> 'position')::integer
      from jsonb_array_elements(v_moves) m
     where u.unit_id = (m ->> 'unit_id')::uuid;
    v_circle := iu_core.fn_cut_find_cycle(v_moved);
    exit when v_circle is null;
  end loop;
  if v_circle is not null then
    raise exception using
      errcode = 'SD908',
      message = format('The unit %s cannot be inside a unit that it contains', v_circle),
      detail = (select json_build_object('unit', v_circle, 'container', u.container_id) from iu_core.information_unit u where u.unit_id = v_circle)::text;
  end if;
  if v_all <> '[]' then
    select jsonb_agg(jsonb_build_object(
             'event_domain', 'iu', 'event_type', 'unit_moved', 'event_subject_ref', m ->> 'unit_id', 'canonical_address', m ->> 'address',
             'workspace_id', p_workspace_id, 'safe_payload', jsonb_build_object(
               'unit_id', m -> 'unit_id', 'from_container_id', m -> 'from', 'container_id', m -> 'to', 'position', m -> 'position'))
           order by n) into v_events
      from jsonb_array_elements(v_all) with ordinality as e (m, n);
    perform iu_core.fn_event_emit_batch(v_events);
  end if;
  return v_all;
end $$;

-- After moves: a unit that is inside itself, NULL if there is none. The manifest has no cycle, but moves by people may add one.
-- Internal.
create or replace function iu_core.fn_cut_find_cycle(p_unit_ids uuid[]) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive above as (
    select u.unit_id, u.container_id from iu_core.information_unit u where u.unit_id = any (p_unit_ids)
    union
    select a.unit_id, u.container_id from above a
     cross join lateral (select x.container_id from iu_core.information_unit x where x.unit_id = a.container_id offset 0) u
     where a.container_id <> a.unit_id
  )
  select a.unit_id from above a where a.container_id = a.unit_id limit 1
$$;

-- The units that the manifest calls another kind, as {"kinds_kept": [addresses]}; NULL if there are none. Internal.
create or replace function iu_core.fn_cut_kept_kinds(p_plan jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('kinds_kept', jsonb_agg(u.canonical_address order by p."position"))
    from iu_core.fn_cut_plan_rows(p_plan) p
   cross join lateral (
     select x.canonical_address, x.unit_kind from iu_core.information_unit x where x.unit_id = p.unit_id offset 0) u
   where p.is_alive and p.what in ('unchanged', 'versioned') and u.unit_kind <> p.kind
  having count(*) > 0
$$;

-- The units that a cut changed, each with its change, in the order of the document: the document's own unit first (p_root_id,
-- if changed), retired ones last. Internal.
create or replace function iu_core.fn_cut_changed_units(p_changed jsonb, p_removed jsonb, p_moves jsonb, p_root_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
  with touched as (
    select p_root_id as unit_id, 'versioned' as what, -1 as number, null::integer as replaced where p_root_id is not null
    union all
    select p.unit_id, p.what, p."position", case when p.what = 'versioned' and p.is_edited and not p.keeps_body then p.version_no end
      from iu_core.fn_cut_plan_rows(p_changed) p
    union all
    select g.id::uuid, 'retired', 1000000, null from jsonb_array_elements_text(p_removed -> 'units') as g (id)
  ), moved as (
    select m.* from jsonb_to_recordset(p_moves) as m (unit_id uuid, "from" uuid, "to" uuid, by_hand boolean)
  )
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'unit_id', u.unit_id, 'canonical_address', u.canonical_address, 'what', coalesce(t.what, 'moved'), 'replaced_version', t.replaced,
           'moved_from', f.canonical_address, 'moved_to', o.canonical_address, 'replaced_place', nullif(m.by_hand, false)))
         order by coalesce(t.number, 0), u.canonical_address), '[]')
    from touched t
    full join moved m on m.unit_id = t.unit_id
   cross join lateral (
     select x.unit_id, x.canonical_address from iu_core.information_unit x where x.unit_id = coalesce(t.unit_id, m.unit_id) offset 0) u
    left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."from" offset 0) f on true
    left join lateral (select x.canonical_address from iu_core.information_unit x where x.unit_id = m."to" offset 0) o on true
$$;
