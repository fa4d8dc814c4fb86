-- How a kept column is written into JSON and as text, whether it can hold keys of its own, and how many characters of
-- JSON it can have: at most so many, or by a measure of its own (octets); neither: unknown. Internal.
--
-- The statement runs with the owner's rights, and turning a value of a type that is not PostgreSQL's own into JSON calls
-- whatever cast its owner has defined. So such types are written by their output function, which only a superuser can
-- make; composites, whose fields would hide in that text, are refused.
create or replace function iu_core.fn_sql_route_column(
  p_relation regclass, p_alias text, p_column text,
  out expression text, out as_text text, out nests boolean, out most integer, out octets text, out type regtype
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own_from constant oid := 16384; -- FirstNormalObjectId: below it everything came with PostgreSQL.
  v_column pg_attribute;
  v_type pg_type;
  v_element pg_type;
  v_modifier integer;
  v_reason text;
begin
  select * into v_column from pg_attribute
   where attrelid = p_relation and attname = p_column and attnum > 0 and not attisdropped;
  if not found then
    v_reason := format('%s has no column %I', p_relation, p_column);
  elsif v_column.attgenerated = 'v' then
    v_reason := format('the column %I of %s is virtual, and triggers do not see it', p_column, p_relation);
  else
    type := v_column.atttypid;
    v_modifier := v_column.atttypmod;
    select * into v_type from pg_type where oid = type;
    while v_type.typtype = 'd' loop
      v_modifier := v_type.typtypmod;
      select * into v_type from pg_type where oid = v_type.typbasetype;
    end loop;
    v_element := v_type;
    while v_element.typtype = 'd' or (v_element.typelem <> 0 and v_element.typsubscript = 'array_subscript_handler'::regproc) loop
      select * into v_element from pg_type
       where oid = case v_element.typtype when 'd' then v_element.typbasetype else v_element.typelem end;
    end loop;
    if v_element.typtype in ('c', 'p') then
      v_reason := format('the column %I of %s is of the type %s, whose fields an event cannot carry', p_column, p_relation, type);
    end if;
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD311',
      message = 'The route does not fit its table: ' || v_reason,
      detail = json_build_object('reason', v_reason)::text;
  end if;
  nests := v_element.oid in ('json'::regtype, 'jsonb'::regtype);
  expression := format('%s.%I', p_alias, p_column);
  if v_type.oid < v_own_from then
    as_text := expression || '::text';
  elsif v_type.oid = v_element.oid then
    as_text := format('case when %1$s is not null then concat(%1$s) end', expression);
    expression := as_text;
  else
    -- JSON takes an array apart before it asks for a cast; only its elements would be asked for one.
    as_text := format('textin(array_out(%s))', expression);
    expression := case when v_element.oid < v_own_from then expression else as_text || '::text[]' end;
  end if;
  -- A character may take six in JSON.
  most := case
    when v_type.typtype = 'e' then 63 * 6
    when v_type.typlen > 0 then greatest(64, v_type.typlen * 6)
    when v_type.oid in ('varchar'::regtype, 'bpchar'::regtype) and v_modifier > 0 then (v_modifier - 4) * 6
    when v_type.oid = 'numeric'::regtype and v_modifier > 0 then 2048
  end;
  if most is null and v_type.oid in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) then
    octets := format('coalesce(octet_length(%s.%I), 0) * 6', p_alias, p_column);
  end if;
end $$;
