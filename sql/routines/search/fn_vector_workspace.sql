-- The workspace of an outbox row that the caller may know of; one of others is answered like one that is not there. Internal:
-- definer functions give it to require_member.
create or replace function iu_core.fn_vector_workspace(p_outbox_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select coalesce(u.workspace_id, d.workspace_id) into v_workspace
    from iu_core.vector_outbox o
    left join iu_core.information_unit u on u.unit_id = o.unit_id
    left join iu_core.kb_document d on d.document_id = o.document_id
   where o.outbox_id = p_outbox_id;
  if not found or not iu_core.fn_workspace_is_known(v_workspace) then
    raise exception using
      errcode = 'SD917',
      message = format('There is nothing to project called %s', coalesce(p_outbox_id::text, 'NULL')),
      detail = json_build_object('projection', p_outbox_id)::text;
  end if;
  return v_workspace;
end $$;
