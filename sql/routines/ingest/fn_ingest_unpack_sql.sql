-- The members of an object `p_object` (an expression) as typed columns, as SQL: what to select, and what to join for it.
-- p_columns: {"column": the member, "type", "slot": what its column is called}.
-- One by one where a value is its text: as a record they take half as long again. As a record where it is not (an array, a
-- json), and where they are many: a large object is decompressed anew for each.
-- Where there are texts instead (`p_texts`, an array whose members are `p_text_columns`), a member is taken from there. Internal.
create or replace function iu_core.fn_ingest_unpack_sql(
  p_object text, p_columns jsonb, out selected text, out joined text,
  p_texts text default null, p_text_columns jsonb default null
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text_columns is not null then
    select string_agg(format('coalesce(%s[%s], %s ->> %L)::%s as %I', p_texts, coalesce(t.ordinality, 0), p_object, c."column", c.type,
                             c.slot), ', ' order by c.ordinality), ''
      into selected, joined
      from rows from (jsonb_to_recordset(p_columns) as ("column" text, type text, slot text)) with ordinality as c
      left join rows from (jsonb_to_recordset(p_text_columns) as ("column" text)) with ordinality as t using ("column");
    return;
  end if;
  if jsonb_array_length(p_columns) <= 24 and not exists (
       select from jsonb_to_recordset(p_columns) as c (type text), pg_type t
        where t.oid = c.type::regtype and (t.typtype not in ('b', 'e') or t.typcategory = 'A' or t.typname in ('json', 'jsonb'))) then
    select string_agg(format('(%s ->> %L)::%s as %I', p_object, c."column", c.type, c.slot), ', '), ''
      into selected, joined
      from jsonb_to_recordset(p_columns) as c ("column" text, type text, slot text);
    return;
  end if;
  -- A name of more than 63 bytes would be cut off, and its member not found.
  select string_agg(case when octet_length(c."column") > 63 then format('(%s ->> %L)::%s as %I', p_object, c."column", c.type, c.slot)
                         else format('x.%I as %I', c."column", c.slot) end, ', '),
         format(', jsonb_to_record(%s) as x (%s)', p_object,
                string_agg(format('%I %s', c."column", c.type), ', ') filter (where octet_length(c."column") <= 63))
    into selected, joined
    from jsonb_to_recordset(p_columns) as c ("column" text, type text, slot text);
end $$;
