-- Staged rows are a table of ours, and public.staging_rows is a view of it. A promotion that inserts all valid lines of a row type says so
-- once, in ingest_promotion, instead of writing it into every line: a tenth of the time of an upload. What is in the table stays as it is.
alter table public.staging_rows set schema iu_core;
alter table iu_core.staging_rows rename to ingest_staged_row;

alter table iu_core.ingest_promotion add column inserted_types text[] not null default '{}';
comment on column iu_core.ingest_promotion.inserted_types is
  'Row types of which every valid line was inserted under the id of its staged row. Their staged rows do not say so themselves.';

-- Lines that were inserted with all others of their type have not changed since they were read.
create view public.staging_rows with (security_invoker = true) as
select s.id, s.workspace_id, s.client_id, s.upload_id, s.batch_id, s.request_id, s.platform, s.row_type, s.row_number, s.entity_external_id,
       s.raw_payload, s.normalized_payload, s.validation_status, s.validation_errors, s.validation_warnings,
       case when i.upload_id is null then s.processing_action else 'insert' end as processing_action,
       coalesce(s.processed_at, i.promoted_at) as processed_at,
       case when i.upload_id is null then s.target_internal_id else s.id end as target_internal_id,
       s.created_at,
       greatest(s.updated_at, i.promoted_at) as updated_at
  from iu_core.ingest_staged_row s
  left join iu_core.ingest_promotion i
    on i.upload_id = s.upload_id and s.row_type = any (i.inserted_types) and s.processing_action = 'pending' and s.validation_status = 'valid';
alter view public.staging_rows alter column id set default iu_core.fn_time_uuid();
alter view public.staging_rows alter column validation_status set default 'pending';
alter view public.staging_rows alter column validation_errors set default '[]';
alter view public.staging_rows alter column validation_warnings set default '[]';
alter view public.staging_rows alter column processing_action set default 'pending';
alter view public.staging_rows alter column created_at set default now();
alter view public.staging_rows alter column updated_at set default now();
alter view public.staging_rows owner to workflow_admin;
-- Many rows of one INSERT stay one statement; who may insert into the view (service_role) may insert into the table. Changes, deletes and COPY
-- go through a trigger, row by row (fn_staging_rows_write).
create rule staging_rows_are_inserted_at_once as on insert to public.staging_rows do instead
  insert into iu_core.ingest_staged_row (
    id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
    normalized_payload, validation_status, validation_errors, validation_warnings, processing_action, processed_at, target_internal_id,
    created_at, updated_at)
  values (
    new.id, new.workspace_id, new.client_id, new.upload_id, new.batch_id, new.request_id, new.platform, new.row_type, new.row_number,
    new.entity_external_id, new.raw_payload, new.normalized_payload, new.validation_status, new.validation_errors, new.validation_warnings,
    new.processing_action, new.processed_at, new.target_internal_id, new.created_at, new.updated_at)
  returning
    id, workspace_id, client_id, upload_id, batch_id, request_id, platform, row_type, row_number, entity_external_id, raw_payload,
    normalized_payload, validation_status, validation_errors, validation_warnings, processing_action, processed_at, target_internal_id,
    created_at, updated_at;
grant select on public.staging_rows to authenticated, stagedoor_agent, stagedoor_reviewer;
grant select, insert, delete on public.staging_rows to service_role;
grant update (batch_id, request_id, entity_external_id, raw_payload, normalized_payload, validation_status, validation_errors,
              validation_warnings, processing_action, processed_at, target_internal_id, created_at, updated_at)
  on public.staging_rows to service_role;
comment on view public.staging_rows is
  'Lines of uploads as they were read, with what is wrong with each: written by the back end, checked, planned and promoted from here, deleted by cleanup_staging_rows().';
comment on table iu_core.ingest_staged_row is 'What public.staging_rows shows; it also knows which lines a promotion inserted all at once.';
