-- Staged rows are a table of ours, and public.staging_rows is a view of it. A promotion that inserts all valid lines of a row type says so
-- once, in ingest_promotion, instead of writing it into every line: a tenth of the time of an upload. What is in the table stays as it is.
alter table public.staging_rows set schema iu_core;
alter table iu_core.staging_rows rename to ingest_staged_row;

alter table iu_core.ingest_promotion add column inserted_types text[] not null default '{}';
comment on column iu_core.ingest_promotion.inserted_types is
  'Row types of which every valid line was inserted under the id of its staged row. Their staged rows do not say so themselves.';

-- The lines of one file all have the same keys: their upload has them once, and a line only its values. A line of an earlier version, of SQL, or
-- that somebody corrected has an object. While a file is being read, what its reader has committed already shows no values.
alter table iu_core.ingest_upload
  add column staged_cells text[], add column staged_members text[], add column staged_json boolean[];
comment on column iu_core.ingest_upload.staged_cells is 'The headers of raw_values of its staged rows.';
comment on column iu_core.ingest_upload.staged_members is 'The members of normalized_values of its staged rows.';
comment on column iu_core.ingest_upload.staged_json is 'Whether the text of a member is JSON, a number or a boolean.';
-- Earlier rows have objects and no values, so they need no check, which would read all of them while nobody else can.
alter table iu_core.ingest_staged_row
  alter column raw_payload drop not null,
  add column raw_values text[], add column normalized_values text[],
  add constraint ingest_staged_row_raw_as_object_or_values check (num_nonnulls(raw_payload, raw_values) = 1) not valid,
  add constraint ingest_staged_row_normalized_as_object_or_values check (num_nonnulls(normalized_payload, normalized_values) <= 1) not valid;
grant update (raw_values, normalized_values) on iu_core.ingest_staged_row to service_role;

create view iu_core.v_ingest_staged_row with (security_invoker = true) as
select s.id, s.workspace_id, s.client_id, s.upload_id, s.batch_id, s.request_id, s.platform, s.row_type, s.row_number, s.entity_external_id,
       coalesce(s.raw_payload, jsonb_object(u.staged_cells, s.raw_values)) as raw_payload,
       case when s.normalized_values is null then s.normalized_payload when u.staged_members is not null then (
         select jsonb_object_agg(m.key, case when m.value is null then 'null'::jsonb when m.is_json then m.value::jsonb else to_jsonb(m.value) end)
           from unnest(u.staged_members, s.normalized_values, u.staged_json) as m (key, value, is_json)) end as normalized_payload,
       s.validation_status, s.validation_errors, s.validation_warnings, s.processing_action, s.processed_at, s.target_internal_id, s.created_at, s.updated_at
  from iu_core.ingest_staged_row s
  left join iu_core.ingest_upload u on u.upload_id = s.upload_id;
alter view iu_core.v_ingest_staged_row owner to workflow_admin;
grant select on iu_core.v_ingest_staged_row to authenticated, service_role, stagedoor_agent, stagedoor_reviewer;
comment on view iu_core.v_ingest_staged_row is 'Staged rows with their payloads as objects.';

-- Lines that were inserted with all others of their type have not changed since they were read.
create view public.staging_rows with (security_invoker = true) as
select s.id, s.workspace_id, s.client_id, s.upload_id, s.batch_id, s.request_id, s.platform, s.row_type, s.row_number, s.entity_external_id,
       s.raw_payload, s.normalized_payload, s.validation_status, s.validation_errors, s.validation_warnings,
       case when i.upload_id is null then s.processing_action else 'insert' end as processing_action,
       coalesce(s.processed_at, i.promoted_at) as processed_at,
       case when i.upload_id is null then s.target_internal_id else s.id end as target_internal_id,
       s.created_at,
       greatest(s.updated_at, i.promoted_at) as updated_at
  from iu_core.v_ingest_staged_row s
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
