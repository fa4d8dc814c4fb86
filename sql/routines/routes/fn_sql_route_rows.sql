-- The SELECT over the transition table (id, seq, subject, workspace_id, payload, key, may_be_long), the condition under
-- which one of its rows may not be sent (NULL: none can be), and the columns that both read. Internal.
create or replace function iu_core.fn_sql_route_rows(
  p_route iu_core.iu_sql_event_route, p_relation regclass, p_root regclass, p_keep text[], p_key text[],
  out columns text[], out column_types regtype[], out rows_sql text, out refused_sql text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_primary text[] := iu_core.fn_sql_route_primary_key(p_root);
  v_subject text[] := coalesce(iu_core.fn_sql_route_strings(p_route.payload_contract, 'subject'), v_primary);
  v_only_changed boolean := p_route.sql_event = 'update'
                            and coalesce((p_route.payload_contract ->> 'only_changed')::boolean, false);
  v_kept text;
  v_kept_before text;
  v_long text;
  v_nests boolean;
begin
  -- An event names the row only by what it may carry.
  if not v_subject <@ p_keep then
    v_subject := null;
  end if;
  select array_agg(name order by name) into columns
    from (select unnest(p_keep) as name union select unnest(p_key) union select p_route.workspace_column
          union select unnest(v_primary) where v_only_changed) used
   where name is not null;
  select array_agg(c.type order by name) into column_types
    from unnest(columns) name, iu_core.fn_sql_route_column(p_relation, 'n', name) c;
  select string_agg(format('%s as %I', c.expression, name), ', ' order by position), bool_or(c.nests),
         -- Whatever has no limit of its own: too long, or at least worth a look.
         case when bool_or(c.most is null and c.octets is null) then 'true'
              when sum(coalesce(c.most, 0) + octet_length(name) * 6 + 6) > 8192 then 'true'
              else format('%s > 8192', concat_ws(' + ',
                     sum(coalesce(c.most, 0) + octet_length(name) * 6 + 6), string_agg(c.octets, ' + '))) end
    into v_kept, v_nests, v_long
    from unnest(p_keep) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, 'n', name) c;
  if v_long ~ '^\d+ > 8192$' then
    v_long := null;
  end if;

  -- Whole rows are `k.*`: `k` alone would be the column k of a table that has one.
  rows_sql := format(
    'select ($13 || to_hex(r.seq + 140737488355328))::uuid as id, r.* from (
       select nextval(''iu_core.event_outbox_seq'') as seq, %s as subject, %s as workspace_id, to_jsonb(k.*) as payload%s%s
         from %s n cross join lateral (select %s) k',
    case when cardinality(v_subject) = 1
      then (select c.as_text from iu_core.fn_sql_route_column(p_relation, 'n', v_subject[1]) c)
      else coalesce(iu_core.fn_sql_route_array(p_relation, 'n', v_subject) || '::text', 'null::text') end,
    case when p_route.workspace_column is null then '$5' else format('n.%I', p_route.workspace_column) end,
    case when p_key is not null
      then format(', sha256(convert_to(%s::text, ''UTF8'')) as key', iu_core.fn_sql_route_array(p_relation, 'n', p_key)) end,
    ', ' || v_long || ' as may_be_long',
    case p_route.sql_event when 'delete' then 'stagedoor_old' else 'stagedoor_new' end,
    v_kept);
  if v_only_changed then
    -- Rows are paired by primary key; one whose key changed has no old one, and counts as changed.
    select string_agg(format('%s as %I', c.expression, name), ', ' order by position) into v_kept_before
      from unnest(p_keep) with ordinality k (name, position), iu_core.fn_sql_route_column(p_relation, 'o', name) c;
    rows_sql := format('%s left join (select %s as row_key, to_jsonb(k.*) as payload
                                        from stagedoor_old o cross join lateral (select %s) k) o on o.row_key = %s
                        where o.payload is distinct from to_jsonb(k.*)',
      rows_sql, iu_core.fn_sql_route_array(p_relation, 'o', v_primary), v_kept_before,
      iu_core.fn_sql_route_array(p_relation, 'n', v_primary));
  end if;
  -- Pulled up, the id would be computed for each of its uses.
  rows_sql := rows_sql || ') r offset 0';

  -- Keys of the first level are the kept columns, checked at registration; only what can nest or be long is looked at.
  refused_sql := nullif(concat_ws(' or ',
    case when v_long is not null then '(q.may_be_long and length(q.payload::text) > 8192)' end,
    case when v_nests then
      'exists (select from jsonb_path_query(q.payload, ''strict $.** ? (@.type() == "object").keyvalue().key'') k
                where lower(k #>> ''{}'') = any ($10))' end), '');
end $$;
