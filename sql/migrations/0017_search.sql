-- Search: what units and documents say, projected. Everything here can be thrown away and made again from Postgres itself.
-- Written by the vector worker alone, through fn_search_* and fn_vector_*; staging has no way in: foreign keys lead to units
-- and documents, and vector_worker has no right on a staging table.

-- A fitted model of the embedder that needs no network. Each fit is a generation: its vectors mean nothing to another one.
create table iu_core.search_generation (
  generation_id uuid primary key default iu_core.fn_time_uuid(),
  embedder text not null,
  dimension integer not null constraint search_generation_dimension_some check (dimension between 1 and 4096),
  documents integer not null,
  terms integer not null,
  model bytea not null,
  fitted_at timestamptz not null default clock_timestamp()
);

-- An embedder, a store, and what was put there. Switching makes a new one beside the old, fills it, and swaps.
create table iu_core.search_collection (
  collection text primary key constraint search_collection_form check (collection ~ '^[a-z][a-z0-9_]{0,62}$'),
  source_kind text not null constraint search_collection_source_known check (source_kind in ('information_unit', 'kb_document')),
  -- legacy: made by others (production_documents). Only read, by the store layer and here.
  state text not null constraint search_collection_state_known check (state in ('building', 'active', 'retired', 'legacy')),
  embedder text not null, -- hashed, lsa, openai, none
  model text,
  dimension integer constraint search_collection_dimension_some check (dimension between 1 and 4096),
  store text not null constraint search_collection_store_known check (store in ('postgres', 'pgvector', 'qdrant')),
  generation_id uuid references iu_core.search_generation (generation_id),
  -- Of chunker, template and model: other words for the same text make other vectors.
  fingerprint text not null,
  created_at timestamptz not null default clock_timestamp(),
  activated_at timestamptz,
  retired_at timestamptz
);
create unique index search_collection_one_active on iu_core.search_collection (source_kind) where state = 'active';
create unique index search_collection_one_building on iu_core.search_collection (source_kind) where state = 'building';
insert into iu_core.search_collection (collection, source_kind, state, embedder, model, dimension, store, fingerprint)
values ('production_documents', 'kb_document', 'legacy', 'openai', 'text-embedding-3-small', 1536, 'qdrant', 'legacy 4000/400');

-- Pieces of one unit version or document, for both legs. The id is made of the source and the text, so that what did not
-- change keeps its place and its vector.
create table iu_core.search_chunk (
  chunk_no integer generated always as identity primary key,
  chunk_id uuid not null unique,
  workspace_id uuid not null,
  unit_id uuid references iu_core.information_unit (unit_id),
  document_id uuid references iu_core.kb_document (document_id),
  unit_version_id uuid references iu_core.unit_version (unit_version_id),
  content_hash_at_embedding text not null, -- of the whole text that it was taken from
  position smallint not null,
  -- Characters of the body, half-open.
  from_char integer not null,
  to_char integer not null,
  text_hash bytea not null,
  language text not null,
  lexeme_ids integer[] not null,
  lexeme_counts smallint[] not null,
  length integer not null,
  -- With positions: for phrases.
  words tsvector not null,
  constraint search_chunk_unit_or_document check (num_nonnulls(unit_id, document_id) = 1),
  constraint search_chunk_within_version check ((unit_id is null) = (unit_version_id is null))
);
create index search_chunk_unit on iu_core.search_chunk (unit_id) where unit_id is not null;
create index search_chunk_document on iu_core.search_chunk (document_id) where document_id is not null;

-- Words of a workspace: one tenant's words say nothing about another's, and its queries read its own lists only.
create table iu_core.search_lexeme (
  lexeme_id integer generated always as identity primary key,
  workspace_id uuid not null,
  lexeme text collate "C" not null,
  chunks integer not null default 0,
  constraint search_lexeme_once unique (workspace_id, lexeme)
);
create table iu_core.search_posting (
  lexeme_id integer not null,
  chunk_no integer not null,
  count smallint not null,
  length integer not null, -- of the chunk: scoring needs nothing else
  primary key (lexeme_id, chunk_no)
);
create table iu_core.search_statistics (
  workspace_id uuid primary key,
  chunks integer not null,
  words bigint not null
);

-- What a store holds or is about to: written before the store is, so that nothing is there that nobody knows of.
create table iu_core.search_point (
  collection text not null references iu_core.search_collection (collection),
  chunk_id uuid not null,
  unit_id uuid,
  document_id uuid,
  text_hash bytea not null,
  generation bigint not null, -- of the outbox row
  -- refused: by the embedder of a collection that is being built, which does not wait for it.
  state text not null constraint search_point_state_known check (state in ('writing', 'written', 'refused', 'gone')),
  vector bytea, -- float32, little-endian; in the store `postgres` only
  tx xid8 not null default pg_current_xact_id(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (collection, chunk_id),
  constraint search_point_vector_when_written check (vector is null or state = 'written')
);
create index search_point_tx on iu_core.search_point (tx);
create index search_point_unit on iu_core.search_point (unit_id) where unit_id is not null;
create index search_point_document on iu_core.search_point (document_id) where document_id is not null;
create index search_point_gone on iu_core.search_point (changed_at) where state = 'gone';

-- What the paid embedder cost, a day.
create table iu_core.search_cost (
  day date not null,
  embedder text not null,
  model text not null,
  requests bigint not null default 0,
  tokens bigint not null default 0,
  primary key (day, embedder, model)
);

-- Where a document comes from. One that was only cut is not searched itself: its pieces are. One of the knowledge base that was
-- there before is, beside the units that were cut from it.
alter table iu_core.kb_document add column origin text not null default 'cut'
  constraint kb_document_origin_known check (origin in ('cut', 'knowledge_base'));

-- The section in which the document had the piece when it was cut last, '' if in none; NULL: it was cut before this was kept. A unit
-- that is elsewhere was put there by people.
alter table iu_core.kb_unit_map add column parent_address text;

-- The guards of a unit ask it. As a constraint its 27 constants were read anew for every statement: 7 % of the birth of a unit.
alter table iu_core.information_unit drop constraint information_unit_profile_without_core;

-- What we know of a document of the old knowledge base in search: its points carry no hash, so this is our own record.
create table iu_core.search_document_sync (
  document_id uuid primary key references iu_core.kb_document (document_id),
  -- updated_at and hash of the document as it was projected.
  document_updated_at timestamptz not null,
  content_hash text not null,
  synced_at timestamptz not null default clock_timestamp()
);

-- Switches of the migration from the old knowledge base, in order; phase 0, the mapping, only reads and has none. Open on a new
-- database: there is no old one to protect.
insert into iu_core.dot_config (key, value, description) values
  ('search.phase_1.enabled', 'true', 'units are projected into a collection of their own'),
  ('search.phase_2.enabled', 'true', 'search asks units and the old knowledge base, each thing once'),
  ('search.phase_3.enabled', 'true', 'units are divided where their text does, not every 4,000 characters');

-- Nobody reads the projection but through functions; the worker and back-end code read all of it.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_generation', 'search_collection', 'search_chunk', 'search_lexeme', 'search_posting',
                                 'search_statistics', 'search_point', 'search_cost', 'search_document_sync'] loop
    execute format('alter table iu_core.%I enable row level security', v_table);
    execute format('create policy %I on iu_core.%I for select to service_role, dot_executor, vector_worker using (true)',
                   v_table || '_service_reads', v_table);
    execute format('grant select on iu_core.%I to service_role, dot_executor, vector_worker', v_table);
  end loop;
end $$;
