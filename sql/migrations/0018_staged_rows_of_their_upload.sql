-- A staged row belongs to its upload: workspace, client and platform are the upload's, platform and row type are registered,
-- ids are unique, and only dimensions have ids to resolve.

-- What was staged before under another workspace, client or platform than its upload's was read by nobody of ours, but may
-- have been seen there.
delete from public.staging_rows s
 where not exists (select from iu_core.ingest_upload u
                    where u.upload_id = s.upload_id and u.workspace_id = s.workspace_id and u.client_id = s.client_id
                      and u.platform = s.platform);
delete from public.staging_id_resolution s
 where not exists (select from iu_core.ingest_upload u
                    where u.upload_id = s.upload_id and u.workspace_id = s.workspace_id and u.client_id = s.client_id
                      and u.platform = s.platform);

-- Staged rows are checked for all rows of a statement at once (fn_ingest_rows_check): as a foreign key the same check is made
-- for every row and takes a quarter of the time of COPY. Nobody but promotion, plan and repair, which do not touch them, may
-- change what was checked.
revoke update on public.staging_rows, public.staging_id_resolution from service_role;
grant update (batch_id, request_id, entity_external_id, raw_payload, normalized_payload, validation_status, validation_errors,
              validation_warnings, processing_action, processed_at, target_internal_id, created_at, updated_at)
  on public.staging_rows to service_role;
grant update (batch_id, internal_id, resolution_status, resolution_action, parent_external_id, parent_internal_id, created_at,
              resolved_at, updated_at)
  on public.staging_id_resolution to service_role;
-- Rows staged under one id before: the first keeps it.
update public.staging_rows s set id = iu_core.fn_time_uuid()
  from (select r.upload_id, r.row_type, r.row_number,
               row_number() over (partition by r.id order by r.created_at, r.upload_id, r.row_type, r.row_number) as place
          from public.staging_rows r) as d
 where d.place > 1 and (s.upload_id, s.row_type, s.row_number) = (d.upload_id, d.row_type, d.row_number);
-- Ids rise with time, so its pages are filled one after the other.
create unique index staging_rows_id_unique on public.staging_rows (id);

-- The row types that have an identity of their own: dimensions. Figures have no id to resolve.
create table iu_core.ingest_entity_type (
  platform text not null,
  entity_type text not null,
  primary key (platform, entity_type),
  constraint ingest_entity_type_is_row_type foreign key (platform, entity_type)
    references iu_core.ingest_row_type (platform, row_type)
);
insert into iu_core.ingest_entity_type
select distinct p, spec ->> 'name'
  from iu_core.ingest_dataset d, jsonb_object_keys(d.definition -> 'platforms') p, jsonb_array_elements(d.definition -> 'rows') spec
 where spec ? 'identity';
-- What was resolved for figures resolved nothing. Types that no dataset has any more may have been dimensions.
delete from public.staging_id_resolution r
 using iu_core.ingest_dataset d, jsonb_array_elements(d.definition -> 'rows') spec
 where d.definition -> 'platforms' ? r.platform and spec ->> 'name' = r.entity_type
   and not exists (select from iu_core.ingest_entity_type t where (t.platform, t.entity_type) = (r.platform, r.entity_type));
insert into iu_core.ingest_entity_type
select platform, entity_type from public.staging_id_resolution
on conflict do nothing;
alter table iu_core.ingest_entity_type enable row level security;
create policy ingest_entity_type_everyone_reads on iu_core.ingest_entity_type for select using (true);
grant select on iu_core.ingest_entity_type to
  authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;

alter table public.staging_id_resolution
  drop constraint staging_id_resolution_platform_has_entity_type,
  add constraint staging_id_resolution_platform_has_entity_type foreign key (platform, entity_type)
    references iu_core.ingest_entity_type (platform, entity_type);
alter table iu_core.ingest_upload
  add constraint ingest_upload_scope_unique unique (upload_id, workspace_id, client_id, platform);
alter table public.staging_id_resolution
  add constraint staging_id_resolution_of_its_upload foreign key (upload_id, workspace_id, client_id, platform)
    references iu_core.ingest_upload (upload_id, workspace_id, client_id, platform);

-- A row that is as the file says already is not one that was left out.
alter type public.staging_processing_action add value if not exists 'unchanged';

comment on table public.staging_rows is
  'Lines of uploads as they were read, with what is wrong with each: written by the back end, checked, planned and promoted from here, deleted by cleanup_staging_rows().';
comment on table public.staging_id_resolution is
  'Which entity of an upload (campaign, customer) is which row of the target tables: found, or new with the id that it will have.';

-- The length that a part says it has is the one that it has, so that the limit of ten mebibytes is one of bytes.
alter table iu_core.iu_staging_payload
  add constraint iu_staging_payload_length_measured check (
    case payload_kind when 'text' then byte_len = octet_length(payload_text)
                      when 'json' then byte_len = octet_length(payload_json::text)
                      else true end) not valid;

-- What people corrected before a line was promoted: kept with the lineage of the rows that came of it.
create table iu_core.ingest_repair (
  repair_id bigint generated always as identity primary key,
  upload_id uuid not null constraint ingest_repair_of_upload references iu_core.ingest_upload (upload_id),
  row_number integer not null,
  what text not null constraint ingest_repair_what_known check (what in ('corrected', 'left_out', 'taken_in')),
  -- The header of the file, with the text before and after; NULL where the line as a whole was left out or taken in again.
  column_name text constraint ingest_repair_corrects_a_cell check ((what = 'corrected') = (column_name is not null)),
  old_value text,
  new_value text,
  repaired_by text not null,
  repaired_via text,
  repaired_at timestamptz not null default clock_timestamp()
);
create index ingest_repair_line on iu_core.ingest_repair (upload_id, row_number);
alter table iu_core.ingest_repair enable row level security;
create policy ingest_repair_with_its_upload on iu_core.ingest_repair for select
  using (upload_id in (select u.upload_id from iu_core.ingest_upload u));
grant select on iu_core.ingest_repair to authenticated, service_role, dot_executor, directus, stagedoor_agent, stagedoor_reviewer;
