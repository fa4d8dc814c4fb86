-- A template as an SQL expression over the event e: its text quoted, its {fields} as columns, nothing else. There is no
-- eval, no path into a payload, no format string: whatever is not one of the ten fields is refused. A NULL column makes
-- the whole expression NULL, which is the error that dispatch reports. p_distinct: it must tell events apart. Internal.
create or replace function iu_core.fn_consumer_template_sql(p_template text, p_distinct boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_fields constant jsonb := '{
    "event_id": "e.id::text", "event_domain": "e.event_domain", "event_type": "e.event_type",
    "event_stream": "e.event_stream", "event_subject_ref": "e.event_subject_ref",
    "canonical_address": "e.canonical_address", "workspace_id": "e.workspace_id::text",
    "correlation_id": "e.correlation_id::text", "causation_event_id": "e.causation_event_id::text", "actor": "e.actor"}';
  v_unknown text[];
  v_reason text;
  v_sql text;
begin
  select string_agg(case when token ~ '^\{.+\}$' then c_fields ->> btrim(token, '{}') else quote_literal(token) end, ' || '
                    order by position),
         array_agg(distinct token) filter (where token ~ '[{}]' and not c_fields ? btrim(token, '{}'))
    into v_sql, v_unknown
    from regexp_matches(p_template, '\{[^{}]*\}|[{}]|[^{}]+', 'g') with ordinality as t (match, position),
         lateral (select match[1]) as m (token);
  if coalesce(p_template, '') = '' then
    v_reason := 'it is empty';
  elsif p_distinct and p_template !~ '\{.+\}' then
    v_reason := 'it has no field, so every event would be the same';
  end if;
  if v_unknown is not null then
    v_reason := format('it has %s, which is no field', array_to_string(v_unknown, ', '));
  end if;
  if v_reason is not null then
    raise exception using
      errcode = 'SD321',
      message = format('The template %L cannot be used: %s', p_template, v_reason),
      hint = 'Fields are {' || (select string_agg(f, '}, {' order by f) from jsonb_object_keys(c_fields) f) || '}.',
      detail = json_build_object('template', p_template, 'reason', v_reason,
                                 'fields', (select json_agg(f order by f) from jsonb_object_keys(c_fields) f))::text;
  end if;
  return v_sql;
end $$;
