-- What the design documents say of units, search, staging and events, and the database did not hold yet.

-- The text that the newest cut was made from, where the document itself is one of the old knowledge base: its own row is that
-- knowledge base's and is not written by a cut.
create table iu_core.kb_document_cut (
  document_id uuid primary key references iu_core.kb_document (document_id),
  title text not null constraint kb_document_cut_title_not_blank check (title ~ '\S'),
  language text not null constraint kb_document_cut_language_form check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  body text not null,
  content_hash text not null,
  cut_by text not null,
  cut_at timestamptz not null default clock_timestamp()
);
alter table iu_core.kb_document_cut enable row level security;
create policy kb_document_cut_member_reads on iu_core.kb_document_cut for select to authenticated, stagedoor_agent, stagedoor_reviewer
  using (exists (select from iu_core.kb_document d where d.document_id = kb_document_cut.document_id));
create policy kb_document_cut_service_reads on iu_core.kb_document_cut for select to service_role, dot_executor using (true);
grant select on iu_core.kb_document_cut to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;

-- The windows of the projection, as the document bounds them. What lies outside goes to the nearest bound.
update iu_core.vector_policy
   set quiet_window = least(greatest(quiet_window, interval '120 seconds'), interval '180 seconds'),
       delete_delay = least(greatest(delete_delay, interval '30 seconds'), interval '60 seconds'),
       longest_wait = greatest(longest_wait, interval '180 seconds');
alter table iu_core.vector_policy drop constraint vector_policy_quiet_range, drop constraint vector_policy_delete_range;
alter table iu_core.vector_policy
  add constraint vector_policy_quiet_range check (quiet_window between '120 seconds' and '180 seconds'),
  add constraint vector_policy_delete_range check (delete_delay between '30 seconds' and '60 seconds');

-- Words of units that search has not taken in yet, so that they are found meanwhile: one row from the write until the text is
-- projected. Units only: foreign keys lead to them, and nobody but the functions that enqueue a unit writes it.
create table iu_core.search_pending (
  unit_id uuid primary key references iu_core.information_unit (unit_id),
  workspace_id uuid not null,
  unit_version_id uuid not null references iu_core.unit_version (unit_version_id),
  language text not null,
  words tsvector not null
);
create index search_pending_workspace on iu_core.search_pending (workspace_id);
create index search_pending_version on iu_core.search_pending (unit_version_id);
create index search_pending_words on iu_core.search_pending using gin (words);
alter table iu_core.search_pending enable row level security;
create policy search_pending_service_reads on iu_core.search_pending for select to service_role, dot_executor, vector_worker using (true);
grant select on iu_core.search_pending to service_role, dot_executor, vector_worker;

insert into iu_core.event_vocabulary values
  ('iu', 'unit_split', 'a unit was retired, and others hold its parts'),
  ('iu', 'unit_merged', 'units were retired, and another one holds what they said');

-- The shipped route of the lifecycle names its subject: without one, consumers that ask for {event_subject_ref} get nothing. Where
-- somebody uses or changed it, it stays theirs.
update iu_core.iu_sql_event_route set payload_contract = payload_contract || '{"subject": ["unit_id"]}'
 where route_code = 'iu_lifecycle_log.insert' and not enabled and registered_by = 'stagedoor' and not payload_contract ? 'subject';
