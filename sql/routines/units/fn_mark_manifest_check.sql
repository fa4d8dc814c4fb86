-- What is wrong with a manifest and its source: [{code, piece?, message}], empty if nothing. Its form first; only of a manifest of
-- the right form is asked whether it fits the source, the vocabulary and the addresses that are taken. Internal.
-- src/units/manifest.ts says the same of what needs no database.
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
