-- Foreign keys checked for many inserted rows at once. PostgreSQL asks for the parents of every row by itself: three foreign keys and 100,000
-- rows are 300,000 queries, a sixth of the time of an upload. Here the rows are inserted without these queries; then every distinct
-- parent is locked as PostgreSQL would lock it, and all must be there. CHECK, NOT NULL, unique and exclusion constraints hold as always.
-- Where it is not certain that both ways do the same, rows are inserted as always.

-- Whether rows of a table may be inserted with their foreign keys checked at once: an administrator has opened the gate and granted the right,
-- inserting fires nothing but checks of foreign keys, and every parent can be read and locked. Internal.
create or replace function iu_core.fn_ingest_checks_in_bulk(p_target regclass) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_gate_open('iu_core.bulk_reference_checks_enabled')
     or not has_parameter_privilege('session_replication_role', 'set')
     or current_setting('session_replication_role') <> 'origin'
     -- Parents are looked for after the rows were inserted, in a snapshot of that moment.
     or current_setting('transaction_isolation') <> 'read committed' then
    return false;
  end if;
  return exists (select from pg_class c where c.oid = p_target and c.relkind = 'r' and not c.relispartition)
     -- In the mode of a replica rules do not apply, and triggers of users and of deferrable unique constraints do not fire.
     and not exists (select from pg_rewrite where ev_class = p_target)
     and not exists (select from pg_trigger g left join pg_constraint k on k.oid = g.tgconstraint
                      where g.tgrelid = p_target and (not g.tgisinternal or k.contype is distinct from 'f'))
     and exists (select from iu_core.fn_ingest_bulk_references(p_target))
     and not exists (select from iu_core.fn_ingest_bulk_references(p_target) r where not r.is_checkable);
end $$;

-- The foreign keys of a table that PostgreSQL checks when a row is inserted. is_checkable: all parents can be read and locked, and the columns
-- are compared by one collation. Internal.
create or replace function iu_core.fn_ingest_bulk_references(p_target regclass)
returns table (name text, referenced regclass, referenced_sql text, columns text[], referenced_columns text[], operators text[], is_checkable boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.conname::text, c.confrelid::regclass,
         -- As PostgreSQL itself asks: only a partitioned table is read with its partitions.
         case t.relkind when 'p' then '' else 'only ' end || iu_core.fn_ingest_table_sql(c.confrelid),
         k.columns, k.referenced_columns, k.operators,
         t.relkind in ('r', 'p') and not row_security_active(t.oid) and has_schema_privilege(t.relnamespace, 'usage')
           -- Locking a row needs the right to update a column.
           and has_any_column_privilege(t.oid, 'update') and k.is_readable and k.same_collation
           and (c.confmatchtype <> 'f' or cardinality(c.conkey) = 1) and to_jsonb(c) ->> 'conperiod' is distinct from 'true'
    from pg_constraint c
    join pg_class t on t.oid = c.confrelid
    cross join lateral (
      select array_agg(a.attname::text order by n.place) as columns, array_agg(b.attname::text order by n.place) as referenced_columns,
             array_agg(format('operator(%I.%s)', s.nspname, o.oprname) order by n.place) as operators,
             bool_and(a.attcollation = b.attcollation) as same_collation,
             bool_and(has_column_privilege(t.oid, b.attnum, 'select')) as is_readable
        from unnest(c.conkey, c.confkey, c.conpfeqop) with ordinality as n (own, other, operator, place)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = n.own
        join pg_attribute b on b.attrelid = c.confrelid and b.attnum = n.other
        join pg_operator o on o.oid = n.operator
        join pg_namespace s on s.oid = o.oprnamespace) k
   where c.conrelid = p_target and c.contype = 'f' and to_jsonb(c) ->> 'conenforced' is distinct from 'false'
     -- Not those that PostgreSQL derives for the partitions of the referenced table.
     and not exists (select from pg_constraint o where o.oid = c.conparentid and o.conrelid = c.conrelid)
$$;

-- Runs one inserting statement, with the first and the last line, without a query for every row, then locks and counts all parents. Returns
-- the number of rows. Raises foreign_key_violation if a parent is not there; the caller finds out which row it is. Internal.
create or replace function iu_core.fn_ingest_insert_in_bulk(p_target regclass, p_sql text, p_first integer, p_last integer) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_columns text := (select string_agg(distinct quote_ident(c), ', ') from iu_core.fn_ingest_bulk_references(p_target) r, unnest(r.columns) c);
  v_reference record;
  v_rows bigint;
  v_parents bigint;
  v_locked bigint;
begin
  drop table if exists pg_temp.ingest_written;
  execute format('create temporary table ingest_written on commit drop as select %s, 0::bigint as "#rows" from %s with no data',
                 v_columns, iu_core.fn_ingest_table_sql(p_target));
  -- What was written, not what was planned: a column may have rounded its value, or filled it by a default.
  perform set_config('session_replication_role', 'replica', true);
  execute format('with written as (%1$s returning %2$s) insert into pg_temp.ingest_written select %2$s, count(*) from written group by %2$s', p_sql, v_columns)
    using p_first, p_last;
  perform set_config('session_replication_role', 'origin', true);
  select coalesce(sum("#rows"), 0) into v_rows from pg_temp.ingest_written;
  for v_reference in
    select r.*, (select string_agg(quote_ident(c), ', ') from unnest(r.columns) c) as listed,
           (select string_agg(format('%I is not null', c), ' and ') from unnest(r.columns) c) as given,
           (select string_agg(format('x.%I %s k.%I', r.referenced_columns[i], r.operators[i], r.columns[i]), ' and ')
              from generate_subscripts(r.columns, 1) i) as matched
      from iu_core.fn_ingest_bulk_references(p_target) r
  loop
    drop table if exists pg_temp.ingest_parent;
    execute format($sql$
      create temporary table ingest_parent on commit drop as
      select row_number() over () as "#parent", d.* from (select distinct %s from pg_temp.ingest_written where %s) d
    $sql$, v_reference.listed, v_reference.given);
    get diagnostics v_parents = row_count;
    analyze pg_temp.ingest_parent;
    -- A statement of its own: it sees rows of this very insert, and what was committed before it. It waits for whoever is deleting a parent;
    -- a parent that is then gone is missing.
    execute format('select count(distinct l."#parent") from (select k."#parent" from pg_temp.ingest_parent k join %s x on %s for key share of x) l',
                   v_reference.referenced_sql, v_reference.matched) into v_locked;
    if v_locked < v_parents then
      raise exception using errcode = 'foreign_key_violation', constraint = v_reference.name,
        message = format('Rows of %s refer to rows of %s that are not there', p_target, v_reference.referenced);
    end if;
  end loop;
  return v_rows;
end $$;
