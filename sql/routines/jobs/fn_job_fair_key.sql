-- The key of a job by which it takes turns with others of its kind: all without one have the same. NULL: its kind has no
-- turns. No search_path of its own, so that it becomes part of the statement; its body is resolved where it is created.
-- Internal.
create or replace function iu_core.fn_job_fair_key(p_fair_by text, p_source_ref text, p_target_ref text, p_payload_ref text) returns text
language sql immutable parallel safe
return case p_fair_by
  when 'source_ref' then coalesce(p_source_ref, '')
  when 'target_ref' then coalesce(p_target_ref, '')
  when 'payload_ref' then coalesce(p_payload_ref, '')
end;
