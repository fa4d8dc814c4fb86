-- A promotion that inserts all valid lines of a row type says so once (0059), now also where the table gives its rows ids of its own or has
-- none: their staged rows name no id.
alter table iu_core.ingest_promotion add column keyed_types text[] not null default '{}';
comment on column iu_core.ingest_promotion.keyed_types is 'Those of inserted_types whose rows have no id of ours; they are known by their key.';
comment on column iu_core.ingest_promotion.inserted_types is
  'Row types of which every valid line was inserted, under the id of its staged row unless keyed_types has it. Their staged rows do not say so themselves.';

create or replace view public.staging_rows with (security_invoker = true) as
select s.id, s.workspace_id, s.client_id, s.upload_id, s.batch_id, s.request_id, s.platform, s.row_type, s.row_number, s.entity_external_id,
       s.raw_payload, s.normalized_payload, s.validation_status, s.validation_errors, s.validation_warnings,
       case when i.upload_id is null then s.processing_action else 'insert' end as processing_action,
       coalesce(s.processed_at, i.promoted_at) as processed_at,
       case when i.upload_id is null then s.target_internal_id when s.row_type <> all (i.keyed_types) then s.id end as target_internal_id,
       s.created_at,
       greatest(s.updated_at, i.promoted_at) as updated_at
  from iu_core.v_ingest_staged_row s
  left join iu_core.ingest_promotion i
    on i.upload_id = s.upload_id and s.row_type = any (i.inserted_types) and s.processing_action = 'pending' and s.validation_status = 'valid';

-- It takes the row type with its table now.
drop function if exists iu_core.fn_ingest_mark_promoted_rows(uuid, text, boolean);
