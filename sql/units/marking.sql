-- Manifests of marked documents, and the preview of a cut.

-- Raises for a manifest that could not be cut. The first part is the manifest, the second the text that it divides. p_alone:
-- the manifest is the only part, and its document is given to the cut; until then only its form is checked. Called when it is
-- staged, so that nobody reviews an unusable manifest, and again when it is cut. Internal.
create or replace function iu_core.fn_mark_manifest_require(
  p_manifest jsonb,
  p_source text,
  p_workspace_id uuid,
  p_alone boolean default false
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems jsonb;
  v_reason text;
begin
  v_problems := case
    when p_workspace_id is null then '[{"code": "workspace", "message": "Units belong to a workspace, this record to none"}]'
    when p_manifest is null then '[{"code": "schema", "message": "Part 0 is not a JSON part called manifest"}]'
    when p_source is null and p_alone then iu_core.fn_mark_manifest_form(p_manifest)
    when p_source is null then '[{"code": "schema", "message": "Part 1 is not a text part called source"}]'
    else iu_core.fn_mark_manifest_check(p_manifest, p_source, p_workspace_id) end;
  if v_problems = '[]' then
    return;
  end if;
  v_reason := concat_ws(': ', v_problems -> 0 ->> 'piece', v_problems -> 0 ->> 'message')
    || case when jsonb_array_length(v_problems) > 1 then format(', and %s more', jsonb_array_length(v_problems) - 1) else '' end;
  raise exception using
    errcode = 'SD909',
    message = 'The manifest cannot be used: ' || v_reason,
    hint = case when v_problems @> '[{"code": "address_taken"}]'
             then 'If it is that document, mark it under the source_ref that it was cut with (--source-ref); if it is another one, give it an address of its own (--address).'
             else 'docs/reference/mark-manifest.schema.json says what a manifest holds; `stagedoor mark FILE` makes a good one.' end,
    detail = json_build_object('reason', v_reason, 'problems', jsonb_path_query_array(v_problems, '$[0 to 19]'))::text;
end $$;

-- The problems of a manifest and its source: [{code, piece?, message}], empty if there are none. First its form; only a
-- well-formed manifest is compared with the source, the vocabulary and existing addresses. Internal. src/units/manifest.ts
-- checks the same without a database where possible.
create or replace function iu_core.fn_mark_manifest_check(p_manifest jsonb, p_source text, p_workspace_id uuid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- Nobody has statistics of a manifest: its pieces are joined by hashing, units are looked up by their address.
set enable_nestloop = off
set jit = off
as $$
declare
  v_problems jsonb := iu_core.fn_mark_manifest_form(p_manifest);
  v_document jsonb := p_manifest -> 'document';
  v_document_id uuid;
  v_bytes bytea;
begin
  if v_problems <> '[]' then
    return v_problems;
  end if;
  v_bytes := convert_to(p_source, 'UTF8');
  if v_bytes is null or (v_document ->> 'bytes')::bigint <> octet_length(v_bytes)
     or v_document ->> 'content_hash' <> encode(sha256(v_bytes), 'hex') then
    return '[{"code": "source_differs", "message": "It was made for another text than this; mark the document as it is now, and change that"}]';
  end if;
  select document_id into v_document_id from iu_core.kb_document
   where workspace_id = p_workspace_id and source_ref = v_document ->> 'source_ref';
  return (
    with piece as materialized (
      select p.*, n.number, lag(p."to", 1, 0) over (order by n.number) as before_ends
        from jsonb_array_elements(p_manifest -> 'pieces') with ordinality as n (value, number),
             lateral jsonb_to_record(n.value) as p ("position" integer, address text, parent text, kind text, "from" integer, "to" integer,
                                                    hash text, topics jsonb)
    ), named as materialized (
      select address, min(number) as number from piece group by address
    ), ranged as materialized (
      select p.*,
             p."from" >= p."to" or p."to" > octet_length(v_bytes) as is_outside,
             p."from" < octet_length(v_bytes) and get_byte(v_bytes, p."from") & 192 = 128
               or p."to" < octet_length(v_bytes) and get_byte(v_bytes, p."to") & 192 = 128 as is_inside_character
        from piece p
    ), found as (
      select p.number, p.address,
             case
               when p."position" <> p.number then array['position', format('It is piece %s, and says %s', p.number, p."position")]
               when f.number < p.number then array['address_twice', 'Another piece has this address']
               when p.parent is not null and coalesce(o.number >= p.number, true)
                 then array['parent_unknown', format('No earlier piece has the address of its parent, %s', p.parent)]
               when p.is_outside then array['range', format('%s to %s is no range within the %s bytes of the source', p."from", p."to", octet_length(v_bytes))]
               when p."from" < p.before_ends
                 then array['overlap', format('It begins at %s, before the piece before it ends, at %s', p."from", p.before_ends)]
               when p."to" - p."from" > 1048576 then array['too_long', 'A piece has at most 1 MiB']
               when p.is_inside_character then array['range', format('%s or %s is in the middle of a character', p."from", p."to")]
               when convert_from(substr(v_bytes, p."from" + 1, p."to" - p."from"), 'UTF8') !~ '\S' then array['blank', 'There is nothing in it']
               when encode(sha256(substr(v_bytes, p."from" + 1, p."to" - p."from")), 'hex') <> p.hash
                 then array['hash_differs', 'The hash is not that of its bytes']
               when not exists (select from iu_core.unit_kind k where k.unit_kind = p.kind) then array['kind_unknown', format('%L is not a kind of unit', p.kind)]
               when t.unknown is not null then array['topic_unknown', 'Not in the topic vocabulary, or retired: ' || t.unknown]
               when a.unit_id is not null then array['address_taken', 'The address belongs to a unit that is no piece of this document']
             end as problem
        from ranged p
        join named f on f.address = p.address
        left join named o on o.address = p.parent
        left join lateral (
          select string_agg(l.label, ', ') as unknown from jsonb_array_elements_text(p.topics) as l (label)
           where not exists (select from iu_core.topic_vocabulary v
                              where v.topic_label = l.label and v.retired_at is null
                                and (v.workspace_id is null or v.workspace_id = p_workspace_id))) t on p.topics <> '[]'
        left join lateral (
          select u.unit_id from iu_core.information_unit u
           where u.workspace_id = p_workspace_id and u.canonical_address = p.address
             and not exists (select from iu_core.kb_unit_map m
                              where m.document_id = v_document_id and m.unit_id = u.unit_id offset 0) offset 0) a on true
      union all
      select 0, null,
             case when min(split_part(address, '/', 1)) <> max(split_part(address, '/', 1))
                    then array['address_roots', 'The addresses do not all begin with the same segment'] end
        from piece
      union all
      -- The whole document is a unit, too.
      select 0, null, array['address_taken', format('The address %s belongs to a unit that comes from %s, which is not this document',
                                          r.canonical_address, r.source_ref)]
        from iu_core.information_unit r
       where r.workspace_id = p_workspace_id and r.canonical_address = (select split_part(min(address), '/', 1) from piece)
         and r.source_ref <> v_document ->> 'source_ref'
    )
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('code', f.problem[1], 'piece', f.address, 'message', f.problem[2]))
                              order by f.number), '[]')
      from (select * from found where problem is not null order by number limit 100) f);
end $$;

-- Checks a manifest against the form in docs/reference/mark-manifest.schema.json; returns problems as fn_mark_manifest_check
-- does. Internal.
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

-- The text of a document that is in no piece: {bytes, parts: [{from, to, first_line, last_line}]}, the first 50 parts; NULL if
-- every part is in a piece. Front matter and horizontal rules do not count. For readers of a manifest: it works on its
-- arguments only.
create or replace function iu_core.fn_mark_left_out(p_source bytea, p_pieces jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
set jit = off
as $$
  with piece as (
    select p."from", p."to" from jsonb_to_recordset(p_pieces) as p ("from" integer, "to" integer)
  ), gap as (
    select lag(p."to", 1, 0) over (order by p."from") as start, p."from" as ends from piece p
    union all
    select max(p."to"), octet_length(p_source) from piece p
  ), gap_text as materialized (
    select g.start, convert_from(substr(p_source, g.start + 1, g.ends - g.start), 'UTF8') as text from gap g where g.ends > g.start
  ), without_front_matter as (
    select s.start, s.text, case when s.start = 0 then regexp_replace(s.text, '^---[ \t]*?\n.*?\n---[ \t]*?(?:\n|$)', '') else s.text end as rest
      from gap_text s where s.text ~ '\S'
  ), trimmed as materialized (
    select t.start + octet_length(left(t.text, length(t.text) - length(ltrim(t.rest, E' \t\n')))) as "from",
           t.start + octet_length(rtrim(t.text, E' \t\n')) as "to"
      from without_front_matter t
     where regexp_replace(t.rest, '^ {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$', '', 'gn') ~ '\S'
  )
  select jsonb_build_object('bytes', sum(t."to" - t."from"), 'parts', (
           select jsonb_agg(jsonb_build_object('from', f."from", 'to', f."to", 'first_line', f.line, 'last_line', f.line
                            + regexp_count(convert_from(substr(p_source, f."from" + 1, f."to" - f."from"), 'UTF8'), '\n')) order by f."from")
             from (select x.*, 1 + regexp_count(convert_from(substr(p_source, 1, x."from"), 'UTF8'), '\n') as line
                     from trimmed x order by x."from" limit 50) f))
    from trimmed t having count(*) > 0
$$;

grant execute on function iu_core.fn_mark_left_out(bytea, jsonb) to
  authenticated, stagedoor_reviewer, stagedoor_agent, service_role, dot_executor;
