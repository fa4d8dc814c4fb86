-- A template's JSON with its {fields} filled from an event: text for text, in one pass, so that a value that looks like a
-- field stays what it is. A field without a value becomes empty text. A brace that is no field of the list is refused.
-- Braces of JSON itself are never meant: behind one comes a quotation mark or another brace. Internal.
create or replace function iu_core.fn_iu_auto_instantiate_fill(p_template jsonb, e iu_core.event_outbox) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant jsonb := jsonb_build_object(
    'event_id', e.id, 'event_domain', e.event_domain, 'event_type', e.event_type, 'event_stream', e.event_stream,
    'event_subject_ref', e.event_subject_ref, 'canonical_address', e.canonical_address, 'workspace_id', e.workspace_id,
    'correlation_id', e.correlation_id, 'causation_event_id', e.causation_event_id, 'actor', e.actor);
  v_filled text;
  v_unknown text;
begin
  select string_agg(case when m.token !~ '^\{\w+\}$' then m.token
                         -- As JSON writes it, without the marks around it.
                         else substr(w.json, 2, length(w.json) - 2) end, '' order by t.position),
         string_agg(distinct m.token, ', ') filter (where m.token ~ '^\{\w+\}$' and not v_fields ? btrim(m.token, '{}'))
    into v_filled, v_unknown
    from regexp_matches(p_template::text, '\{\w+\}|[^{]+|\{', 'g') with ordinality as t (match, position),
         lateral (select match[1]) as m (token),
         lateral (select to_json(coalesce(v_fields ->> btrim(m.token, '{}'), ''))::text) as w (json);
  if v_unknown is not null then
    raise exception using
      errcode = 'SD001',
      message = format('The template has %s, which is no field', v_unknown),
      hint = 'Fields are {' || (select string_agg(f, '}, {' order by f) from jsonb_object_keys(v_fields) f) || '}.';
  end if;
  return v_filled::jsonb;
end $$;
