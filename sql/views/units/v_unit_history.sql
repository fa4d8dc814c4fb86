-- The versions of units: who wrote which one when, and until when it was the current one. The text is in unit_version.
create or replace view iu_core.v_unit_history with (security_invoker = true) as
select v.unit_id, u.workspace_id, u.canonical_address, v.version_no, v.unit_version_id, v.unit_kind, v.title, v.language,
       octet_length(v.body) as body_bytes, v.content_hash, v.note, v.edited_by, v.edited_via, v.edited_at,
       (select n.edited_at from iu_core.unit_version n
         where n.unit_id = v.unit_id and n.version_no = v.version_no + 1) as current_until,
       v.unit_version_id = u.current_version_id as is_current
  from iu_core.unit_version v
  join iu_core.information_unit u on u.unit_id = v.unit_id;

grant select on iu_core.v_unit_history to authenticated, stagedoor_agent, stagedoor_reviewer, service_role, dot_executor;
