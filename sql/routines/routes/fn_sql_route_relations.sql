-- A table with its partitions and children at any depth. A statement fires the triggers of the table that it names only:
-- who writes a partition directly passes the parent's by. Internal.
create or replace function iu_core.fn_sql_route_relations(p_root regclass) returns setof regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive tree (relation) as (
    select p_root::oid
    union
    select i.inhrelid from tree join pg_inherits i on i.inhparent = tree.relation
  )
  select relation::regclass from tree order by relation <> p_root::oid, relation
$$;
