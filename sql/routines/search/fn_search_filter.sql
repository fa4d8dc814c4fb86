-- Filters of a query, checked, as conditions: on a unit u, on a document d, and on a chunk c of either; $1 is the workspace, $2
-- the filters. Values are never part of the text. A condition that nothing can meet is `false`. Internal.
--   topic, lifecycle, kind, language, source   one, or an array of which any will do
--   profile     an object that the unit's profile contains
--   edge        {type, target}: an edge of this type from the unit, to this address, id or reference; one of them may be left out
--   container   address or id: it, and all that is in it at any depth
-- What is deleted or retired is never found, what was superseded only by asking for it.
create or replace function iu_core.fn_search_filter(p_filters jsonb, out units text, out documents text, out chunks text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{topic,lifecycle,kind,profile,edge,container,source,language}';
  v_lists constant text[] := '{topic,lifecycle,kind,source,language}';
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
    from (values ('lifecycle', array['draft', 'enacted', 'superseded']), ('source', array['unit', 'document'])) as known (key, values)
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
                                 or e.to_unit_id = (select iu_core.fn_unit_named($1, $2 #>> '{edge,target}'))))$c$ else '' end
    || case when v_filters ? 'container' then
         $c$ and u.unit_id = any (array(select iu_core.fn_search_inside($1, $2 ->> 'container')))$c$ else '' end
    || case when v_filters ? 'source' and not iu_core.fn_search_filter_values(v_filters, 'source') ? 'unit' then ' and false' else '' end;
  documents := $c$d.workspace_id = $1 and d.deleted_at is null and d.origin = 'knowledge_base'$c$
    -- Documents have none of these.
    || case when v_filters ?| '{topic,lifecycle,kind,profile,edge,container}' then ' and false' else '' end
    || case when v_filters ? 'source' and not iu_core.fn_search_filter_values(v_filters, 'source') ? 'document' then ' and false' else '' end;
  -- English is asked for by `en`, whether it is British or not.
  chunks := case when v_filters ? 'language' then
         $c$exists (select from jsonb_array_elements_text(iu_core.fn_search_filter_values($2, 'language')) as l
                     where c.language = l or starts_with(c.language, l || '-'))$c$ else 'true' end;
end $$;
