-- Filters: what a query may find.

-- The ids of all chunks that pass the filters, for a store that searches only these; NULL if there are more than p_most: then
-- it is cheaper to fetch more and to discard.
create or replace function iu_core.fn_search_allowed_ids(p_workspace_id uuid, p_filters jsonb, p_most integer default 10000) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_chunks integer[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_chunks := iu_core.fn_search_allowed(p_workspace_id, p_filters, p_most);
  return case when v_chunks is not null
              then array(select c.chunk_id from iu_core.search_chunk c where c.chunk_no = any (v_chunks) order by c.chunk_id) end;
end $$;

grant execute on function iu_core.fn_search_allowed_ids(uuid, jsonb, integer) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Which of these chunks of units and rows pass the filters: for results of a store, if too many chunks pass to list them
-- (fn_search_allowed_ids).
create or replace function iu_core.fn_search_filter_chunks(p_workspace_id uuid, p_filters jsonb, p_chunk_ids uuid[]) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record;
  v_passing uuid[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_condition := iu_core.fn_search_filter(p_filters);
  perform iu_core.fn_search_filter_check_tables(p_workspace_id, p_filters);
  execute format(
    'select array_agg(c.chunk_id) from iu_core.search_chunk c
      where c.chunk_id = any ($3) and %s
        and (exists (select from iu_core.information_unit u where u.unit_id = c.unit_id and %s)
             or exists (select from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                         where r.row_id = c.row_id and %s))', v_condition.chunks, v_condition.units, v_condition.rows)
    into v_passing using p_workspace_id, p_filters, p_chunk_ids;
  return coalesce(v_passing, '{}');
end $$;

grant execute on function iu_core.fn_search_filter_chunks(uuid, jsonb, uuid[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Which of these documents, by id or by source, pass the filters: for documents found by the vectors of the old collection,
-- which has neither our workspaces nor our filters.
create or replace function iu_core.fn_search_filter_documents(p_workspace_id uuid, p_filters jsonb, p_names text[]) returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record;
  v_passing text[];
begin
  perform iu_core.require_member(p_workspace_id, 'read');
  v_condition := iu_core.fn_search_filter(p_filters);
  -- A document is in one language: what holds for a chunk holds for it.
  execute format(
    'select array_agg(distinct n.name) from unnest($3) as n (name)
      cross join lateral (select d.* from iu_core.kb_document d where d.workspace_id = $1 and d.source_ref = n.name
                           union all
                          select d.* from iu_core.kb_document d
                           where d.document_id = case when n.name ~* $4 then n.name::uuid end offset 0) as d
      cross join lateral (select d.language) as c
      where %s and %s', v_condition.documents, v_condition.chunks)
    into v_passing using p_workspace_id, p_filters, p_names, '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$';
  return coalesce(v_passing, '{}');
end $$;

grant execute on function iu_core.fn_search_filter_documents(uuid, jsonb, text[]) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The numbers of the chunks that pass the filters; NULL if there are more than p_most. Internal.
create or replace function iu_core.fn_search_allowed(p_workspace_id uuid, p_filters jsonb, p_most integer) returns integer[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_condition record := iu_core.fn_search_filter(p_filters);
  v_sources uuid[];
  v_chunks integer[];
begin
  perform iu_core.fn_search_filter_check_tables(p_workspace_id, p_filters);
  -- Sources first: that there are too many is soon known, before a single chunk is read.
  execute format('select array(select u.unit_id from iu_core.information_unit u where %s limit $3)
                         || array(select d.document_id from iu_core.kb_document d where %s limit $3)
                         || array(select r.row_id from iu_core.search_row r join iu_core.search_table t on t.table_id = r.table_id
                                   where %s limit $3)',
                 v_condition.units, v_condition.documents, v_condition.rows)
    into v_sources using p_workspace_id, p_filters, p_most + 1;
  if cardinality(v_sources) > p_most then
    return null;
  end if;
  execute format('select array(select c.chunk_no from unnest($1) as s (source_id)
                                cross join lateral (select * from iu_core.search_chunk x where x.unit_id = s.source_id
                                                     union all
                                                    select * from iu_core.search_chunk x where x.document_id = s.source_id
                                                     union all
                                                    select * from iu_core.search_chunk x where x.row_id = s.source_id offset 0) as c
                                where %s limit $3)', v_condition.chunks)
    into v_chunks using v_sources, p_filters, p_most + 1;
  return case when cardinality(v_chunks) <= p_most then v_chunks end;
end $$;

-- Checks the filters of a query and returns them as conditions: on a unit u, on a document d, on a row r of a table t, and on a chunk c
-- of any of them; $1 is the workspace, $2 the filters. Values are never part of the text. A condition that nothing can meet is `false`. Internal.
--   topic, lifecycle, kind, language, source   one value, or an array of alternatives
--   profile     an object that the unit's profile contains
--   edge        {type, target}: an edge of this type from the unit, to this address, id or reference; one of them may be left out
--   container   address or id: that unit, and everything in it at any depth
--   without     an array of words and phrases: what has one of them anywhere in its text is not found. fn_search_lexical and
--               fn_search_pending add what the query excludes
--   table       a table in search, or several; columns: {column: value or array of values}, as its rows have them. Both only of rows
-- Deleted and retired units are never found, superseded ones only on request.
create or replace function iu_core.fn_search_filter(p_filters jsonb, out units text, out documents text, out chunks text, out rows text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{topic,lifecycle,kind,profile,edge,container,source,language,table,columns,without}';
  v_lists constant text[] := '{topic,lifecycle,kind,source,language,table,without}';
  v_filters jsonb := jsonb_strip_nulls(coalesce(p_filters, '{}'));
  v_wrong text;
begin
  if jsonb_typeof(v_filters) <> 'object' then
    raise exception using errcode = 'SD001', message = format('Filters must be an object with any of %s', array_to_string(v_known, ', '));
  end if;
  select k into v_wrong from jsonb_object_keys(v_filters) as k where k <> all (v_known) order by k limit 1;
  if v_wrong is not null then
    raise exception using errcode = 'SD001',
      message = format('There is no filter %s; there are %s', v_wrong, array_to_string(v_known, ', '));
  end if;
  select k into v_wrong from unnest(v_lists) as k
   where v_filters ? k
     and jsonb_path_exists(v_filters -> k, 'strict $ ? (@.type() != "string" && (@.type() != "array" || exists (@[*] ? (@.type() != "string"))))')
   limit 1;
  if v_wrong is not null then
    raise exception using errcode = 'SD001', message = format('The filter %s must be a text or an array of texts', v_wrong);
  end if;
  select format('%L is none that the filter %s knows: %s', asked.value, known.key, array_to_string(known.values, ', ')) into v_wrong
    from (values ('lifecycle', array['draft', 'enacted', 'superseded']), ('source', array['unit', 'document', 'row'])) as known (key, values)
   cross join lateral jsonb_array_elements_text(iu_core.fn_search_filter_values(v_filters, known.key)) as asked (value)
   where asked.value <> all (known.values) limit 1;
  if v_wrong is not null then
    raise exception using errcode = 'SD001', message = v_wrong;
  end if;
  if v_filters ? 'profile' and jsonb_typeof(v_filters -> 'profile') <> 'object' then
    raise exception using errcode = 'SD001', message = 'The filter profile must be an object';
  end if;
  if v_filters ? 'edge' and (jsonb_typeof(v_filters -> 'edge') <> 'object' or not v_filters -> 'edge' ?| '{type,target}'
                             or jsonb_path_exists(v_filters -> 'edge', '$.keyvalue() ? (@.key != "type" && @.key != "target")')
                             or jsonb_path_exists(v_filters -> 'edge', 'strict $.* ? (@.type() != "string")')) then
    raise exception using errcode = 'SD001', message = 'The filter edge must be {"type": …}, {"target": …} or both';
  end if;
  if v_filters ? 'container' and jsonb_typeof(v_filters -> 'container') <> 'string' then
    raise exception using errcode = 'SD001', message = 'The filter container must be an address or an id';
  end if;
  if v_filters ? 'columns' and (jsonb_typeof(v_filters -> 'columns') <> 'object'
                                or jsonb_path_exists(v_filters -> 'columns', 'strict $.* ? (@.type() != "string" && (@.type() != "array" || exists (@[*] ? (@.type() != "string"))))')) then
    raise exception using errcode = 'SD001', message = 'The filter columns must be an object of columns, each with a text or an array of texts';
  end if;

  units := 'u.workspace_id = $1 and u.deleted_at is null and u.lifecycle_status '
    || case when v_filters ? 'lifecycle'
            then $c$= any (array(select jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'lifecycle'))))$c$
            else $c$in ('draft', 'enacted')$c$ end
    || case when v_filters ? 'topic' then
         $c$ and u.content_profile ? 'topic_labels' and u.content_profile -> 'topic_labels'
             ?| array(select jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'topic')))$c$ else '' end
    || case when v_filters ? 'kind' then
         $c$ and u.unit_kind = any (array(select jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'kind'))))$c$ else '' end
    || case when v_filters ? 'profile' then $c$ and u.content_profile @> ($2 -> 'profile')$c$ else '' end
    || case when v_filters ? 'edge' then
         $c$ and exists (select from iu_core.universal_edges e
                          where e.from_unit_id = u.unit_id and ($2 #>> '{edge,type}' is null or e.edge_type = $2 #>> '{edge,type}')
                            and ($2 #>> '{edge,target}' is null or e.target_ref = $2 #>> '{edge,target}'
                                 or e.to_unit_id = (select iu_core.fn_unit_find($1, $2 #>> '{edge,target}'))))$c$ else '' end
    || case when v_filters ? 'container' then
         $c$ and u.unit_id = any (array(select iu_core.fn_search_container_units($1, $2 ->> 'container')))$c$ else '' end
    -- Hashed once for a query.
    || case when v_filters ? 'without' then
         $c$ and u.unit_id not in (select iu_core.fn_search_sources_with($1, $2 -> 'without'))$c$ else '' end
    || case when v_filters ? 'source' and not iu_core.fn_search_filter_values(v_filters, 'source') ? 'unit' then ' and false' else '' end
    || case when v_filters ?| '{table,columns}' then ' and false' else '' end;
  documents := $c$d.workspace_id = $1 and d.deleted_at is null and d.origin = 'knowledge_base'$c$
    -- Documents have none of these.
    || case when v_filters ?| '{topic,lifecycle,kind,profile,edge,container,table,columns}' then ' and false' else '' end
    || case when v_filters ? 'without' then
         $c$ and d.document_id not in (select iu_core.fn_search_sources_with($1, $2 -> 'without'))$c$ else '' end
    || case when v_filters ? 'source' and not iu_core.fn_search_filter_values(v_filters, 'source') ? 'document' then ' and false' else '' end;
  -- Only sessions that read each row under the rights of the caller find any.
  rows := case when v_filters ?| '{topic,lifecycle,kind,profile,edge,container}' or not iu_core.fn_search_session_is_ours()
                    or v_filters ? 'source' and not iu_core.fn_search_filter_values(v_filters, 'source') ? 'row' then 'false'
    else $c$r.workspace_id = $1 and r.content_hash is not null and t.state = 'active'$c$
      || case when v_filters ? 'without' then
           $c$ and r.row_id not in (select iu_core.fn_search_sources_with($1, $2 -> 'without'))$c$ else '' end
      || case when v_filters ? 'table' then
           $c$ and (t.code = any (array(select jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'table'))))
                    or format('%I.%I', t.source_schema, t.source_table) = any (array(select jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'table')))))$c$
         else '' end
      || coalesce((select string_agg(format(
           $c$ and r.row_id in (select x.row_id from jsonb_array_elements_text(iu_core.fn_search_filter_values($2 -> 'columns', %1$L)) as v (value)
                                 cross join lateral (select s.row_id from iu_core.search_row s
                                                      where s.filters @> jsonb_build_object(%1$L, v.value) offset 0) as x)$c$, k), '')
                     from jsonb_object_keys(case when v_filters ? 'columns' then v_filters -> 'columns' else '{}' end) as k), '') end;
  -- English is asked for by `en`, whether it is British or not.
  chunks := case when v_filters ? 'language' then
         $c$exists (select from jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'language')) as l
                     where c.language = l or starts_with(c.language, l || '-'))$c$ else 'true' end;
end $$;

-- The filters of a query, with what its text excludes. Internal.
create or replace function iu_core.fn_search_filters_of(p_query text, p_filters jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_filters jsonb := jsonb_strip_nulls(coalesce(p_filters, '{}'));
  v_excluded text[];
begin
  -- Most queries have no minus sign, and are not parsed for it.
  if strpos(p_query, '-') > 0 and jsonb_typeof(v_filters) = 'object' then
    select p.excluded into v_excluded from iu_core.fn_search_parse(p_query) as p;
    if not coalesce(v_filters -> 'without', '[]') @> to_jsonb(v_excluded) then
      return v_filters || jsonb_build_object('without', iu_core.fn_search_filter_values(v_filters, 'without') || to_jsonb(v_excluded));
    end if;
  end if;
  return v_filters;
end $$;

-- Raises for a filter on a table that is not in search, or on a column that no table there has for filters. Internal.
create or replace function iu_core.fn_search_filter_check_tables(p_workspace_id uuid, p_filters jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tables text[] := array(select jsonb_array_elements_text(iu_core.fn_search_filter_values(p_filters, 'table')));
  v_wrong text;
  v_known text[];
begin
  if p_filters is null or not p_filters ?| '{table,columns}' then
    return;
  end if;
  select w into v_wrong from unnest(v_tables) as w
   where not exists (select from iu_core.search_table t
                      where t.state <> 'removed' and w in (t.code, format('%I.%I', t.source_schema, t.source_table))
                        and (t.workspace_id = p_workspace_id or t.workspace_column is not null)) limit 1;
  if v_wrong is not null then
    raise exception using
      errcode = 'SD721', message = format('There is no table %s in search', v_wrong), detail = json_build_object('table', v_wrong)::text;
  end if;
  select coalesce(array_agg(distinct c order by c), '{}') into v_known
    from iu_core.search_table t cross join unnest(t.filter_columns) as c
   where t.state <> 'removed' and (t.workspace_id = p_workspace_id or t.workspace_column is not null)
     and (v_tables = '{}' or t.code = any (v_tables) or format('%I.%I', t.source_schema, t.source_table) = any (v_tables));
  select k into v_wrong from jsonb_object_keys(case jsonb_typeof(p_filters -> 'columns') when 'object' then p_filters -> 'columns' else '{}' end) as k
   where k <> all (v_known) order by k limit 1;
  if v_wrong is not null then
    raise exception using
      errcode = 'SD723',
      message = format('There is no filter column %s; %s', v_wrong,
                       case v_known when '{}' then 'no table in search has any' else 'there are ' || array_to_string(v_known, ', ') end),
      detail = json_build_object('column', v_wrong, 'columns', array_to_string(v_known, ', '))::text;
  end if;
end $$;

-- The values of a filter as an array; a single value becomes an array of one. Internal.
create or replace function iu_core.fn_search_filter_values(p_filters jsonb, p_key text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_filters -> p_key)
           when 'array' then p_filters -> p_key
           when 'string' then jsonb_build_array(p_filters -> p_key)
           else '[]' end;
end $$;

-- The unit with this address or id, and all units in it, at any depth. Internal.
create or replace function iu_core.fn_search_container_units(p_workspace_id uuid, p_container text) returns setof uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_container uuid := iu_core.fn_unit_find(p_workspace_id, p_container);
begin
  if v_container is null then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', p_container),
      detail = json_build_object('unit', p_container)::text;
  end if;
  return query
  with recursive inside as (
    select v_container as unit_id
     union
    select u.unit_id from inside i join iu_core.information_unit u on u.container_id = i.unit_id
  )
  select i.unit_id from inside i;
end $$;

-- Units and documents whose text has one of these words, phrases or beginnings (`word*`), as a text or an array of texts. A unit
-- counts by the text that search has and by a newer one that waits: either may be shown. Internal.
create or replace function iu_core.fn_search_sources_with(p_workspace_id uuid, p_texts jsonb) returns setof uuid
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts text[] := array(select jsonb_array_elements_text(iu_core.fn_search_filter_values(jsonb_build_object('texts', p_texts), 'texts')));
  -- A star after less than two characters, which parses to no prefix either, is ignored.
  v_prefixes text[] := array(select lower(iu_core.fn_search_fold(rtrim(t, '*'))) from unnest(v_texts) as t where t ~ '^[^\s]{2,}\*$');
  v_phrase record;
begin
  return query
  select coalesce(c.unit_id, c.document_id, c.row_id)
    from unnest(v_prefixes) as p (prefix)
    join iu_core.search_lexeme l on l.workspace_id = p_workspace_id and l.lexeme >= p.prefix and l.lexeme < p.prefix || chr(1114111)
    join iu_core.search_posting x on x.lexeme_id = l.lexeme_id
    join iu_core.search_chunk c on c.chunk_no = x.chunk_no
   union all
  select w.unit_id from iu_core.search_pending w cross join unnest(v_prefixes) as p (prefix)
   where w.workspace_id = p_workspace_id
     and w.words @@ ('''' || replace(replace(p.prefix, '\', '\\'), '''', '''''') || ''':*')::tsquery;
  for v_phrase in select * from iu_core.fn_search_phrases(p_workspace_id, array(select t from unnest(v_texts) as t where t !~ '^[^\s]{2,}\*$')) loop
    return query
    select coalesce(c.unit_id, c.document_id, c.row_id)
      from iu_core.search_posting x
      join iu_core.search_chunk c on c.chunk_no = x.chunk_no
     where x.lexeme_id = any (v_phrase.rarest)
       and c.words @@ v_phrase.phrase
     union all
    select p.unit_id
      from iu_core.search_pending p
     where p.workspace_id = p_workspace_id
       and p.words @@ v_phrase.phrase;
  end loop;
end $$;
