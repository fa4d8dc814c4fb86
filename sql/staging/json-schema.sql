-- JSON Schema (2020-12) in SQL: the part of it that says what a payload holds. A schema with a word that is not checked here is refused, so
-- that nothing is believed to be checked that is not.

-- Raises approval_kind_invalid for a schema that fn_json_schema_problems could not check. Internal.
create or replace function iu_core.fn_json_schema_require(p_schema jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  if jsonb_typeof(p_schema) is distinct from 'object' then
    v_problem := 'a schema is a JSON object';
  elsif octet_length(p_schema::text) > 65536 then
    v_problem := 'a schema has at most 64 KiB';
  else
    v_problem := iu_core.fn_json_schema_flaw(p_schema, '', p_schema, 0);
  end if;
  if v_problem is not null then
    raise exception using errcode = 'SD681', message = format('The schema cannot be used: %s', v_problem),
      detail = json_build_object('reason', v_problem)::text;
  end if;
end $$;

-- What is wrong with a schema, with its place; NULL: nothing. Internal.
create or replace function iu_core.fn_json_schema_flaw(p_schema jsonb, p_place text, p_root jsonb, p_depth integer) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word record;
  v_inner record;
  v_flaw text;
  v_at text;
begin
  if p_depth > 50 then
    return format('%s: nested more than 50 deep', p_place);
  elsif jsonb_typeof(p_schema) = 'boolean' then
    return null;
  elsif jsonb_typeof(p_schema) is distinct from 'object' then
    return format('%s is a schema: an object, true or false', coalesce(nullif(p_place, ''), '/'));
  end if;
  for v_word in select key, value, jsonb_typeof(value) as kind from jsonb_each(p_schema) loop
    v_at := p_place || '/' || v_word.key;
    v_flaw := case
      when v_word.key in ('$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly') then null
      when v_word.key = 'type' then
        case when v_word.kind = 'string' and v_word.value #>> '{}' in ('string', 'number', 'integer', 'boolean', 'object', 'array', 'null') then null
             when v_word.kind = 'array' and v_word.value <@ '["string", "number", "integer", "boolean", "object", "array", "null"]' and v_word.value <> '[]' then null
             else 'names a type: string, number, integer, boolean, object, array or null' end
      when v_word.key = 'const' then null
      when v_word.key = 'enum' then case when v_word.kind <> 'array' or v_word.value = '[]' then 'is a list of values' end
      when v_word.key in ('required') then
        case when v_word.kind <> 'array' or jsonb_path_exists(v_word.value, '$[*] ? (@.type() != "string")') then 'is a list of names' end
      when v_word.key in ('minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties') then
        case when v_word.value::text !~ '^[0-9]{1,9}$' then 'is a whole number' end
      when v_word.key in ('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') then case when v_word.kind <> 'number' then 'is a number' end
      when v_word.key = 'multipleOf' then case when v_word.kind <> 'number' or v_word.value::text::numeric <= 0 then 'is a number above 0' end
      when v_word.key = 'uniqueItems' then case when v_word.kind <> 'boolean' then 'is true or false' end
      when v_word.key = 'pattern' then
        case when v_word.kind <> 'string' then 'is a regular expression' else iu_core.fn_json_schema_pattern_flaw(v_word.value #>> '{}') end
      when v_word.key = 'format' then
        case when v_word.value not in ('"date"', '"date-time"', '"email"', '"uuid"', '"uri"') then 'must be date, date-time, email, uuid or uri' end
      when v_word.key = '$ref' then
        case when v_word.kind <> 'string' or v_word.value #>> '{}' !~ '^#/\$defs/[A-Za-z0-9_.-]+$' then 'points to #/$defs/NAME'
             when not coalesce(p_root -> '$defs' ? substr(v_word.value #>> '{}', 9), false) then 'points to a definition that is not there' end
      when v_word.key in ('properties', '$defs') then case when v_word.kind <> 'object' then 'is an object of schemas' end
      when v_word.key in ('allOf', 'anyOf', 'oneOf', 'prefixItems') then case when v_word.kind <> 'array' or v_word.value = '[]' then 'is a list of schemas' end
      when v_word.key in ('items', 'additionalProperties', 'not') then null
      else 'is not supported' end;
    if v_flaw is not null then
      return format('%s %s', v_at, v_flaw);
    end if;
    if v_word.key in ('properties', '$defs', 'allOf', 'anyOf', 'oneOf', 'prefixItems') then
      for v_inner in
        select key, value from jsonb_each(case v_word.kind when 'object' then v_word.value else '{}' end)
        union all
        select (n - 1)::text, value from jsonb_array_elements(case v_word.kind when 'array' then v_word.value else '[]' end) with ordinality as x (value, n)
      loop
        v_flaw := iu_core.fn_json_schema_flaw(v_inner.value, v_at || '/' || v_inner.key, p_root, p_depth + 1);
        if v_flaw is not null then
          return v_flaw;
        end if;
      end loop;
    elsif v_word.key in ('items', 'additionalProperties', 'not') then
      v_flaw := iu_core.fn_json_schema_flaw(v_word.value, v_at, p_root, p_depth + 1);
      if v_flaw is not null then
        return v_flaw;
      end if;
    end if;
  end loop;
  return null;
end $$;

-- Why a pattern cannot be used; NULL: it can. Back references and options at its beginning cost or mean something else here than elsewhere. Internal.
create or replace function iu_core.fn_json_schema_pattern_flaw(p_pattern text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if length(p_pattern) > 500 then
    return 'has more than 500 characters';
  elsif p_pattern ~ '\\[1-9]' or p_pattern ~ '\(\?[^:]' or p_pattern ~ '^\*\*\*' then
    return 'takes no back references, no lookaround and no options';
  end if;
  perform '' ~ p_pattern;
  return null;
exception when invalid_regular_expression then
  return format('is no regular expression: %s', sqlerrm);
end $$;

-- What of a value does not meet a schema that fn_json_schema_require has passed: `/lines/0/sku must be a string`, at most 20 of them; empty:
-- everything does. Internal.
create or replace function iu_core.fn_json_schema_problems(p_schema jsonb, p_value jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select (array(select p from unnest(c.problems) with ordinality as x (p, n) order by n))[1:20]
    from iu_core.fn_json_schema_compare(p_schema, p_value, '', p_schema, 0, 100000) c
$$;

-- Compares one value with one schema. p_steps is a budget for the whole comparison: definitions that refer to others could otherwise take
-- forever. Internal.
create or replace function iu_core.fn_json_schema_compare(
  p_schema jsonb, p_value jsonb, p_place text, p_root jsonb, p_depth integer, p_steps integer, out problems text[], out steps integer
)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place text := coalesce(nullif(p_place, ''), '/');
  v_type text := jsonb_typeof(p_value);
  v_text text := case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end;
  v_number numeric := case when jsonb_typeof(p_value) = 'number' then p_value::text::numeric end;
  v_types jsonb;
  v_one record;
  v_met integer;
  c record;
begin
  problems := '{}';
  steps := p_steps - 1;
  if steps <= 0 or p_depth > 100 then
    problems := array[format('%s: the schema takes too many steps to check it', v_place)];
    steps := 0;
    return;
  elsif p_schema = 'true' then
    return;
  elsif p_schema = 'false' then
    problems := array[format('%s is not allowed', v_place)];
    return;
  end if;
  v_types := case jsonb_typeof(p_schema -> 'type') when 'string' then jsonb_build_array(p_schema -> 'type') else p_schema -> 'type' end;
  if v_types is not null and not v_types ? v_type and not (v_type = 'number' and v_types ? 'integer' and v_number = trunc(v_number)) then
    problems := array[format('%s must be %s, and is %s', v_place,
      (select string_agg(case when t in ('array', 'object', 'integer') then 'an ' else 'a ' end || t, ' or ') from jsonb_array_elements_text(v_types) t), v_type)];
    return;
  end if;
  if p_schema ? 'const' and p_value <> p_schema -> 'const' then
    problems := problems || format('%s must be %s', v_place, left(p_schema ->> 'const', 100));
  end if;
  if p_schema ? 'enum' and not exists (select from jsonb_array_elements(p_schema -> 'enum') e where e = p_value) then
    problems := problems || format('%s must be one of %s', v_place, left((select string_agg(e #>> '{}', ', ') from jsonb_array_elements(p_schema -> 'enum') e), 500));
  end if;
  if v_text is not null then
    problems := problems || array_remove(array[
      case when length(v_text) < (p_schema ->> 'minLength')::integer then format('%s has fewer than %s characters', v_place, p_schema ->> 'minLength') end,
      case when length(v_text) > (p_schema ->> 'maxLength')::integer then format('%s has more than %s characters', v_place, p_schema ->> 'maxLength') end,
      case when p_schema ? 'pattern' and length(v_text) > 10000 then format('%s is too long for its pattern: more than 10,000 characters', v_place)
           when v_text !~ (p_schema ->> 'pattern') then format('%s does not match %s', v_place, p_schema ->> 'pattern') end,
      case when not iu_core.fn_json_schema_has_format(p_schema ->> 'format', v_text) then format('%s must be a %s', v_place, p_schema ->> 'format') end], null);
  elsif v_number is not null then
    problems := problems || array_remove(array[
      case when v_number < (p_schema ->> 'minimum')::numeric then format('%s must be at least %s', v_place, p_schema ->> 'minimum') end,
      case when v_number > (p_schema ->> 'maximum')::numeric then format('%s must be at most %s', v_place, p_schema ->> 'maximum') end,
      case when v_number <= (p_schema ->> 'exclusiveMinimum')::numeric then format('%s must be more than %s', v_place, p_schema ->> 'exclusiveMinimum') end,
      case when v_number >= (p_schema ->> 'exclusiveMaximum')::numeric then format('%s must be less than %s', v_place, p_schema ->> 'exclusiveMaximum') end,
      case when v_number % (p_schema ->> 'multipleOf')::numeric <> 0 then format('%s must be a multiple of %s', v_place, p_schema ->> 'multipleOf') end], null);
  elsif v_type = 'object' then
    problems := problems || array(
      select format('%s/%s is missing', p_place, n) from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) n where not p_value ? n);
    select count(*) into v_met from jsonb_object_keys(p_value);
    if v_met < (p_schema ->> 'minProperties')::integer or v_met > (p_schema ->> 'maxProperties')::integer then
      problems := problems || format('%s has %s properties', v_place, v_met);
    end if;
    if p_schema ? 'properties' or p_schema ? 'additionalProperties' then
      for v_one in select key, value, coalesce(p_schema -> 'properties' -> key, p_schema -> 'additionalProperties', 'true') as inner_schema,
                          not coalesce(p_schema -> 'properties' ? key, false) and p_schema -> 'additionalProperties' = 'false' as is_unknown
                     from jsonb_each(p_value) loop
        if v_one.is_unknown then
          problems := problems || format('%s/%s is not known here', p_place, left(v_one.key, 100));
          continue;
        end if;
        select x.* into c from iu_core.fn_json_schema_compare(v_one.inner_schema, v_one.value, p_place || '/' || left(v_one.key, 100), p_root, p_depth + 1, steps) x;
        problems := problems || c.problems;
        steps := c.steps;
        exit when steps <= 0 or cardinality(problems) >= 20;
      end loop;
    end if;
  elsif v_type = 'array' then
    v_met := jsonb_array_length(p_value);
    problems := problems || array_remove(array[
      case when v_met < (p_schema ->> 'minItems')::integer then format('%s has fewer than %s items', v_place, p_schema ->> 'minItems') end,
      case when v_met > (p_schema ->> 'maxItems')::integer then format('%s has more than %s items', v_place, p_schema ->> 'maxItems') end,
      case when p_schema -> 'uniqueItems' = 'true' and v_met <> (select count(distinct e) from jsonb_array_elements(p_value) e)
           then format('%s has an item twice', v_place) end], null);
    if p_schema ? 'items' or p_schema ? 'prefixItems' then
      for v_one in select n - 1 as place, value, coalesce(p_schema -> 'prefixItems' -> (n - 1)::integer, p_schema -> 'items', 'true') as inner_schema
                     from jsonb_array_elements(p_value) with ordinality as x (value, n) loop
        select x.* into c from iu_core.fn_json_schema_compare(v_one.inner_schema, v_one.value, p_place || '/' || v_one.place, p_root, p_depth + 1, steps) x;
        problems := problems || c.problems;
        steps := c.steps;
        exit when steps <= 0 or cardinality(problems) >= 20;
      end loop;
    end if;
  end if;
  if p_schema ? '$ref' then
    select x.* into c from iu_core.fn_json_schema_compare(p_root -> '$defs' -> substr(p_schema ->> '$ref', 9), p_value, p_place, p_root, p_depth + 1, steps) x;
    problems := problems || c.problems;
    steps := c.steps;
  end if;
  for v_one in select value from jsonb_array_elements(coalesce(p_schema -> 'allOf', '[]')) loop
    select x.* into c from iu_core.fn_json_schema_compare(v_one.value, p_value, p_place, p_root, p_depth + 1, steps) x;
    problems := problems || c.problems;
    steps := c.steps;
  end loop;
  for v_one in select key, value from jsonb_each(p_schema) where key in ('anyOf', 'oneOf', 'not') loop
    select count(*) filter (where cardinality(x.problems) = 0), min(x.steps) into v_met, steps
      from (select case v_one.key when 'not' then jsonb_build_array(v_one.value) else v_one.value end) as l (list),
           jsonb_array_elements(l.list) s,
           lateral iu_core.fn_json_schema_compare(s, p_value, p_place, p_root, p_depth + 1, steps / jsonb_array_length(l.list)) x;
    if steps <= 0 then
      problems := problems || format('%s: the schema takes too many steps to check it', v_place);
    elsif (case v_one.key when 'anyOf' then v_met = 0 when 'oneOf' then v_met <> 1 else v_met > 0 end) then
      problems := problems || format('%s meets %s', v_place, case v_one.key
        when 'anyOf' then 'none of the forms that it may have'
        when 'oneOf' then format('%s of the forms of which it must have one', v_met)
        else 'what it must not be' end);
    end if;
  end loop;
end $$;

-- Whether a text has a format. Internal.
create or replace function iu_core.fn_json_schema_has_format(p_format text, p_text text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_format
    when 'date' then
      perform make_date(substr(p_text, 1, 4)::integer, substr(p_text, 6, 2)::integer, substr(p_text, 9, 2)::integer);
      return p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';
    when 'date-time' then
      perform make_timestamp(substr(p_text, 1, 4)::integer, substr(p_text, 6, 2)::integer, substr(p_text, 9, 2)::integer,
                             substr(p_text, 12, 2)::integer, substr(p_text, 15, 2)::integer, 0);
      return p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$';
    when 'email' then
      return p_text ~ '^[^@\s]{1,64}@[^@\s]{1,255}$';
    when 'uuid' then
      return p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
    when 'uri' then
      return p_text ~* '^[a-z][a-z0-9+.-]*:[^\s]+$';
    else
      return true;
  end case;
exception when invalid_text_representation or datetime_field_overflow or numeric_value_out_of_range then
  return false;
end $$;
