-- Unapproved text: an execution that has read such text may not write a unit or a document.

-- Records that an execution reads a record which needs an approval and has none, or which contains text of such a record.
-- Committed before the playbook gets the text, so that no later write of the execution misses it.
create or replace function iu_core.fn_execution_track_read(p_execution_id bigint, p_staging_record_id uuid) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_iu_staging_workspace(p_staging_record_id), 'read');
  if p_execution_id is null then
    raise exception using errcode = 'SD001', message = 'p_execution_id must not be NULL';
  end if;
  insert into iu_core.execution_unapproved_read (origin_execution_id, staging_record_id, execution_id)
  select iu_core.fn_execution_origin(p_execution_id), known.id, p_execution_id
    from (select p_staging_record_id as id
          union select c.carried_record_id from iu_core.execution_carried_record c where c.staging_record_id = p_staging_record_id) known
    left join iu_core.iu_staging_record r on r.staging_record_id = known.id
   where r.staging_record_id is null or (r.approval_required and r.approved_at is null)
  on conflict do nothing;
end $$;

grant execute on function iu_core.fn_execution_track_read(bigint, uuid) to dot_executor, service_role;

-- The origin of an execution: the first of the executions that started it as a sub-playbook, or that it is a rerun of. Itself,
-- if there is none, or if the log is no longer kept. Executions with the same origin may know each other's results. Internal.
create or replace function iu_core.fn_execution_origin(p_execution_id bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint := p_execution_id;
  v_from bigint;
begin
  loop
    select coalesce(e.parent_execution_id, (e.meta ->> 'rerun_of')::bigint) into v_from
      from noetl.event e where e.execution_id = v_id and e.seq = 1;
    exit when v_from is null;
    v_id := v_from;
  end loop;
  return v_id;
end $$;

-- Trigger on everything that search is built from: an execution that has read unapproved text may not write a unit, edge or
-- document until that text is approved. A cut is exempt: its text is exactly that of the approved record. Internal.
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
  select id into v_record from iu_core.fn_execution_unapproved_records(v_execution) as id limit 1;
  if found then
    raise exception using
      errcode = 'SD205',
      message = format('Execution %s has read the record %s, which needs an approval and has none: the execution may not write a unit or a document',
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

-- The records that an execution, or one of the same origin, has read, and that still lack a required approval. Internal.
create or replace function iu_core.fn_execution_unapproved_records(p_execution_id bigint) returns setof uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select u.staging_record_id from iu_core.execution_unapproved_read u
   where u.origin_execution_id = iu_core.fn_execution_origin(p_execution_id)
     and not exists (select from iu_core.iu_staging_record r
                      where r.staging_record_id = u.staging_record_id and r.approved_at is not null)
$$;

-- A record staged by an execution may contain what the execution has read. A record that needs no approval itself stores the
-- unapproved records, for its later readers; a record that needs approval is approved together with its text. Internal.
create or replace function iu_core.fn_execution_inherit_unapproved() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_execution bigint := iu_core.fn_execution_current();
begin
  if v_execution is not null and not new.approval_required then
    insert into iu_core.execution_carried_record (staging_record_id, carried_record_id)
    select new.staging_record_id, id from iu_core.fn_execution_unapproved_records(v_execution) as id;
  end if;
  return null;
end $$;

create or replace trigger iu_staging_record_inherits_unapproved
  after insert on iu_core.iu_staging_record
  for each row execute function iu_core.fn_execution_inherit_unapproved();

-- The execution for which this transaction acts, as the playbook tools set it in stagedoor.execution. NULL: none. Internal.
create or replace function iu_core.fn_execution_current() returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := current_setting('stagedoor.execution', true);
begin
  if coalesce(v_id, '') = '' then
    return null;
  end if;
  if v_id !~ '^[0-9]{1,19}$' then
    raise exception using errcode = 'SD001', message = format('stagedoor.execution must be the id of an execution, not %L', v_id);
  end if;
  return v_id::bigint;
end $$;
