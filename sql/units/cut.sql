-- The cut: an approved manifest becomes units in one transaction.

-- Cuts a document into units as the approved manifest has it: consumes the record, writes the document, its units and
-- which unit holds which piece, in one transaction and one run. p_manifest_digest is the digest of the part manifest, or that of the
-- record; p_source is the document where the record holds the manifest alone (by its hash it is the one that was approved, or refused).
-- Cut again, a changed document touches only what changed: a draft
-- gets a version, an enacted unit a draft beside it (<address>~2, ~3, …) that supersedes it; a piece that is gone is retired if it is
-- a draft, else left. What people edited, moved or reordered stays where the document's piece did not change.
-- Answers {run_id, document_id, born, versioned, successors, retired, kept, unchanged, units: [{unit_id, canonical_address, what,
-- replaced_version?, moved_from?, moved_to?, replaced_place?}], kinds_kept?, orders_replaced?, legacy_kept?, left_out?}. The numbers are of pieces;
-- units are those that it touched, the document's own among them if its title changed. replaced_version: what people had written
-- since the last cut, which the document's text took the place of. moved_from, moved_to: addresses of containers, absent for none;
-- replaced_place: people had put it there. kinds_kept: addresses of units that the manifest calls another kind; a kind changes by
-- fn_unit_amend_kind alone (U3). orders_replaced: containers whose order people had made, and the document changed.
-- legacy_kept: true where the document is one of the old knowledge base, whose own text stays as it is.
-- left_out {bytes, parts: [{from, to, first_line, last_line}]}: text of the document that the manifest has in no piece.
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
  v_gone jsonb;
  v_places jsonb;
  v_more jsonb;
  v_counts jsonb;
  v_execution text := current_setting('stagedoor.execution', true);
begin
  perform iu_core.require_member(v_workspace, 'operate');
  if p_manifest_digest is null then
    raise exception using errcode = 'SD001', message = 'A cut names the digest of the manifest that was approved';
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
  -- What it writes from here on was approved, whatever else its execution has read (fn_execution_refuse_unapproved).
  perform set_config('stagedoor.execution', '', true);
  select payload_json into v_manifest from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (0, 'manifest');
  select payload_text into v_source from iu_core.iu_staging_payload
   where staging_record_id = p_staging_record_id and (part_index, part_name) = (1, 'source');
  v_source := coalesce(v_source, p_source, iu_core.fn_mark_source(v_workspace, v_manifest));
  if v_source is null then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: its document is missing',
      hint = 'The record holds the manifest alone: give the document to the cut (p_source; stagedoor cut --source FILE).',
      detail = '{"reason": "its document is missing; give it to the cut"}';
  end if;
  -- From here on one cut of a workspace at a time: which addresses are taken, and what is inside what, stays as it is seen.
  perform iu_core.fn_unit_tree_lock(v_workspace);
  -- Whoever approved it saw what it would change then. What was cut since would be taken back unseen.
  if exists (select from iu_core.kb_document d
               left join iu_core.kb_document_cut c on c.document_id = d.document_id
               join iu_core.iu_staging_record r on r.approved_at < case d.origin when 'cut' then d.updated_at else c.cut_at end
              where r.staging_record_id = p_staging_record_id and d.workspace_id = v_workspace
                and d.source_ref = v_manifest -> 'document' ->> 'source_ref') then
    raise exception using
      errcode = 'SD909',
      message = 'The manifest cannot be used: the document was cut again after this was approved',
      hint = 'Mark the document as it is now, and let that be approved.',
      detail = '{"reason": "the document was cut again after this was approved; mark it as it is now"}';
  end if;
  perform iu_core.fn_mark_manifest_require(v_manifest, v_source, v_workspace);
  v_bytes := convert_to(v_source, 'UTF8');
  v_root := split_part(v_manifest -> 'pieces' -> 0 ->> 'address', '/', 1);
  v_unit := iu_core.fn_cut_root(v_workspace, v_manifest -> 'document', v_root, v_actor);
  select c.document_id, c.is_legacy into v_document_id, v_is_legacy
    from iu_core.fn_cut_document(v_workspace, v_manifest -> 'document', v_source, v_actor) c;
  loop
    v_plan := iu_core.fn_cut_plan(v_workspace, v_document_id, v_unit.unit_id, v_manifest -> 'pieces');
    v_changed := jsonb_path_query_array(v_plan, '$[*] ? (@.what != "unchanged")');
    exit when iu_core.fn_cut_lock(v_changed);
  end loop;
  v_gone := iu_core.fn_cut_gone(v_document_id, v_plan, v_run_id, v_actor);
  perform iu_core.fn_cut_births(v_workspace, v_manifest -> 'document', v_bytes, v_changed, v_actor);
  perform iu_core.fn_cut_versions(v_manifest -> 'document', v_bytes, v_changed, v_run_id, v_actor);
  perform iu_core.fn_cut_map(v_document_id, v_plan, v_changed, v_run_id);
  perform iu_core.fn_cut_topics(v_plan, v_actor);
  v_places := iu_core.fn_cut_places(v_workspace, v_document_id, v_plan);

  select jsonb_build_object(
           'born', count(*) filter (where what = 'born'), 'versioned', count(*) filter (where what = 'versioned'),
           'successors', count(*) filter (where what = 'successor'), 'retired', jsonb_array_length(v_gone -> 'units'),
           'kept', v_gone -> 'kept', 'unchanged', jsonb_array_length(v_plan) - count(*)) into v_counts
    from iu_core.fn_cut_planned(v_changed);
  perform iu_core.fn_event_emit(
    'iu', 'unit_cut', p_event_subject_ref => v_document_id::text, p_canonical_address => v_root, p_workspace_id => v_workspace,
    p_safe_payload => v_counts || jsonb_build_object('document_id', v_document_id, 'run_id', v_run_id));
  perform iu_core.fn_command_run_finish(v_run_id);
  perform set_config('stagedoor.execution', coalesce(v_execution, ''), true);
  v_more := jsonb_strip_nulls(jsonb_build_object(
    'orders_replaced', nullif(v_places -> 'orders_replaced', '[]'),
    'legacy_kept', nullif(v_is_legacy, false),
    'left_out', iu_core.fn_mark_left_out(v_bytes, v_manifest -> 'pieces')));
  return v_counts || coalesce(iu_core.fn_cut_kinds(v_plan), '{}') || v_more || jsonb_build_object(
    'run_id', v_run_id, 'document_id', v_document_id,
    'units', iu_core.fn_cut_touched(v_changed, v_gone, v_places -> 'moves', case when v_unit.is_versioned then v_unit.unit_id end));
end $$;

grant execute on function iu_core.dot_iu_cut_from_manifest(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- The document that a manifest divides, where we have it: as it was cut last, or as the old knowledge base has it. By its hash, so that it
-- is that very text. Internal.
create or replace function iu_core.fn_mark_source(p_workspace_id uuid, p_manifest jsonb) returns text
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

-- The unit of the whole document: at the first segment of all addresses, its body is the title. Born if it is not there, a new version
-- if the document's title or language changed and it is a draft: what people wrote into it stays otherwise. Where people superseded it,
-- the one that took its place. unit_id is NULL where no pieces can be put into it. Internal: before fn_cut_document.
create or replace function iu_core.fn_cut_root(
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
    select b.unit_id into unit_id from iu_core.fn_unit_birth(p_workspace_id, jsonb_build_array(jsonb_build_object(
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

-- The document that is cut, as it is now: made, or brought up to date, and back if it was deleted. One of the old knowledge base is
-- not touched: the text of the cut is kept beside it, in kb_document_cut. Internal: under fn_unit_tree_lock.
create or replace function iu_core.fn_cut_document(
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

-- Locks the units of what a plan changes, and says whether they are still as it was made for. If not, the plan is made anew: what was
-- locked stays so, and the tree is, so that it comes to an end. Internal.
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
     where u.unit_id = any (array(select p.head_id from iu_core.fn_cut_planned(p_plan) p where p.what in ('versioned', 'successor')))
     order by u.unit_id
       for no key update
  )
  select exists (
    select from iu_core.fn_cut_planned(p_plan) p join locked l on l.unit_id = p.head_id
     where (l.version_no, l.lifecycle_status, l.deleted_at is null and l.lifecycle_status in ('draft', 'enacted'))
       is distinct from (p.version_no, p.lifecycle_status, p.is_alive)) into v_changed;
  return not v_changed;
end $$;

-- Pieces that the manifest no longer has, be it that the document lost them or that somebody left them out: drafts are retired,
-- what is enacted stays, and the map says since when. Answers {"units": [ids that were retired], "kept": how many pieces stay}.
-- Internal.
create or replace function iu_core.fn_cut_gone(p_document_id uuid, p_plan jsonb, p_run_id uuid, p_actor text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_gone text[];
  v_units uuid[];
  v_retired uuid[];
  v_kept integer;
begin
  v_gone := array(
    select m.piece_address from iu_core.kb_unit_map m where m.document_id = p_document_id and m.dropped_at is null
    except
    select p.address from iu_core.fn_cut_planned(p_plan) p);
  if v_gone = '{}' then
    return '{"units": [], "kept": 0}';
  end if;
  v_units := array(
    select m.unit_id from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.piece_address = any (v_gone) order by m.position, m.unit_id);
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
   where m.document_id = p_document_id and m.piece_address = any (v_gone)
     and u.lifecycle_status = 'enacted' and u.deleted_at is null;
  update iu_core.kb_unit_map set dropped_at = clock_timestamp(), cut_run_id = p_run_id
   where document_id = p_document_id and piece_address = any (v_gone) and dropped_at is null;
  return jsonb_build_object('units', v_retired, 'kept', v_kept);
end $$;

-- The units of a plan that are not there yet: new pieces, and drafts beside a unit that is locked or gone. Internal.
create or replace function iu_core.fn_cut_births(
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
  perform from iu_core.fn_unit_birth(p_workspace_id, (
    select coalesce(jsonb_agg(jsonb_build_object(
             'unit_id', p.unit_id, 'canonical_address', p.unit_address, 'unit_kind', p.kind, 'title', p.title,
             'body', convert_from(substr(p_source, p."from" + 1, p."to" - p."from"), 'UTF8'),
             'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref',
             'container_id', p.container_id, 'position', p.number,
             'profile', case when p.topics = '[]' then '{}' else jsonb_build_object('topic_labels', p.topics) end,
             'supersedes', p.replaces_id) order by p."position"), '[]')
      from iu_core.fn_cut_planned(p_plan) p
     where p.what in ('born', 'successor')), p_actor);
end $$;

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

-- Which unit holds which piece, after the cut. All units that ever held a piece know what it is now, so that the checker sees which
-- of them have drifted. p_changed: of the plan what is not unchanged. Internal.
create or replace function iu_core.fn_cut_map(p_document_id uuid, p_plan jsonb, p_changed jsonb, p_run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
begin
  insert into iu_core.kb_unit_map (document_id, unit_id, piece_address, parent_address, position, title, content_hash, cut_run_id)
  select p_document_id, p.unit_id, p.address, coalesce(p.parent, ''), p."position", p.title, p.hash, p_run_id
    from iu_core.fn_cut_planned(p_changed) p
  on conflict (document_id, unit_id) do update set cut_run_id = excluded.cut_run_id;
  update iu_core.kb_unit_map m
     set parent_address = coalesce(p.parent, ''), position = p."position", title = p.title, content_hash = p.hash, dropped_at = null
    from iu_core.fn_cut_planned(p_plan) p
   where m.document_id = p_document_id and m.piece_address = p.address
     and (m.parent_address, m.position, m.title, m.content_hash, m.dropped_at)
         is distinct from (coalesce(p.parent, ''), p."position", p.title, p.hash, null);
end $$;

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

-- Puts the units of the pieces where the manifest has them (fn_cut_move, fn_cut_order): what people put elsewhere, or in another order,
-- stays until the document itself moves it. What people put between the pieces stays behind the piece that it follows. One
-- piece.piece_reordered for each container in which units that were there before changed places. Answers {moves, orders_replaced:
-- [addresses of containers whose order people had made]}. Internal: under fn_unit_tree_lock, after births.
create or replace function iu_core.fn_cut_places(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_moves jsonb := iu_core.fn_cut_move(p_workspace_id, p_document_id, p_plan);
  v_order jsonb;
  v_events jsonb;
  v_replaced jsonb;
begin
  v_order := iu_core.fn_cut_order(p_document_id, p_plan, array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_moves) m));
  perform iu_core.fn_unit_number(array(select value::uuid from jsonb_array_elements_text(o -> 'units'))) from jsonb_array_elements(v_order) o;
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

-- Puts the units of the pieces into the containers of the manifest (fn_cut_moves), with one iu.unit_moved for each, and answers which
-- moved. What people put elsewhere stays, unless the document moved its piece; and unless the two together would put a unit into
-- itself: then all pieces go where the manifest has them. Internal: under fn_unit_tree_lock, after births.
create or replace function iu_core.fn_cut_move(p_workspace_id uuid, p_document_id uuid, p_plan jsonb) returns jsonb
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
    v_moves := iu_core.fn_cut_moves(p_document_id, p_plan, v_keep);
    exit when v_moves is null;
    v_all := v_all || v_moves;
    v_moved := array(select (m ->> 'unit_id')::uuid from jsonb_array_elements(v_all) m);
    perform from iu_core.information_unit where unit_id = any (v_moved) order by unit_id for no key update;
    update iu_core.information_unit u
       set container_id = (m ->> 'to')::uuid, position = (m ->> 'position')::integer
      from jsonb_array_elements(v_moves) m
     where u.unit_id = (m ->> 'unit_id')::uuid;
    v_circle := iu_core.fn_cut_circles(v_moved);
    exit when v_circle is null;
  end loop;
  if v_circle is not null then
    raise exception using
      errcode = 'SD908',
      message = format('The unit %s cannot be inside of what is inside it', v_circle),
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

-- After units moved: one of them that is inside itself now, NULL if none is. In the manifest none is; what people moved by hand may be
-- in between. Internal.
create or replace function iu_core.fn_cut_circles(p_unit_ids uuid[]) returns uuid
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

-- The order in which the units of a document belong into their containers, for those containers in which some unit has another number:
-- [{container_id, units: [ids], is_reordered: units that were there before changed places, by_hand: people had given it the order that it
-- had}]. Where the document has the pieces of a container in another order than at the last cut, it is that of the manifest; else it is
-- what it was, be it people's own, and what is new comes behind the piece before it. p_moved: units that were not there. Internal.
create or replace function iu_core.fn_cut_order(p_document_id uuid, p_plan jsonb, p_moved uuid[]) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with held as materialized (
    select u.unit_id, u.container_id, p."position" as piece, p.held_position,
           u.unit_id = any (p_moved) or (p.what in ('born', 'successor') and p.unit_id = u.unit_id) or p.held_position is null as is_new
      from iu_core.fn_cut_planned(p_plan) p
      join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
     cross join lateral (
       select x.unit_id, x.container_id, x.deleted_at, x.lifecycle_status from iu_core.information_unit x
        where x.unit_id = m.unit_id offset 0) u
     where u.container_id is not null and u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
       -- What people put elsewhere is no piece there.
       and (u.container_id = p.container_id
            or exists (select from iu_core.kb_unit_map o
                        where o.document_id = p_document_id and o.unit_id = u.container_id and o.piece_address = p.parent offset 0))
  ), inside as materialized (
    select u.* from (select distinct container_id from held) o
     cross join lateral (
       select x.unit_id, x.container_id, x.position, x.born_at from iu_core.information_unit x
        where x.container_id = o.container_id and x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') offset 0) u
  ), child as materialized (
    select u.*, h.piece, h.held_position, coalesce(h.is_new, false) as is_new,
           row_number() over (partition by u.container_id, coalesce(h.is_new, false) order by u.position, u.unit_id) as old_rank,
           -- Units that are no pieces follow the piece before them.
           count(h.piece) filter (where not h.is_new) over (partition by u.container_id order by u.position, u.unit_id) as run,
           count(*) filter (where not h.is_new) over (partition by u.container_id order by h.piece, h.is_new, u.unit_id) as anchor
      from inside u
      left join held h on h.unit_id = u.unit_id
  ), container as materialized (
    select container_id, bool_or(now <> before) as is_documents, bool_or(old <> before) as by_hand
      from (select c.container_id,
                   row_number() over (partition by c.container_id order by c.held_position, c.unit_id) as before,
                   row_number() over (partition by c.container_id order by c.piece, c.unit_id) as now,
                   row_number() over (partition by c.container_id order by c.position, c.unit_id) as old
              from child c where c.piece is not null and not c.is_new) r
     group by container_id
  ), ranked as (
    select c.*, coalesce(o.is_documents, false) as is_documents, coalesce(o.by_hand, false) as by_hand,
           coalesce(c.piece, max(c.piece) filter (where not c.is_new) over (partition by c.container_id, c.run), 0) as key,
           max(c.old_rank) filter (where not c.is_new) over (partition by c.container_id, c.run) as run_end
      from child c left join container o on o.container_id = c.container_id
  ), keyed as (
    -- In the order of the pieces each anchor is one that was there, and what is new behind it.
    select r.*,
           max(r.piece) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_piece,
           max(r.old_rank) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_rank,
           max(r.run_end) filter (where not r.is_new) over (partition by r.container_id, r.piece is null, r.anchor) as anchor_end
      from ranked r
  ), placed as (
    select k.*,
           case when k.is_documents then array[k.key, (k.piece is null)::integer, case when k.piece is null then k.old_rank else 0 end]
                when not k.is_new then array[k.old_rank, 0, 0]
                when k.anchor_piece = k.piece then array[k.anchor_rank, 1, k.piece]
                else array[coalesce(k.anchor_end, 0), 2, k.piece] end as place
      from keyed k
  ), numbered as (
    select p.*,
           row_number() over (partition by p.container_id order by p.place, p.born_at, p.unit_id) as number,
           row_number() over (partition by p.container_id, p.is_new order by p.place, p.born_at, p.unit_id) as new_rank
      from placed p
  ), ordered as (
    select container_id, array_agg(unit_id order by number) as units, bool_or(not is_new and old_rank <> new_rank) as is_reordered,
           bool_or(is_documents and by_hand) as by_hand
      from numbered group by container_id having bool_or(number <> position)
  )
  select coalesce(jsonb_agg(jsonb_build_object('container_id', container_id, 'units', units, 'is_reordered', is_reordered, 'by_hand', by_hand)
                            order by container_id), '[]')
    from ordered
$$;

-- The units that the manifest calls another kind than they are, as {"kinds_kept": [addresses]}; NULL if there are none. Internal.
create or replace function iu_core.fn_cut_kinds(p_plan jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('kinds_kept', jsonb_agg(u.canonical_address order by p."position"))
    from iu_core.fn_cut_planned(p_plan) p
   cross join lateral (
     select x.canonical_address, x.unit_kind from iu_core.information_unit x where x.unit_id = p.unit_id offset 0) u
   where p.is_alive and p.what in ('unchanged', 'versioned') and u.unit_kind <> p.kind
  having count(*) > 0
$$;

-- The units that a cut touched, each with what it did, in the order of the document: its own first (p_root_id, if it was), retired ones
-- last. Internal.
create or replace function iu_core.fn_cut_touched(p_changed jsonb, p_gone jsonb, p_moves jsonb, p_root_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
  with touched as (
    select p_root_id as unit_id, 'versioned' as what, -1 as number, null::integer as replaced where p_root_id is not null
    union all
    select p.unit_id, p.what, p."position", case when p.what = 'versioned' and p.is_edited and not p.keeps_body then p.version_no end
      from iu_core.fn_cut_planned(p_changed) p
    union all
    select g.id::uuid, 'retired', 1000000, null from jsonb_array_elements_text(p_gone -> 'units') as g (id)
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

-- The rows of a plan of fn_cut_plan. Internal.
create or replace function iu_core.fn_cut_planned(p_plan jsonb)
returns table ("position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
               what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
               is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
               is_known boolean, is_placed boolean, container_id uuid, number integer)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select * from jsonb_to_recordset(p_plan) as p (
    "position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb,
    what text, unit_id uuid, unit_address text, head_id uuid, version_no integer, unit_hash text, lifecycle_status text,
    is_alive boolean, keeps_body boolean, is_edited boolean, replaces_id uuid, held_position integer, held_parent text,
    is_known boolean, is_placed boolean, container_id uuid, number integer)
$$;

-- What a cut does with each piece of the manifest, as rows in JSON (fn_cut_planned reads them). Internal: under fn_unit_tree_lock.
--   born       no unit ever held it
--   unchanged  the document's piece is what it was, or its unit says that already: whatever people did to the unit stays
--   versioned  it changed, and its unit is a draft. Its title alone: the text of the unit stays (keeps_body)
--   successor  it changed, and its unit is locked or gone: a draft comes beside it. It supersedes what is enacted; what was retired or
--              deleted has nothing more to give up (replaces_id is NULL)
-- Which unit: the youngest that lives of those that held the piece, then along its successors to the last of them.
-- Where two pieces lead to the same unit (people superseded two by one) the other one's own unit gets the successor.
-- container_id is the unit that it belongs into: that of its parent, of the nearest above it that is alive, or the root. A section
-- whose successor is only a draft still holds what is in it. is_placed: the document has the piece in the section in which it had it
-- at the last cut (held_parent, if is_known); held_position: its place in the whole at that time.
create or replace function iu_core.fn_cut_plan(p_workspace_id uuid, p_document_id uuid, p_root_id uuid, p_pieces jsonb) returns jsonb
language sql
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with recursive piece as materialized (
    select * from jsonb_to_recordset(p_pieces) as p (
      "position" integer, address text, parent text, kind text, title text, "from" integer, "to" integer, hash text, topics jsonb)
  ), before as materialized (
    select distinct m.piece_address as address, nullif(m.parent_address, '') as parent from iu_core.kb_unit_map m
     where m.document_id = p_document_id and m.dropped_at is null and m.parent_address is not null
  ), held as materialized (
    select m.piece_address, m.unit_id, m.title, m.content_hash, m.dropped_at, m.position, count(*) over (partition by m.piece_address) as units,
           row_number() over (partition by m.piece_address order by
             case when u.deleted_at is not null or u.lifecycle_status = 'retired' then 2
                  when u.lifecycle_status = 'superseded' then 1 else 0 end,
             u.born_at desc, u.unit_id desc) as rank
      from iu_core.kb_unit_map m
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = m.unit_id offset 0) u
     where m.document_id = p_document_id
  ), chain as (
    select h.piece_address, h.unit_id, 0 as depth from held h where h.rank = 1
    union all
    select c.piece_address, n.unit_id, c.depth + 1
      from chain c
     cross join lateral (select x.* from iu_core.information_unit x where x.unit_id = c.unit_id offset 0) u
     cross join lateral (
       select u.superseded_by as unit_id where u.superseded_by is not null
       union all
       (select s.unit_id from iu_core.information_unit s
         where s.supersedes = u.unit_id and s.lifecycle_status = 'draft' and s.deleted_at is null and u.superseded_by is null offset 0)) n
     where c.depth < 1000
  ), head as materialized (
    select distinct on (c.piece_address) c.piece_address, c.unit_id from chain c order by c.piece_address, c.depth desc
  ), own as materialized (
    select p.*, h.unit_id as first_id, h.title as held_title, h.content_hash as held_hash, h.dropped_at is not null as is_back, coalesce(h.units, 0) as units,
           case when h.dropped_at is null then h.position end as held_position, b.parent as held_parent, b.address is not null as is_known,
           case when row_number() over (partition by x.unit_id order by x.unit_id <> h.unit_id, p."position") = 1
                then x.unit_id else h.unit_id end as head_id
      from piece p
      left join held h on h.piece_address = p.address and h.rank = 1
      left join head x on x.piece_address = p.address
      left join before b on b.address = p.address
  ), judged as materialized (
    select o.*, u.version_no, u.content_hash as unit_hash, u.supersedes, s.is_alive, s.keeps_body, u.lifecycle_status,
           case
             when o.head_id is null then 'born'
             when s.keeps_body and s.is_alive and u.lifecycle_status = 'draft' and o.title <> o.held_title and o.title <> u.title
               then 'versioned'
             when s.keeps_body then 'unchanged'
             when s.is_alive and u.lifecycle_status = 'draft' then 'versioned'
             else 'successor'
           end as what
      from own o
      left join lateral (select x.* from iu_core.information_unit x where x.unit_id = o.head_id offset 0) u on true
     cross join lateral (
       select a.is_alive, a.is_alive and u.content_hash = o.hash or not o.is_back and o.held_hash = o.hash as keeps_body
         from (select u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted') as is_alive) a) s
  ), made as materialized (
    select j.*,
           case when j.what in ('born', 'successor') then iu_core.fn_time_uuid() else j.head_id end as unit_id,
           case j.what when 'born' then j.address when 'successor' then coalesce(n.address, (
             -- People gave these addresses to units of their own.
             select j.address || '~' || g.number
               from generate_series(j.units + 21, j.units + 20000) as g (number)
              where not exists (select from iu_core.information_unit t
                                 where t.workspace_id = p_workspace_id and t.canonical_address = j.address || '~' || g.number offset 0)
              order by g.number limit 1)) end as unit_address,
           coalesce(e.unit_id, case when j.is_alive then j.head_id end) as living_id
      from judged j
      left join lateral (
        select x.unit_id from iu_core.information_unit x
         where j.lifecycle_status = 'draft' and x.unit_id = j.supersedes and x.lifecycle_status = 'enacted' and x.deleted_at is null
        offset 0) e on true
      left join lateral (
        select j.address || '~' || g.number as address
          from generate_series(case when j.what = 'successor' then j.units + 1 end, j.units + 20) as g (number)
         where not exists (select from iu_core.information_unit t
                            where t.workspace_id = p_workspace_id and t.canonical_address = j.address || '~' || g.number offset 0)
         order by g.number limit 1) n on true
  ), holding as materialized (
    select m.address, m.parent,
           case when m.living_id is not null then m.living_id when m.what in ('born', 'successor') then m.unit_id end as holds
      from made m
  ), placed as (
    select h.address, h.holds, p_root_id as container_id from holding h where h.parent is null
    union all
    select h.address, h.holds, coalesce(o.holds, o.container_id) from placed o join holding h on h.parent = o.address
  )
  select jsonb_agg(jsonb_build_object(
           'position', m."position", 'address', m.address, 'parent', m.parent, 'kind', m.kind, 'title', m.title, 'from', m."from", 'to', m."to",
           'hash', m.hash, 'topics', m.topics, 'what', m.what, 'unit_id', m.unit_id, 'unit_address', m.unit_address, 'head_id', m.head_id,
           'version_no', m.version_no, 'unit_hash', m.unit_hash, 'lifecycle_status', m.lifecycle_status, 'is_alive', coalesce(m.is_alive, false),
           'keeps_body', coalesce(m.keeps_body, false), 'is_edited', m.unit_hash <> m.held_hash,
           'replaces_id', case when m.what = 'successor' and m.is_alive then m.head_id end,
           'held_position', m.held_position, 'held_parent', m.held_parent, 'is_known', m.is_known,
           'is_placed', m.is_known and m.held_parent is not distinct from m.parent,
           'container_id', p.container_id, 'number', m.number) order by m."position")
    from (select x.*, row_number() over (partition by x.parent order by x."position") as number from made x) m
    join placed p on p.address = m.address
$$;

-- The units of pieces that are elsewhere than the manifest has them: [{unit_id, from, to, position, address, by_hand}], NULL if there
-- are none. A unit that is in the right section already stays, though the section have a successor; and with p_keep one that people
-- put elsewhere, as long as the document has its piece where it had it at the last cut. by_hand: people had put it where it is.
-- Internal.
create or replace function iu_core.fn_cut_moves(p_document_id uuid, p_plan jsonb, p_keep boolean) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
-- The statistics are of before this transaction: what it made itself is joined by hashing, units are looked up by their id.
set enable_nestloop = off
set jit = off
as $$
  with root as materialized (
    select p.container_id as unit_id, split_part(p.address, '/', 1) as address
      from iu_core.fn_cut_planned(p_plan) p where p.parent is null limit 1
  ), place as materialized (
    select u.unit_id, u.canonical_address, u.container_id as "from", p.container_id as "to", p."position" as piece, p.number, p.is_placed, p.is_known,
           p.parent, p.held_parent, x.canonical_address as container,
           x.deleted_at is null and x.lifecycle_status in ('draft', 'enacted') as is_alive,
           x.deleted_at is null and x.lifecycle_status <> 'retired' as is_there,
           (select o.piece_address from iu_core.kb_unit_map o
             where o.document_id = p_document_id and o.unit_id = u.container_id offset 0) as section
      from iu_core.fn_cut_planned(p_plan) p
      join iu_core.kb_unit_map m on m.document_id = p_document_id and m.piece_address = p.address
     cross join lateral (select i.* from iu_core.information_unit i where i.unit_id = m.unit_id offset 0) u
      left join lateral (select i.* from iu_core.information_unit i where i.unit_id = u.container_id offset 0) x on true
     where u.deleted_at is null and u.lifecycle_status in ('draft', 'enacted')
  ), moved as (
    select p.*,
           p.is_known and case
             when p."from" is null or p.held_parent is not null then p.section is distinct from p.held_parent
             else p."from" <> r.unit_id and p.container <> r.address end as by_hand
      from place p left join root r on true
     where p."from" is distinct from p."to"
       and not coalesce(p.parent is not null and p.is_there and p.section = p.parent, false)
       and not coalesce(p_keep and p.is_placed and (
             p.is_alive
             -- Outside of everything it is by hand, unless the document's own unit was gone and all of them are.
             or p."from" is null and exists (select from place o, root q where o."from" = q.unit_id)), false)
  )
  select jsonb_agg(jsonb_build_object('unit_id', m.unit_id, 'from', m."from", 'to', m."to", 'position', m.number,
                                      'address', m.canonical_address, 'by_hand', coalesce(m.by_hand, false)) order by m.piece)
    from moved m
$$;
