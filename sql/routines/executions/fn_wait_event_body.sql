-- What a step that waited is told. Internal.
create or replace function noetl.fn_wait_event_body(p_status text, p_event_id uuid, p_subject text, p_payload jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('status', p_status, 'event_id', p_event_id, 'subject', p_subject))
         || jsonb_build_object('payload', p_payload)
$$;
