-- Before a playbook gets the text of a record: remembers that its execution knows it, if the record requires approval and has none,
-- or carries text of such a one. Committed before the text is handed out, so that no later write of the execution misses it.
create or replace function iu_core.fn_execution_reads_record(p_execution_id bigint, p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'read');
  if p_execution_id is null then
    raise exception using errcode = 'SD001', message = 'Name the execution that reads the record';
  end if;
  insert into iu_core.execution_unapproved_read (origin_execution_id, staging_record_id, execution_id)
  select iu_core.fn_execution_origin(p_execution_id), known.id, p_execution_id
    from (select p_staging_record_id as id
          union select c.carried_record_id from iu_core.execution_carried_record c where c.staging_record_id = p_staging_record_id) known
    left join iu_core.iu_staging_record r on r.staging_record_id = known.id
   where r.staging_record_id is null or (r.approval_required and r.approved_at is null)
  on conflict do nothing;
end $$;

grant execute on function iu_core.fn_execution_reads_record(bigint, uuid) to dot_executor, service_role;
