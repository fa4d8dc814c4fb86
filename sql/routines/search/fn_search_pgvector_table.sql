-- The table of a collection in pgvector, as text for dynamic SQL, after a look whether it may be used. Internal. The name is ours
-- and the collection's; the extension may be in any schema, so its type and operators are named with theirs.
create or replace function iu_core.fn_search_pgvector_table(
  p_collection text, out relation text, out extension_schema text, out extension_version integer[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.search_collection := iu_core.fn_search_collection_writable(p_collection);
begin
  if c.store <> 'pgvector' or length(p_collection) > 40 then
    raise exception using
      errcode = 'SD001', message = format('The vectors of %s are kept in %s, not in pgvector, or its name is too long', p_collection, c.store);
  end if;
  select quote_ident(n.nspname), string_to_array(substring(e.extversion from '^[0-9.]+'), '.')::integer[]
    into extension_schema, extension_version
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
  if extension_schema is null then
    raise exception using
      errcode = '0A000',
      message = 'this database has no extension vector',
      hint = 'An administrator runs CREATE EXTENSION vector in it, after installing pgvector on the server.';
  end if;
  relation := format('iu_core.%I', 'search_vectors_' || p_collection);
end $$;
