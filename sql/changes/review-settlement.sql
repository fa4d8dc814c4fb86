-- Settlement of reviews: the record of a change is approved when its reviews meet the policy, and pending again when they no longer do.

-- Brings the record of a change in line with its reviews: approved if it has what it needs, pending again if it has not any more. The
-- subject is locked. Internal.
create or replace function iu_core.fn_review_settle(c iu_core.change) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record := iu_core.fn_review_lock_subject(c);
  v_standing jsonb;
  v_last jsonb;
begin
  if r.lifecycle_status not in ('pending', 'approved') or r.expires_at <= clock_timestamp() or not r.approval_required then
    perform iu_core.fn_change_follow(c.kind, c.subject_id);
    return;
  end if;
  v_standing := iu_core.fn_review_standing(c.change_id);
  if r.lifecycle_status = 'approved' and not (v_standing ->> 'met')::boolean then
    perform iu_core.fn_review_reopen(c, r);
  elsif r.lifecycle_status = 'pending' and (v_standing ->> 'met')::boolean and (v_standing ->> 'counted')::integer > 0
        and not (r.checklist_required and exists (select from iu_core.fn_iu_staging_checklist(r.staging_record_id) i where i.required and i.ticked_at is null)) then
    select x into v_last from jsonb_array_elements(v_standing -> 'reviews') x where (x ->> 'counts')::boolean order by x ->> 'at' desc limit 1;
    update iu_core.iu_staging_record
       set lifecycle_status = 'approved', approved_at = clock_timestamp(), approved_by = v_last ->> 'reviewer',
           approved_via = (select o.via from iu_core.change_review o where o.review_id = (v_last ->> 'review_id')::uuid)
     where staging_record_id = r.staging_record_id
    returning * into r;
    perform iu_core.fn_iu_staging_event_write(r, 'record_approved', r.approved_by, r.approved_via);
  else
    perform iu_core.fn_change_follow(c.kind, c.subject_id);
  end if;
end $$;

-- Locks the upload and the record of a change, in this order. Returns the record: the review package of the current plan, or the
-- record itself; all NULL if there is none. Internal.
create or replace function iu_core.fn_review_lock_subject(c iu_core.change) returns iu_core.iu_staging_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_record uuid := c.subject_id;
  r iu_core.iu_staging_record;
begin
  if c.kind = 'upload' then
    perform from iu_core.ingest_upload where upload_id = c.subject_id for update;
    select p.review_record_id into v_record from iu_core.ingest_plan p where p.upload_id = c.subject_id;
  end if;
  select * into r from iu_core.iu_staging_record where staging_record_id = v_record for update;
  return r;
end $$;

-- Takes the approval of a record back, because its change no longer has the approvals that it needs: approved → pending. Who approved stays
-- in change_review and in the history. Internal.
create or replace function iu_core.fn_review_reopen(c iu_core.change, r iu_core.iu_staging_record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Approved before reviews were recorded.
  insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer, via, role, at)
  select c.change_id, d.digest, d.digest, 'approve', r.approved_by, r.approved_via, iu_core.fn_review_role(c.workspace_id, r.approved_by), r.approved_at
    from (select coalesce((select p.digest from iu_core.ingest_plan p where c.kind = 'upload' and p.upload_id = c.subject_id), r.content_hash)) as d (digest)
   where not exists (select from iu_core.change_review o
                      where o.change_id = c.change_id and o.verdict = 'approve' and lower(o.reviewer) = lower(r.approved_by));
  perform set_config('stagedoor.review_reopens', r.staging_record_id::text, true);
  update iu_core.iu_staging_record
     set lifecycle_status = 'pending', approved_at = null, approved_by = null, approved_via = null, approval_doc_id = null
   where staging_record_id = r.staging_record_id
  returning * into r;
  perform set_config('stagedoor.review_reopens', '', true);
  perform iu_core.fn_iu_staging_event_write(r, 'record_reopened', iu_core.fn_actor());
  perform iu_core.fn_change_follow(c.kind, c.subject_id);
end $$;

-- Reopens an approved record whose change does not have the approvals that it needs at this moment (a policy became stricter, an approver
-- lost the right), so that somebody else can approve it. Internal.
create or replace function iu_core.fn_review_reopen_unmet(p_staging_record_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  c iu_core.change;
begin
  select * into r from iu_core.iu_staging_record
   where staging_record_id = p_staging_record_id and lifecycle_status = 'approved' and expires_at > clock_timestamp() for update;
  if not found or iu_core.fn_review_is_outdated(p_staging_record_id) then
    return;
  end if;
  select * into c from iu_core.change where change_id = iu_core.fn_change_of_record(r);
  if found and not (iu_core.fn_review_standing(c.change_id) ->> 'met')::boolean then
    perform iu_core.fn_review_reopen(c, r);
  end if;
end $$;

-- Settles what waits in a workspace after a policy or a group has changed. Subjects that somebody has locked are left: who approves waits for
-- us before, and a promotion checks for itself. Internal: the caller holds fn_review_lock exclusively.
create or replace function iu_core.fn_review_settle_workspace(p_workspace_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
begin
  for c in
    select ch.* from iu_core.change ch
     where ch.workspace_id = p_workspace_id
       and (ch.status = 'approved'
            or ch.status in ('open', 'changes_requested')
               and exists (select from iu_core.change_review r where r.change_id = ch.change_id and r.verdict = 'approve' and r.dismissed_at is null))
     order by ch.change_id
  loop
    if c.kind = 'upload' then
      perform from iu_core.ingest_upload where upload_id = c.subject_id for update skip locked;
    else
      perform from iu_core.iu_staging_record where staging_record_id = c.subject_id for update skip locked;
    end if;
    continue when not found;
    perform iu_core.fn_review_settle(c);
  end loop;
end $$;

-- A plan that was submitted again keeps the approvals that stand for it, with what their reviewers ticked. Internal: fn_ingest_submit.
create or replace function iu_core.fn_review_settle_submission(p_upload_id uuid, p_staging_record_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
begin
  select ch.* into c from iu_core.change ch where ch.kind = 'upload' and ch.subject_id = p_upload_id
     and exists (select from iu_core.change_review r
                  where r.change_id = ch.change_id and r.verdict = 'approve' and r.dismissed_at is null and r.stands_for = ch.digest);
  if not found then
    return;
  end if;
  -- An approval lives as long as what it was given for: submitting again does not renew it.
  if not exists (select from iu_core.ingest_submission s join iu_core.iu_staging_record r using (staging_record_id)
                  where s.upload_id = p_upload_id and s.staging_record_id <> p_staging_record_id and r.expires_at > clock_timestamp()) then
    perform iu_core.fn_change_review_end(o.review_id, iu_core.fn_actor(), null, 'the review expired') from iu_core.change_review o
      where o.change_id = c.change_id and o.verdict = 'approve' and o.dismissed_at is null;
    return;
  end if;
  insert into iu_core.iu_staging_check (staging_record_id, item_id, ticked_by, ticked_at, note)
  select distinct on (k.item_id) p_staging_record_id, k.item_id, k.ticked_by, k.ticked_at, k.note
    from iu_core.ingest_submission s
    join iu_core.iu_staging_check k using (staging_record_id)
    join iu_core.change_review r on r.change_id = c.change_id and r.verdict = 'approve' and r.dismissed_at is null
                                and r.stands_for = c.digest and r.reviewer = k.ticked_by
    join iu_core.fn_iu_staging_checklist(p_staging_record_id) i on i.item_id = k.item_id
   where s.upload_id = p_upload_id and s.staging_record_id <> p_staging_record_id
   order by k.item_id, k.ticked_at desc
  on conflict do nothing;
  perform iu_core.fn_review_settle(c);
end $$;

-- A plan that a review policy asks approvals for needs one, also if its dataset does not ask. Internal: plan and replan.
create or replace function iu_core.fn_review_plan(u iu_core.ingest_upload, p_plan iu_core.ingest_plan) returns iu_core.ingest_plan
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_plan.approval_required
     and (iu_core.fn_review_requirement_of(u.workspace_id, 'upload', u.dataset, u.upload_id, false) ->> 'approvals')::integer > 0 then
    update iu_core.ingest_plan set approval_required = true where upload_id = u.upload_id returning * into p_plan;
  end if;
  return p_plan;
end $$;

-- A plan that was submitted before is submitted again: the history says who is asked again, and what has changed since the last approval.
-- Asked are those whose review was requested, and those whose approval of an earlier plan no longer stands. fn_notify_reviewers tells it.
-- Internal: fn_ingest_submit.
create or replace function iu_core.fn_review_ask_again(p_upload_id uuid, p_staging_record_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  r iu_core.iu_staging_record;
  v_approved text;
  v_asked jsonb;
begin
  select * into c from iu_core.change where kind = 'upload' and subject_id = p_upload_id;
  if c.change_id is null or not exists (select from iu_core.ingest_submission s where s.upload_id = p_upload_id and s.staging_record_id <> p_staging_record_id) then
    return;
  end if;
  select * into r from iu_core.iu_staging_record where staging_record_id = p_staging_record_id;
  select o.digest into v_approved from iu_core.change_review o where o.change_id = c.change_id and o.verdict = 'approve' order by o.review_id desc limit 1;
  insert into iu_core.change_reviewer (change_id, reviewer, requested_by)
  select distinct c.change_id, o.reviewer, r.owner_actor from iu_core.change_review o
   where o.change_id = c.change_id and o.verdict = 'approve' and o.dismissed_reason = 'the plan changed'
     and iu_core.fn_review_role(c.workspace_id, o.reviewer) is not null and o.reviewer <> c.author
     and (select count(*) from iu_core.change_reviewer a where a.change_id = c.change_id) < 20
  on conflict do nothing;
  select jsonb_agg(coalesce(a.reviewer, a.group_name) order by 1) into v_asked from iu_core.change_reviewer a where a.change_id = c.change_id;
  perform iu_core.fn_change_log(c.change_id, r.owner_actor, r.owner_via, 'asked_again', jsonb_build_object('digest', c.digest, 'reviewers', v_asked,
    'approved', v_approved, 'since', iu_core.fn_review_compare(p_upload_id, v_approved)));
end $$;
