-- CALL that routes see: calls somebody's procedure with the caller's own rights, then tells the routes, in one transaction.
-- So the procedure cannot commit by itself. Arguments are given by name; schema.name as in SQL.
-- No search_path of its own: the procedure runs under the caller's, as if called directly.
create or replace procedure iu_core.routed_call(p_procedure text, p_arguments jsonb default '{}')
language plpgsql
as $$
declare
  v_name text[] := pg_catalog.parse_ident(p_procedure);
  v_found record;
  v_argument record;
  v_value text;
  v_given text[] := '{}';
  v_known text[] := '{}';
begin
  if pg_catalog.cardinality(v_name) = 1 then
    v_name := array['public', v_name[1]];
  end if;
  select pg_catalog.count(*) as many, pg_catalog.min(p.oid) as oid into v_found
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_name[1] and p.proname = v_name[2] and p.prokind = 'p' and pg_catalog.cardinality(v_name) = 2;
  if v_found.many <> 1 then
    raise exception using
      errcode = 'SD318',
      message = pg_catalog.format('There %s called %s', case v_found.many when 0 then 'is no procedure' else 'are several procedures' end, p_procedure),
      detail = pg_catalog.json_build_object('procedure', p_procedure)::text;
  end if;
  for v_argument in
    select a.name, a.mode, pg_catalog.format_type(a.type, null) as type
      from pg_catalog.pg_proc p,
           rows from (pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])),
                      pg_catalog.unnest(p.proargnames), pg_catalog.unnest(p.proargmodes)) as a (type, name, mode)
     where p.oid = v_found.oid
  loop
    v_known := v_known || v_argument.name;
    if v_argument.mode = 'o' then
      v_given := v_given || pg_catalog.format('%I => null::%s', v_argument.name, v_argument.type);
    elsif p_arguments ? v_argument.name then
      execute pg_catalog.format('select a.%1$I::text from pg_catalog.jsonb_to_record($1) as a (%1$I %2$s)', v_argument.name, v_argument.type)
        into v_value using p_arguments;
      v_given := v_given || pg_catalog.format('%I => %L::%s', v_argument.name, v_value, v_argument.type);
    end if;
  end loop;
  if exists (select from pg_catalog.jsonb_object_keys(p_arguments) k where k <> all (v_known)) then
    raise exception using
      errcode = 'SD318',
      message = pg_catalog.format('The arguments of %s are %s', p_procedure, pg_catalog.array_to_string(v_known, ', ')),
      detail = pg_catalog.json_build_object('procedure', p_procedure)::text;
  end if;
  execute pg_catalog.format('call %I.%I(%s)', v_name[1], v_name[2], pg_catalog.array_to_string(v_given, ', '));
  perform iu_core.fn_sql_route_called(v_name[1], v_name[2], p_arguments);
end $$;

grant execute on procedure iu_core.routed_call(text, jsonb) to stagedoor_producer, dot_executor, service_role;
