-- The text of a document that is in no piece: {bytes, parts: [{from, to, first_line, last_line}]}, the first 50 parts; NULL if all of it
-- is in one. Front matter and rules across the page are no text. For whoever reads a manifest: it is given what it is asked about.
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
  ), said as materialized (
    select g.start, convert_from(substr(p_source, g.start + 1, g.ends - g.start), 'UTF8') as text from gap g where g.ends > g.start
  ), told as (
    select s.start, s.text, case when s.start = 0 then regexp_replace(s.text, '^---[ \t]*?\n.*?\n---[ \t]*?(?:\n|$)', '') else s.text end as rest
      from said s where s.text ~ '\S'
  ), trimmed as materialized (
    select t.start + octet_length(left(t.text, length(t.text) - length(ltrim(t.rest, E' \t\n')))) as "from",
           t.start + octet_length(rtrim(t.text, E' \t\n')) as "to"
      from told t
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
