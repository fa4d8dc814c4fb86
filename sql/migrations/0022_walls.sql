-- What awaits approval stays out of units and documents, also by way of a playbook (decision 0014).

-- Which executions have read a record that requires approval and had none. By the origin of the execution: whoever started it,
-- its sub-playbooks and its reruns hand results to each other, so that what one has read all may have. No foreign keys: a log is
-- dropped by its partition, and a record that was unregistered is still known to whoever read it.
create table iu_core.execution_unapproved_read (
  origin_execution_id bigint not null,
  staging_record_id uuid not null,
  execution_id bigint not null,
  read_at timestamptz not null default clock_timestamp(),
  constraint execution_unapproved_read_once primary key (origin_execution_id, staging_record_id)
);
comment on table iu_core.execution_unapproved_read is
  'records without the approval that they require, by the executions that have read them';

-- Records that need no approval themselves, staged by an execution that had read one which does.
create table iu_core.execution_carried_record (
  staging_record_id uuid not null references iu_core.iu_staging_record (staging_record_id) on delete cascade,
  carried_record_id uuid not null,
  constraint execution_carried_record_once primary key (staging_record_id, carried_record_id)
);
comment on table iu_core.execution_carried_record is
  'records that need no approval and may hold text of one that does: whoever reads them has read that one';

alter table iu_core.execution_unapproved_read enable row level security;
create policy execution_unapproved_read_service_reads on iu_core.execution_unapproved_read for select
  to service_role, dot_executor using (true);
grant select on iu_core.execution_unapproved_read to service_role, dot_executor;
alter table iu_core.execution_carried_record enable row level security;
create policy execution_carried_record_service_reads on iu_core.execution_carried_record for select
  to service_role, dot_executor using (true);
grant select on iu_core.execution_carried_record to service_role, dot_executor;

-- Four eyes: neither side's name nor whoever acts for it is one of the other side's. A service that acts for named others is one
-- party, whoever it names. Names that differ in case only are one person's. Of the status `approved`, not of the stamps: what was
-- approved before this rule can still be used.
do $$
begin
  alter table iu_core.iu_staging_record add constraint iu_staging_record_two_parties check (
    not four_eyes or approved_by is null or lifecycle_status <> 'approved'
    or not array[lower(approved_by), lower(approved_via)] && array[lower(owner_actor), lower(owner_via)]);
exception when check_violation then
  alter table iu_core.iu_staging_record add constraint iu_staging_record_two_parties check (
    not four_eyes or approved_by is null or lifecycle_status <> 'approved'
    or not array[lower(approved_by), lower(approved_via)] && array[lower(owner_actor), lower(owner_via)]) not valid;
end $$;

-- Who said what a header or a field's values mean, also of what was taken out again: they do not approve what is read with it.
alter table iu_core.ingest_mapping
  add column header_by jsonb not null default '{}' constraint ingest_mapping_header_by_object check (jsonb_typeof(header_by) = 'object'),
  add column value_by jsonb not null default '{}' constraint ingest_mapping_value_by_object check (jsonb_typeof(value_by) = 'object');
comment on column iu_core.ingest_mapping.header_by is 'header → who changed what it means last';
comment on column iu_core.ingest_mapping.value_by is 'field → who changed the meaning of its values last';
update iu_core.ingest_mapping m
   set header_by = coalesce((select jsonb_object_agg(k, m.updated_by) from jsonb_object_keys(m.headers) k), '{}'),
       value_by = coalesce((select jsonb_object_agg(k, m.updated_by) from jsonb_object_keys(m.field_values) k), '{}');

-- The actor as before; what no token may carry is refused here, too: a subject that is no text, is longer than 255 characters, or has
-- control characters. Frozen: policies use it.
create or replace function iu_core.fn_actor() returns text
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims text;
  v_sub text;
begin
  if session_user <> 'stagedoor_api' then
    return session_user;
  end if;
  v_claims := nullif(current_setting('request.jwt.claims', true), '');
  if v_claims is null then
    return session_user;
  end if;
  if jsonb_typeof(v_claims::jsonb -> 'sub') is distinct from 'string' then
    raise exception using errcode = 'SD204', message = 'The token names no subject (sub)';
  end if;
  v_sub := v_claims::jsonb ->> 'sub';
  if v_sub = '' or length(v_sub) > 255 or v_sub ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'SD204', message = 'The subject (sub) of the token is empty, longer than 255 characters or has control characters';
  end if;
  return v_sub;
end $$;

-- The subject of a token is any text (auth0|…, an e-mail address), not only a uuid. A members table of the user's own stays as it is and is
-- compared as text. Ours becomes text, unless something of theirs hangs on the column (a view, a foreign key): then ids stay uuids.
do $$
begin
  if exists (select from pg_attribute a join pg_class c on c.oid = a.attrelid
              where c.oid = 'public.workspace_members'::regclass and a.attname = 'user_id'
                and a.atttypid = 'uuid'::regtype and c.relowner = 'workflow_admin'::regrole) then
    alter table public.workspace_members alter column user_id type text using user_id::text;
    alter table public.workspace_members add constraint workspace_members_user_id_is_a_subject check (
      length(user_id) between 1 and 255 and user_id !~ '[\u0001-\u001f\u007f-\u009f]');
  end if;
exception when feature_not_supported or datatype_mismatch or invalid_foreign_key or undefined_function then
  raise notice 'public.workspace_members.user_id stays a uuid, because something else depends on it: %', sqlerrm;
end $$;

-- To which workspace the bytes of a blob belong: to the one that uploaded or first staged them. NULL: global. A reference is no
-- key to the bytes of others.
create table iu_core.stored_blob (
  blob_ref text constraint stored_blob_once primary key,
  workspace_id uuid,
  byte_len bigint not null constraint stored_blob_length_not_negative check (byte_len >= 0),
  content_hash text not null constraint stored_blob_hash_sha256 check (content_hash ~ '^[0-9a-f]{64}$'),
  stored_by text not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table iu_core.stored_blob is 'blobs that were uploaded or staged, and the workspace that each belongs to';
insert into iu_core.stored_blob (blob_ref, workspace_id, byte_len, content_hash, stored_by, created_at)
select distinct on (p.blob_ref) p.blob_ref, r.workspace_id, p.byte_len, p.content_hash, r.owner_actor, p.created_at
  from iu_core.iu_staging_payload p join iu_core.iu_staging_record r on r.staging_record_id = p.staging_record_id
 where p.blob_ref is not null
 order by p.blob_ref, p.created_at;
alter table iu_core.stored_blob enable row level security;
create policy stored_blob_service_reads on iu_core.stored_blob for select to service_role, dot_executor using (true);
grant select on iu_core.stored_blob to service_role, dot_executor;

-- Sign-in links hold a code that is exchanged for a token once. Only its hash is kept.
create table iu_core.sign_in_code (
  code_hash text constraint sign_in_code_once primary key,
  subject text not null,
  database_role name not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
comment on table iu_core.sign_in_code is 'codes of sign-in links that nobody has used yet, by their sha-256';
alter table iu_core.sign_in_code enable row level security;
