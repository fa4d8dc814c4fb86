-- Information units: knowledge in addressable pieces with immutable versions, and what is known about each of them.
-- Written by fn_unit_* and by the cut only; nobody has a right to write the tables themselves.

-- What no function emits would be a trap for whoever registers a consumer on it.
delete from iu_core.event_vocabulary v
 where (event_domain, event_type) in (('iu', 'unit_created'), ('piece', 'piece_created'), ('piece', 'piece_edited'),
                                      ('birth_registry', 'entity_retired'), ('birth_registry', 'template_instantiated'))
   and not exists (select from iu_core.consumer_registry c where (c.event_domain, c.event_type) = (v.event_domain, v.event_type))
   and not exists (select from iu_core.iu_sql_event_route r
                    where (r.target_event_domain, r.target_event_type) = (v.event_domain, v.event_type))
   and not exists (select from iu_core.event_outbox e where (e.event_domain, e.event_type) = (v.event_domain, v.event_type));
insert into iu_core.event_vocabulary values
  ('iu', 'unit_profile_changed', 'the profile of an information unit changed'),
  ('iu', 'unit_moved', 'an information unit got another container');

-- What a unit can be, and which keys its profile needs to be usable (tier 1).
create table iu_core.unit_kind (
  unit_kind text primary key constraint unit_kind_form check (unit_kind ~ '^[a-z][a-z0-9_]{0,30}$'),
  description text not null,
  required_profile text[] not null default '{}'
);
insert into iu_core.unit_kind values
  ('document', 'a whole document, the container of its pieces', '{}'),
  ('section', 'a piece under a heading', '{}'),
  ('list', 'a long list', '{}'),
  ('table', 'a table', '{}'),
  ('part', 'a part of a piece that was too long', '{}'),
  ('note', 'a piece of knowledge that stands alone', '{}'),
  ('commentary', 'what a person or an agent says about data', '{summary}');

-- Topics that units may carry. workspace_id NULL: of every workspace. One that is used is retired, not deleted.
create table iu_core.topic_vocabulary (
  topic_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid,
  topic_label text not null constraint topic_vocabulary_label_form check (topic_label ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'),
  description text,
  retired_at timestamptz,
  registered_by text not null,
  registered_at timestamptz not null default clock_timestamp(),
  unique nulls not distinct (workspace_id, topic_label)
);

create table iu_core.information_unit (
  -- Identity: U1 and U2 never change, U3 only with an apr_ref of its own.
  unit_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  canonical_address text not null constraint information_unit_address_form
    check (canonical_address ~ '^[a-z0-9][a-z0-9_.~-]*(/[a-z0-9][a-z0-9_.~-]*)*$' and length(canonical_address) <= 400),
  unit_kind text not null references iu_core.unit_kind (unit_kind),
  -- U7: what holds it, and where in it.
  container_id uuid references iu_core.information_unit (unit_id)
    constraint information_unit_not_in_itself check (container_id <> unit_id),
  position integer not null default 0
    constraint information_unit_position_range check (position between 0 and 2000000000),
  -- U8: where it came from.
  source_ref text not null constraint information_unit_source_not_blank check (source_ref ~ '\S' and length(source_ref) <= 2000),
  owner_actor text not null,
  owner_via text,
  born_at timestamptz not null default clock_timestamp(),
  -- Version and content: which one is current. The body is the version's.
  current_version_id uuid not null,
  version_no integer not null default 1 constraint information_unit_version_counts check (version_no > 0),
  content_hash text not null,
  title text not null constraint information_unit_title_not_blank check (title ~ '\S' and length(title) <= 500),
  -- Profile. Core keys have their own columns; a copy in the profile would be a second truth.
  content_profile jsonb not null default '{}'
    constraint information_unit_profile_object check (jsonb_typeof(content_profile) = 'object')
    constraint information_unit_profile_size check (pg_column_size(content_profile) <= 65536)
    constraint information_unit_profile_without_core check (not content_profile ?| array[
      'unit_id', 'workspace_id', 'canonical_address', 'unit_kind', 'container_id', 'container_ref', 'position', 'source_ref',
      'owner_actor', 'owner_via', 'born_at', 'current_version_id', 'unit_version_id', 'version_no', 'content_hash', 'title', 'body',
      'language', 'lifecycle_status', 'apr_ref', 'deleted_at', 'superseded_by', 'supersedes', 'conformance', 'drift', 'vector', 'embedding'])
    constraint information_unit_topics_array check (
      not content_profile ? 'topic_labels' or jsonb_typeof(content_profile -> 'topic_labels') = 'array'),
  -- Protection.
  lifecycle_status text not null default 'draft'
    constraint information_unit_lifecycle_known check (lifecycle_status in ('draft', 'enacted', 'superseded', 'retired')),
  apr_ref text constraint information_unit_apr_ref_not_blank check (apr_ref ~ '\S' and length(apr_ref) <= 500),
  -- The one whose successor it is, and the one that took its place.
  supersedes uuid references iu_core.information_unit (unit_id),
  superseded_by uuid references iu_core.information_unit (unit_id),
  deleted_at timestamptz,
  changed_at timestamptz not null default clock_timestamp(),
  constraint information_unit_address_once unique (workspace_id, canonical_address),
  constraint information_unit_enacted_with_apr_ref check (lifecycle_status not in ('enacted', 'superseded') or apr_ref is not null),
  constraint information_unit_superseded_by_one check ((lifecycle_status = 'superseded') = (superseded_by is not null))
) with (fillfactor = 80);
create index information_unit_contained on iu_core.information_unit (container_id, position) where container_id is not null;
create index information_unit_topics on iu_core.information_unit using gin ((content_profile -> 'topic_labels'))
  where content_profile ? 'topic_labels';
-- One successor is worked on at a time.
create unique index information_unit_one_successor on iu_core.information_unit (supersedes)
  where supersedes is not null and lifecycle_status = 'draft' and deleted_at is null;

-- Every version for good: a change is a new row.
create table iu_core.unit_version (
  unit_version_id uuid primary key default iu_core.fn_time_uuid(),
  unit_id uuid not null references iu_core.information_unit (unit_id) deferrable initially deferred,
  version_no integer not null constraint unit_version_counts check (version_no > 0),
  unit_kind text not null,
  title text not null,
  language text not null default 'en' constraint unit_version_language_form check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  body text not null
    constraint unit_version_body_not_blank check (body ~ '\S')
    constraint unit_version_body_size check (octet_length(body) <= 1048576),
  -- SHA-256 of the body in UTF-8, 64 hexadecimal digits: whatever is given, a trigger computes it.
  content_hash text not null,
  note text constraint unit_version_note_size check (length(note) <= 2000),
  edited_by text not null,
  edited_via text,
  edited_at timestamptz not null default clock_timestamp(),
  constraint unit_version_once unique (unit_id, version_no)
);
alter table iu_core.information_unit add constraint information_unit_has_version
  foreign key (current_version_id) references iu_core.unit_version (unit_version_id) deferrable initially deferred;

-- From a unit to whatever an address names; to_unit_id is what the address named when somebody last looked.
create table iu_core.universal_edges (
  edge_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  from_unit_id uuid not null references iu_core.information_unit (unit_id),
  edge_type text not null constraint universal_edges_type_form check (edge_type ~ '^[a-z][a-z0-9_]{0,30}$'),
  target_ref text not null constraint universal_edges_target_form check (target_ref ~ '\S' and length(target_ref) <= 2000),
  to_unit_id uuid references iu_core.information_unit (unit_id),
  edge_status text not null constraint universal_edges_status_known check (edge_status in ('verified', 'unverified')),
  created_by text not null,
  created_via text,
  created_at timestamptz not null default clock_timestamp(),
  constraint universal_edges_once unique (from_unit_id, edge_type, target_ref),
  constraint universal_edges_verified_leads_somewhere check ((edge_status = 'verified') = (to_unit_id is not null))
);
create index universal_edges_reverse on iu_core.universal_edges (to_unit_id) where to_unit_id is not null;
create index universal_edges_unverified on iu_core.universal_edges (workspace_id) where edge_status = 'unverified';

-- The checker's word on a unit. Not the author's: only dot_executor writes it.
create table iu_core.unit_check (
  unit_id uuid primary key references iu_core.information_unit (unit_id),
  conformance text not null constraint unit_check_conformance_known check (conformance in ('conforms', 'deviates')),
  drift text not null constraint unit_check_drift_known check (drift in ('none', 'drifted')),
  findings jsonb not null default '[]' constraint unit_check_findings_array check (jsonb_typeof(findings) = 'array'),
  checked_version_no integer not null,
  checked_by text not null,
  checked_at timestamptz not null default clock_timestamp()
);

-- What was embedded last. Written by the vector worker; whether it is fresh is computed from it, never stored.
create table iu_core.unit_vector (
  unit_id uuid primary key references iu_core.information_unit (unit_id),
  unit_version_id uuid not null references iu_core.unit_version (unit_version_id),
  content_hash_at_embedding text not null,
  collection text not null,
  embedded_at timestamptz not null default clock_timestamp()
);

-- Each change of the lifecycle, for good. In public as the seed has it, so that the shipped route finds it there.
create table public.iu_lifecycle_log (
  log_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  unit_id uuid not null,
  from_status text not null,
  to_status text not null,
  -- What was changed together: the run of a cut, or the transaction's first event.
  change_set_id uuid,
  apr_ref text,
  reason text,
  changed_by text not null,
  changed_via text,
  changed_at timestamptz not null default clock_timestamp()
);
create index iu_lifecycle_log_unit on public.iu_lifecycle_log (unit_id, changed_at);

-- Whose it is, is told by the row.
update iu_core.iu_sql_event_route set workspace_column = 'workspace_id' where route_code = 'iu_lifecycle_log.insert';

-- Documents: those that were cut, and those of a knowledge base that was there before.
create table iu_core.kb_document (
  document_id uuid primary key default iu_core.fn_time_uuid(),
  workspace_id uuid not null,
  source_ref text not null constraint kb_document_source_not_blank check (source_ref ~ '\S' and length(source_ref) <= 2000),
  title text not null constraint kb_document_title_not_blank check (title ~ '\S'),
  language text not null default 'en' constraint kb_document_language_form check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  body text not null,
  content_hash text not null,
  updated_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  constraint kb_document_source_once unique (workspace_id, source_ref)
);

-- Which unit holds which piece of which document. dropped_at: the newest cut no longer had the piece.
create table iu_core.kb_unit_map (
  document_id uuid not null references iu_core.kb_document (document_id),
  unit_id uuid not null references iu_core.information_unit (unit_id),
  -- The address by which manifests name the piece: that of the first unit of a chain of successors.
  piece_address text not null,
  position integer not null,
  -- As the manifest had them when it was cut last: what differs in the unit is people's own.
  title text not null,
  content_hash text not null,
  cut_run_id uuid not null,
  dropped_at timestamptz,
  primary key (document_id, unit_id)
);
create index kb_unit_map_unit on iu_core.kb_unit_map (unit_id);

-- When the projection into search may run. One row.
create table iu_core.vector_policy (
  one_row boolean primary key default true constraint vector_policy_one_row check (one_row),
  quiet_window interval not null default '120 seconds'
    constraint vector_policy_quiet_range check (quiet_window between '0 seconds' and '180 seconds'),
  -- Constant edits must not put it off for ever.
  longest_wait interval not null default '10 minutes' constraint vector_policy_wait_range check (longest_wait >= quiet_window),
  delete_delay interval not null default '30 seconds'
    constraint vector_policy_delete_range check (delete_delay between '0 seconds' and '60 seconds'),
  -- Between two units that are enqueued together.
  stagger interval not null default '50 milliseconds' constraint vector_policy_stagger_range check (stagger >= '0 seconds'),
  max_retries integer not null default 3 constraint vector_policy_retries_range check (max_retries between 0 and 100)
);
insert into iu_core.vector_policy default values;

-- What has to be projected: one row for each source, so that three edits are one embedding. Foreign keys, not ids alone:
-- what is neither a unit nor a document cannot be enqueued, a staging record least of all.
create table iu_core.vector_outbox (
  outbox_id uuid primary key default iu_core.fn_time_uuid(),
  unit_id uuid references iu_core.information_unit (unit_id),
  document_id uuid references iu_core.kb_document (document_id),
  source_kind text not null generated always as (case when unit_id is null then 'kb_document' else 'information_unit' end) stored,
  source_id uuid not null generated always as (coalesce(unit_id, document_id)) stored,
  operation text not null constraint vector_outbox_operation_known check (operation in ('upsert', 'patch', 'delete')),
  -- At the time of enqueuing: what is embedded already is skipped. NULL for a delete.
  content_hash text,
  -- Rises with every enqueuing. Whoever finishes an older one has not finished.
  generation bigint not null default 1,
  status text not null default 'pending'
    constraint vector_outbox_status_known check (status in ('pending', 'processing', 'done', 'dead_letter')),
  first_enqueued_at timestamptz not null default clock_timestamp(),
  earliest_run_at timestamptz not null,
  retry_count integer not null default 0,
  last_error text,
  worker_id uuid,
  leased_until timestamptz,
  changed_at timestamptz not null default clock_timestamp(),
  constraint vector_outbox_unit_or_document check (num_nonnulls(unit_id, document_id) = 1),
  constraint vector_outbox_leased_while_processing check ((status = 'processing') = (leased_until is not null))
) with (fillfactor = 50);
create unique index vector_outbox_unit_once on iu_core.vector_outbox (unit_id) where unit_id is not null;
create unique index vector_outbox_document_once on iu_core.vector_outbox (document_id) where document_id is not null;
create index vector_outbox_due on iu_core.vector_outbox (earliest_run_at) where status in ('pending', 'processing');

-- The wall: members read what is of their workspace; functions write.
do $$
declare
  v_table text;
  v_of_workspace text;
begin
  foreach v_table in array array['iu_core.information_unit', 'iu_core.universal_edges', 'public.iu_lifecycle_log', 'iu_core.kb_document'] loop
    execute format('alter table %s enable row level security', v_table);
    execute format('create policy %I on %s for select to authenticated, stagedoor_agent, stagedoor_reviewer
                      using (workspace_id in (select iu_core.fn_my_workspaces()))', split_part(v_table, '.', 2) || '_member_reads', v_table);
  end loop;
  foreach v_table in array array['unit_version', 'unit_check', 'unit_vector', 'kb_unit_map', 'vector_outbox'] loop
    v_of_workspace := case v_table
      when 'vector_outbox' then
        'exists (select from iu_core.information_unit u where u.unit_id = vector_outbox.unit_id)
         or exists (select from iu_core.kb_document d where d.document_id = vector_outbox.document_id)'
      else format('exists (select from iu_core.information_unit u where u.unit_id = %I.unit_id)', v_table) end;
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select to authenticated, stagedoor_agent, stagedoor_reviewer using (%s)',
                   v_table || '_member_reads', v_table, v_of_workspace);
  end loop;
  foreach v_table in array array['iu_core.information_unit', 'iu_core.universal_edges', 'public.iu_lifecycle_log', 'iu_core.kb_document',
                                 'iu_core.unit_version', 'iu_core.unit_check', 'iu_core.unit_vector', 'iu_core.kb_unit_map',
                                 'iu_core.vector_outbox'] loop
    execute format('create policy %I on %s for select to service_role, dot_executor, vector_worker using (true)',
                   split_part(v_table, '.', 2) || '_service_reads', v_table);
    execute format('grant select on %s to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor, vector_worker', v_table);
  end loop;
end $$;
alter table iu_core.topic_vocabulary enable row level security;
create policy topic_vocabulary_member_reads on iu_core.topic_vocabulary for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (workspace_id is null or workspace_id in (select iu_core.fn_my_workspaces()));
create policy topic_vocabulary_service_reads on iu_core.topic_vocabulary for select to service_role, dot_executor, vector_worker using (true);
alter table iu_core.unit_kind enable row level security;
create policy unit_kind_everyone_reads on iu_core.unit_kind for select using (true);
alter table iu_core.vector_policy enable row level security;
create policy vector_policy_everyone_reads on iu_core.vector_policy for select using (true);
grant select on iu_core.topic_vocabulary, iu_core.unit_kind, iu_core.vector_policy
  to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor, vector_worker;
