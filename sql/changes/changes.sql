-- Changes: opened with their subject, following it in the same transaction, and rebuilt from it. Locks are taken in one order: the
-- upload, the record, the change. Whoever has locked a change locks no subject.

-- Opens the change of a subject, or brings it up to what its subject is now. The change is locked before its subject is read: of two
-- sessions that touch one subject (its plan and its review package) the later one sees what the earlier one did. Returns NULL if the
-- subject has no change. Internal: the triggers below call it, and so does whatever else decides on a status (reviews).
create or replace function iu_core.fn_change_follow(p_kind text, p_subject_id uuid, p_actor text default null, p_via text default null)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor text := coalesce(p_actor, iu_core.fn_actor());
  c iu_core.change;
  v_status text;
  v_digest text;
begin
  select * into c from iu_core.change where subject_id = p_subject_id and kind = p_kind for update;
  if not found then
    return iu_core.fn_change_open(p_kind, p_subject_id, v_actor, p_via);
  end if;
  select s.status, s.digest into v_status, v_digest from iu_core.fn_change_status(p_kind, p_subject_id) s;
  if (v_status, v_digest) is not distinct from (c.status, c.digest) then
    return c.change_id;
  end if;
  update iu_core.change
     set status = v_status, digest = v_digest,
         closed_at = case when v_status not in ('promoted', 'undone', 'rejected', 'closed') then null
                          when v_status = c.status then closed_at else clock_timestamp() end
   where change_id = c.change_id;
  if v_digest is not null and v_digest is distinct from c.digest then
    perform iu_core.fn_change_log(c.change_id, v_actor, p_via, 'planned', jsonb_build_object('digest', v_digest, 'from', c.digest, 'rows', (
      select jsonb_object_agg(t.action, t.rows)
        from (select a.key as action, sum(a.value::bigint) as rows from iu_core.ingest_plan p, jsonb_each(p.totals) x, jsonb_each_text(x.value) a
               where p_kind = 'upload' and p.upload_id = p_subject_id group by 1) t)));
  end if;
  if v_status <> c.status then
    perform iu_core.fn_change_log(c.change_id, v_actor, p_via, 'status', jsonb_build_object('from', c.status, 'to', v_status, 'digest', v_digest,
      'approvers', case when v_status in ('approved', 'promoted') then nullif(iu_core.fn_change_approvers(p_subject_id), '[]') end));
    perform iu_core.fn_change_event(c, 'status_changed', v_actor, p_via, jsonb_build_object('from', c.status, 'to', v_status, 'digest', v_digest));
  end if;
  return c.change_id;
end $$;

-- Opens the change of a subject with the next number of its workspace. NULL: the subject has none. Internal. A plan for one kind of subject
-- looks cheaper than that for all kinds, so without the setting the view would be planned each time: 0.43 ms instead of 0.03.
create or replace function iu_core.fn_change_open(p_kind text, p_subject_id uuid, p_actor text, p_via text) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  s record;
  c iu_core.change;
begin
  select * into s from iu_core.v_change_subject where subject_id = p_subject_id and kind = p_kind;
  if not found then
    return null;
  end if;
  insert into iu_core.change_counter as n values (s.workspace_id, 1)
  on conflict (workspace_id) do update set last_number = n.last_number + 1
  returning last_number into c.number;
  insert into iu_core.change (workspace_id, number, kind, subject_id, title, author, author_via, status, digest, created_at, closed_at)
  values (s.workspace_id, c.number, p_kind, p_subject_id, iu_core.fn_change_title(s.title, p_kind), s.author, s.author_via, s.status, s.digest,
          s.created_at, case when s.status in ('promoted', 'undone', 'rejected', 'closed') then clock_timestamp() end)
  returning * into c;
  perform iu_core.fn_change_log(c.change_id, p_actor, p_via, 'opened', jsonb_build_object('status', s.status, 'digest', s.digest));
  perform iu_core.fn_change_event(c, 'opened', p_actor, p_via, jsonb_build_object('status', s.status));
  return c.change_id;
end $$;

-- A first title: one line of what the subject says about itself. Internal.
create or replace function iu_core.fn_change_title(p_text text, p_kind text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(nullif(btrim(left(regexp_replace(p_text, '[\u0001-\u001f\u007f-\u009f]+', ' ', 'g'), 200)), ''), p_kind)
$$;

-- Status and digest of a change, from its subject. A subject that is gone, or has no change any more, closes it. Internal. The setting:
-- as in fn_change_open.
create or replace function iu_core.fn_change_status(p_kind text, p_subject_id uuid, out status text, out digest text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  select s.status, s.digest into status, digest from iu_core.v_change_subject s where s.subject_id = p_subject_id and s.kind = p_kind;
  if not found then
    status := 'closed';
  end if;
end $$;

-- Whether a reviewer asked for changes and has not approved since. Internal: reviews (sql/changes/reviews.sql) answer it.
create or replace function iu_core.fn_change_changes_requested(p_kind text, p_subject_id uuid, p_digest text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from iu_core.change c join iu_core.change_review r using (change_id)
                  where c.subject_id = p_subject_id and c.kind = p_kind and r.verdict = 'request_changes' and r.dismissed_at is null)
$$;

-- Every subject that has a change, and what its change must say. The stamps decide, not the status: a review that was cleaned up is
-- still an approval or a rejection. Nobody's but the owner's: v_change is for people.
create or replace view iu_core.v_change_subject with (security_invoker = true) as
  select 'upload' as kind, u.upload_id as subject_id, u.workspace_id, u.uploaded_by as author, u.uploaded_via as author_via,
         u.file_name as title, u.created_at,
         case when u.status in ('promoted', 'undone') then u.status
              when u.status in ('failed', 'discarded', 'expired') then 'closed'
              when u.status <> 'planned' or r.staging_record_id is null then 'draft'
              when r.rejected_at is not null then 'rejected'
              -- The plan stands and can be submitted again.
              when r.expired_at is not null then 'draft'
              when r.approved_at is not null then 'approved'
              when iu_core.fn_change_changes_requested('upload', u.upload_id, p.digest) then 'changes_requested'
              else 'open' end as status,
         coalesce(m.plan_digest, p.digest) as digest
    from iu_core.ingest_upload u
    left join iu_core.ingest_plan p on p.upload_id = u.upload_id
    left join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
    left join iu_core.ingest_promotion m on m.upload_id = u.upload_id
   where u.run_mode <> 'FULL_DRY_RUN'
  union all
  select k.kind, r.staging_record_id, r.workspace_id, r.owner_actor, r.owner_via, r.purpose, r.created_at,
         case when r.consumed_at is not null then 'promoted'
              when r.rejected_at is not null and r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor then 'closed'
              when r.rejected_at is not null then 'rejected'
              when r.expired_at is not null then 'closed'
              when r.approved_at is not null then 'approved'
              when iu_core.fn_change_changes_requested(k.kind, r.staging_record_id, r.content_hash) then 'changes_requested'
              else 'open' end,
         r.content_hash
    from iu_core.iu_staging_record r,
         lateral (select case when (r.staging_kind, r.payload_type) = ('mark_manifest', 'manifest_json') then 'cut' else 'record' end) as k (kind)
   -- A global record is nobody's: numbers belong to a workspace.
   where r.approval_required and r.workspace_id is not null
     and not exists (select from iu_core.ingest_submission s where s.staging_record_id = r.staging_record_id);

-- Adds an entry to the history of a change; the update of its counter locks the change. Internal.
create or replace function iu_core.fn_change_log(p_change_id uuid, p_actor text, p_via text, p_what text, p_detail jsonb default '{}') returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seq integer;
begin
  update iu_core.change set history_count = history_count + 1, updated_at = clock_timestamp()
   where change_id = p_change_id returning history_count into v_seq;
  insert into iu_core.change_history (change_id, seq, actor, via, what, detail)
  values (p_change_id, v_seq, p_actor, p_via, p_what, jsonb_strip_nulls(p_detail));
  return v_seq;
end $$;

-- Writes an event about a change: references only. Internal.
create or replace function iu_core.fn_change_event(c iu_core.change, p_type text, p_actor text, p_via text, p_more jsonb default '{}') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_event_write('change', p_type, c.change_id::text, c.workspace_id, p_actor, p_via,
    jsonb_strip_nulls(jsonb_build_object('change_id', c.change_id, 'number', c.number, 'kind', c.kind, 'subject_id', c.subject_id) || p_more));
end $$;

-- History only grows.
create or replace trigger change_history_only_grows
  before update or delete on iu_core.change_history
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger change_history_is_not_truncated
  before truncate on iu_core.change_history
  for each statement execute function iu_core.fn_refuse_change();

-- An upload was opened, or its status says something new about its change. From reading to staged to planned it is a draft; what its
-- plan says is followed below.
create or replace function iu_core.fn_change_follow_upload() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by record;
begin
  case new.status
    when 'reading' then
      select new.uploaded_by as actor, new.uploaded_via as via into v_by;
    when 'promoted' then
      select m.promoted_by as actor, m.promoted_via as via into v_by from iu_core.ingest_promotion m where m.upload_id = new.upload_id;
    when 'undone' then
      select m.undone_by as actor, null::text as via into v_by from iu_core.ingest_promotion m where m.upload_id = new.upload_id;
    else
      select null::text as actor, null::text as via into v_by;
  end case;
  perform iu_core.fn_change_follow('upload', new.upload_id, v_by.actor, v_by.via);
  return null;
end $$;

create or replace trigger ingest_upload_opens_change
  after insert on iu_core.ingest_upload
  for each row when (new.run_mode <> 'FULL_DRY_RUN')
  execute function iu_core.fn_change_follow_upload();
create or replace trigger ingest_upload_changes_change
  after update of status on iu_core.ingest_upload
  for each row when (new.run_mode <> 'FULL_DRY_RUN' and old.status <> new.status
                     and (old.status = 'planned' or new.status not in ('staged', 'planned')))
  execute function iu_core.fn_change_follow_upload();

-- A plan was made, made again, or submitted. A plan is deleted together with a change of its upload's status, or replaced at once.
create or replace function iu_core.fn_change_follow_plan() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by record;
begin
  if new.review_record_id is null then
    select new.planned_by as actor, null::text as via into v_by;
  else
    select r.owner_actor as actor, r.owner_via as via into v_by
      from iu_core.iu_staging_record r where r.staging_record_id = new.review_record_id;
  end if;
  perform iu_core.fn_change_follow('upload', new.upload_id, v_by.actor, v_by.via);
  return null;
end $$;

create or replace trigger ingest_plan_is_made
  after insert on iu_core.ingest_plan
  for each row execute function iu_core.fn_change_follow_plan();
create or replace trigger ingest_plan_is_replaced_or_submitted
  after update of digest, review_record_id on iu_core.ingest_plan
  for each row when (old.digest <> new.digest or old.review_record_id is distinct from new.review_record_id)
  execute function iu_core.fn_change_follow_plan();

-- A record was staged, decided, consumed, expired or taken away. The review package of an upload speaks for the upload as long as it is
-- the one of its plan; its consumption is part of the promotion, which the upload itself tells at its end.
create or replace function iu_core.fn_change_follow_record() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record := case tg_op when 'DELETE' then old else new end;
  v_kind text := case when (r.staging_kind, r.payload_type) = ('mark_manifest', 'manifest_json') then 'cut' else 'record' end;
  v_upload uuid;
  v_by record;
begin
  select case r.lifecycle_status when 'approved' then r.approved_by when 'rejected' then r.rejected_by
                                 when 'pending' then case tg_op when 'INSERT' then r.owner_actor end end as actor,
         case r.lifecycle_status when 'approved' then r.approved_via when 'pending' then case tg_op when 'INSERT' then r.owner_via end end as via into v_by;
  if tg_op = 'DELETE' then
    -- It was staged by mistake: what its owner said about it goes with it.
    update iu_core.change set title = v_kind || ' that was taken away' where subject_id = r.staging_record_id and kind = v_kind;
    if found then
      perform iu_core.fn_change_follow(v_kind, r.staging_record_id);
    end if;
    return null;
  end if;
  if r.staging_kind = 'review_package' then
    select s.upload_id into v_upload from iu_core.ingest_submission s where s.staging_record_id = r.staging_record_id;
  end if;
  if v_upload is null then
    perform iu_core.fn_change_follow(v_kind, r.staging_record_id, v_by.actor, v_by.via);
  elsif r.lifecycle_status in ('approved', 'rejected', 'expired')
        and exists (select from iu_core.ingest_plan p where p.upload_id = v_upload and p.review_record_id = r.staging_record_id) then
    perform iu_core.fn_change_follow('upload', v_upload, v_by.actor, v_by.via);
  end if;
  return null;
end $$;

-- At the end of the transaction: the counter of the workspace is locked for a moment only, after every other lock, and it is known by
-- then whether a review package is that of an upload. Records that need no approval are not even queued.
drop trigger if exists iu_staging_record_opens_change on iu_core.iu_staging_record;
create constraint trigger iu_staging_record_opens_change
  after insert on iu_core.iu_staging_record
  deferrable initially deferred
  for each row when (new.approval_required and new.workspace_id is not null)
  execute function iu_core.fn_change_follow_record();
create or replace trigger iu_staging_record_changes_change
  after update of lifecycle_status on iu_core.iu_staging_record
  for each row when (new.approval_required and new.workspace_id is not null
                     and old.lifecycle_status <> new.lifecycle_status and new.lifecycle_status <> 'cleaned')
  execute function iu_core.fn_change_follow_record();
create or replace trigger iu_staging_record_closes_change
  after delete on iu_core.iu_staging_record
  for each row when (old.approval_required and old.workspace_id is not null)
  execute function iu_core.fn_change_follow_record();

-- Compares every change with its subject: existence, kind, status, digest. Returns what differed, and corrects it unless p_check_only.
-- For the back end. A change follows in the transaction of its subject, so that nothing differs at any time.
create or replace function iu_core.fn_change_rebuild(p_check_only boolean default true)
returns table (number integer, workspace_id uuid, kind text, subject_id uuid, problem text, was text, should_be text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  d record;
begin
  perform iu_core.require_member(null, 'administer');
  for d in
    select c.change_id, c.number, coalesce(s.workspace_id, c.workspace_id) as workspace_id, coalesce(s.kind, c.kind) as kind,
           coalesce(s.subject_id, c.subject_id) as subject_id, x.*
      from iu_core.change c
      full join iu_core.v_change_subject s on s.subject_id = c.subject_id
     cross join lateral (values
       ('missing', null, s.status, c.change_id is null),
       ('kind', c.kind, s.kind, c.kind <> s.kind),
       ('status', c.status, coalesce(s.status, 'closed'), c.status <> coalesce(s.status, 'closed')),
       ('digest', c.digest, s.digest, c.change_id is not null and c.digest is distinct from s.digest)) as x (problem, was, should_be, differs)
     -- A kind without a subject that is stored (sql) has its own rule.
     where x.differs and c.kind is distinct from 'sql'
     order by workspace_id, s.created_at, subject_id, x.problem = 'kind' desc, x.problem
  loop
    if not p_check_only then
      if d.problem = 'kind' then
        update iu_core.change ch set kind = d.kind where ch.change_id = d.change_id;
        perform iu_core.fn_change_log(d.change_id, iu_core.fn_actor(), null, 'kind', jsonb_build_object('from', d.was, 'to', d.kind));
      end if;
      perform iu_core.fn_change_follow(d.kind, d.subject_id);
    end if;
    number := coalesce(d.number, (select ch.number from iu_core.change ch where ch.subject_id = d.subject_id and ch.kind = d.kind));
    workspace_id := d.workspace_id;
    kind := d.kind;
    subject_id := d.subject_id;
    problem := d.problem;
    was := d.was;
    should_be := d.should_be;
    return next;
  end loop;
end $$;

grant execute on function iu_core.fn_change_rebuild(boolean) to dot_executor, service_role;
