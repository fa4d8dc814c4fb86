-- Whether a manifest has the form that docs/reference/mark-manifest.schema.json describes: problems as fn_mark_manifest_check gives
-- them. Internal.
create or replace function iu_core.fn_mark_manifest_form(p_manifest jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  d jsonb := p_manifest -> 'document';
  v_pieces jsonb := p_manifest -> 'pieces';
  v_problem text;
begin
  v_problem := case
    when jsonb_typeof(p_manifest) is distinct from 'object' then 'It is not a JSON object'
    when p_manifest ->> 'schema' is distinct from 'stagedoor.mark_manifest/1' then 'schema is not stagedoor.mark_manifest/1'
    when p_manifest - array['schema', 'document', 'pieces'] <> '{}' then 'It has members that are none of schema, document, pieces'
    when jsonb_typeof(d) is distinct from 'object' then 'document is not an object'
    when d - array['source_ref', 'title', 'language', 'content_hash', 'bytes'] <> '{}'
      then 'document has members that are none of source_ref, title, language, content_hash, bytes'
    when concat_ws(' ', jsonb_typeof(d -> 'source_ref'), jsonb_typeof(d -> 'title'), jsonb_typeof(d -> 'language'),
                   jsonb_typeof(d -> 'content_hash'), jsonb_typeof(d -> 'bytes')) <> 'string string string string number'
      then 'document lacks a member, or one is of another type'
    when d ->> 'source_ref' !~ '\S' or length(d ->> 'source_ref') > 2000 then 'document.source_ref is blank or too long'
    when d ->> 'title' !~ '\S' or length(d ->> 'title') > 500 then 'document.title is blank or too long'
    when d ->> 'language' !~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' then 'document.language is not a language tag'
    when d ->> 'content_hash' !~ '^[0-9a-f]{64}$' then 'document.content_hash is not a SHA-256 in hex'
    when d ->> 'bytes' !~ '^[1-9][0-9]{0,8}$' then 'document.bytes is not a length'
    when jsonb_typeof(v_pieces) is distinct from 'array' then 'pieces is not an array'
    when jsonb_array_length(v_pieces) not between 1 and 10000 then 'There must be between 1 and 10,000 pieces'
  end;
  if v_problem is not null then
    return jsonb_build_array(jsonb_build_object('code', 'schema', 'message', v_problem));
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('code', 'schema', 'piece', f.piece, 'message', f.problem) order by f.number), '[]')
      from (
        select n.number, case when jsonb_typeof(p -> 'address') = 'string' then left(p ->> 'address', 400) else n.number::text end as piece, c.problem
          from jsonb_array_elements(v_pieces) with ordinality as n (p, number),
               lateral (select case
                 when jsonb_typeof(p) <> 'object' then 'It is not an object'
                 when p - array['position', 'address', 'parent', 'kind', 'title', 'from', 'to', 'hash', 'topics'] <> '{}'
                   then 'It has members that are none of position, address, parent, kind, title, from, to, hash, topics'
                 when concat_ws(' ', jsonb_typeof(p -> 'position'), jsonb_typeof(p -> 'address'), jsonb_typeof(p -> 'kind'),
                                jsonb_typeof(p -> 'title'), jsonb_typeof(p -> 'from'), jsonb_typeof(p -> 'to'), jsonb_typeof(p -> 'hash'),
                                jsonb_typeof(p -> 'topics')) <> 'number string string string number number string array'
                      or coalesce(jsonb_typeof(p -> 'parent'), '') not in ('string', 'null')
                   then 'It lacks a member, or one is of another type'
                 when p ->> 'position' !~ '^[1-9][0-9]{0,8}$' then 'position is not a whole number from 1'
                 when p ->> 'address' !~ '^[a-z0-9][a-z0-9_.-]*(/[a-z0-9][a-z0-9_.-]*)+$' or length(p ->> 'address') > 380
                   then 'address is not a path such as handbook/leave of a–z, 0–9 and _.-, at most 380 characters'
                 when p ->> 'parent' !~ '^[a-z0-9][a-z0-9_.-]*(/[a-z0-9][a-z0-9_.-]*)+$' or length(p ->> 'parent') > 380
                   then 'parent is neither an address nor null'
                 when p ->> 'title' !~ '\S' or length(p ->> 'title') > 500 then 'title is blank or too long'
                 when p ->> 'from' !~ '^(0|[1-9][0-9]{0,8})$' or p ->> 'to' !~ '^[1-9][0-9]{0,8}$' then 'from and to are not byte offsets'
                 when p ->> 'hash' !~ '^[0-9a-f]{64}$' then 'hash is not a SHA-256 in hex'
                 when p -> 'topics' <> '[]'
                      and (jsonb_array_length(p -> 'topics') > 100
                           or exists (select from jsonb_array_elements(p -> 'topics') t
                                       where jsonb_typeof(t) <> 'string' or t #>> '{}' !~ '^[a-z0-9][a-z0-9_.-]{0,62}$')
                           or (select count(distinct t) <> count(*) from jsonb_array_elements(p -> 'topics') t))
                   then 'topics is not a list of distinct labels'
               end as problem) c
         where c.problem is not null
         order by n.number limit 100) f);
end $$;
