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
