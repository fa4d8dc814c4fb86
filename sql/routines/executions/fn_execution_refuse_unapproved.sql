-- Behind everything that search is made from: an execution that knows text which requires approval and has none writes no unit, edge
-- or document until that is approved. A cut is not asked: its text is that of the approved record, and nothing else. Internal.
create or replace function iu_core.fn_execution_refuse_unapproved() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_execution bigint := iu_core.fn_execution_current();
  v_record uuid;
begin
  if v_execution is null then
    return null;
  end if;
  select id into v_record from iu_core.fn_execution_unapproved(v_execution) as id limit 1;
  if found then
    raise exception using
      errcode = 'SD205',
      message = format('Execution %s has read the record %s, which requires an approval and has none: it writes no unit and no document',
                       v_execution, v_record),
      detail = json_build_object('execution', v_execution::text, 'record', v_record)::text;
  end if;
  return null;
end $$;

create or replace trigger unit_version_holds_no_unapproved_text
  before insert on iu_core.unit_version
  for each statement execute function iu_core.fn_execution_refuse_unapproved();
create or replace trigger information_unit_holds_no_unapproved_text
  before insert or update of title, content_profile on iu_core.information_unit
  for each statement execute function iu_core.fn_execution_refuse_unapproved();
create or replace trigger kb_document_holds_no_unapproved_text
  before insert or update of title, body on iu_core.kb_document
  for each statement execute function iu_core.fn_execution_refuse_unapproved();
-- The target of an edge is any text, and is read with its unit.
create or replace trigger universal_edges_holds_no_unapproved_text
  before insert or update of target_ref on iu_core.universal_edges
  for each statement execute function iu_core.fn_execution_refuse_unapproved();
