-- Words of search by language, with titles and the titles above them as fields of their own.

-- Which languages a workspace's texts have: a question is analysed in each of them. A language whose texts are gone stays with 0.
create table iu_core.search_language (
  workspace_id uuid not null,
  language text not null constraint search_language_form check (language ~ '^[a-z]{2,3}$'),
  chunks integer not null,
  constraint search_language_pkey primary key (workspace_id, language)
);
comment on table iu_core.search_language is 'languages of the texts in search, by workspace';
alter table iu_core.search_language enable row level security;
create policy search_language_service_reads on iu_core.search_language for select to service_role, dot_executor, vector_worker using (true);
grant select on iu_core.search_language to service_role, dot_executor, vector_worker;
insert into iu_core.search_language (workspace_id, language, chunks)
select c.workspace_id, split_part(c.language, '-', 1), count(*) from iu_core.search_chunk c group by 1, 2;

-- analysis 0: by the words of earlier versions. The worker analyses them again (fn_search_reanalyse).
alter table iu_core.search_chunk
  add column title text not null default '',
  add column path text not null default '',
  add column analysis smallint not null default 0;
