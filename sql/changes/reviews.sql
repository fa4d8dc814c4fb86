-- Reviews of changes: approve, request changes, comment. Approvals are bound to the digest that the reviewer saw. A record is approved when
-- its change has the approvals that the policy asks for, and consumption checks them again. Locks: fn_review_lock, then the upload, the
-- record, the change.

-- Reviews a change: approve, request_changes (with a text that says what), comment, or withdraw (one's own approval or request). Approving
-- takes the digest that the reviewer saw, and ticks items of the checklist. Returns how the change stands (fn_review_standing).
create or replace function iu_core.fn_change_review(
  p_change_id uuid, p_verdict text, p_digest text default null, p_body text default null, p_ticked text[] default '{}', p_by text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_actor record;
  v_review uuid;
  v_item text;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, case p_verdict when 'comment' then 'read' else 'review' end);
  if p_verdict is null or p_verdict not in ('approve', 'request_changes', 'comment', 'withdraw') then
    raise exception using errcode = 'SD001', message = format('%L is not a verdict; approve, request_changes, comment and withdraw are', p_verdict);
  end if;
  c := iu_core.fn_change_visible(p_change_id);
  v_actor := iu_core.fn_actor_for(p_by);
  if p_verdict in ('request_changes', 'comment') or p_body ~ '\S' then
    perform iu_core.fn_change_require_text('A review', p_body, 10000);
  end if;
  if iu_core.fn_change_caller_is_agent(c.workspace_id) then
    perform iu_core.require_member(c.workspace_id, 'stage');
  end if;
  -- Each person has a budget, which others cannot use up; a withdrawal needs a review before it.
  if p_verdict <> 'withdraw'
     and (select count(*) from iu_core.change_review r where r.change_id = c.change_id and lower(r.reviewer) = lower(v_actor.actor)) >= 200 then
    perform iu_core.fn_change_raise_limit(c, '200 reviews by one person');
  end if;
  if p_verdict <> 'comment' then
    perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
    perform iu_core.fn_review_lock(c.workspace_id);
  end if;
  if p_verdict = 'approve' and c.kind = 'upload' then
    perform iu_core.fn_ingest_approve(c.subject_id, p_digest, p_ticked, p_by);
  elsif p_verdict = 'approve' then
    foreach v_item in array coalesce(p_ticked, '{}') loop
      perform iu_core.fn_iu_staging_tick_as(c.subject_id, v_item, true, v_actor.actor, null);
    end loop;
    perform iu_core.fn_iu_staging_approve(c.subject_id, p_digest, p_by);
  elsif p_verdict = 'withdraw' then
    perform iu_core.fn_change_review_withdraw(c, v_actor.actor);
  elsif p_verdict = 'request_changes' then
    perform iu_core.fn_change_review_request(c, p_digest, v_actor);
  else
    insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer, via, role)
    values (c.change_id, coalesce(c.digest, ''), coalesce(c.digest, ''), 'comment', v_actor.actor, v_actor.via,
            iu_core.fn_review_role(c.workspace_id, v_actor.actor));
  end if;
  if p_body ~ '\S' then
    select r.review_id into v_review from iu_core.change_review r
     where r.change_id = c.change_id and r.reviewer = v_actor.actor order by r.review_id desc limit 1;
    update iu_core.change_review
       set body_comment_id = (select m.comment_id from iu_core.fn_change_comment_write(iu_core.fn_change_lock(c.change_id), v_actor.actor, v_actor.via, p_body) m)
     where review_id = v_review;
  end if;
  return iu_core.fn_review_standing(c.change_id);
end $$;

grant execute on function iu_core.fn_change_review(uuid, text, text, text, text[], text) to service_role, stagedoor_reviewer;

-- An administrator dismisses a review, with a reason: an approval no longer counts, a request for changes no longer blocks. Returns how
-- the change stands.
create or replace function iu_core.fn_change_review_dismiss(p_review_id uuid, p_reason text, p_by text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_actor record;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(
    (select r.change_id from iu_core.change_review r where r.review_id = p_review_id))).workspace_id, 'administer');
  select ch.* into c from iu_core.change ch join iu_core.change_review r using (change_id) where r.review_id = p_review_id;
  v_actor := iu_core.fn_actor_for(p_by);
  perform iu_core.fn_change_require_text('A dismissal', p_reason, 2000);
  perform iu_core.fn_review_lock(c.workspace_id);
  perform iu_core.fn_review_lock_subject(c);
  perform iu_core.fn_review_require_undecided(c);
  if not iu_core.fn_change_review_end(p_review_id, v_actor.actor, v_actor.via, p_reason) then
    raise exception using errcode = 'SD343', message = 'The review was dismissed before', detail = '{"reason": "the review was dismissed before"}';
  end if;
  perform iu_core.fn_review_settle(c);
  return iu_core.fn_review_standing(c.change_id);
end $$;

grant execute on function iu_core.fn_change_review_dismiss(uuid, text, text) to service_role, stagedoor_reviewer;

-- What a change needs, who has approved it, and what is missing: fn_review_standing for whoever sees the change.
create or replace function iu_core.fn_review_requirement(p_change_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'read');
  return iu_core.fn_review_standing(p_change_id);
end $$;

grant execute on function iu_core.fn_review_requirement(uuid) to
  service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- How a change stands: {"change", "digest", "policy", "approvals": how many it needs, "roles", "groups", "rules", "counted": how many
-- count, "reviews": [{"review_id", "reviewer", "role", "at", "counts", "groups", "reason"}], "missing": {"approvals", "groups"},
-- "blocked_by": [{"review_id", "reviewer", "at"}], "met", "summary"}. Memberships, roles and groups are those of this moment. Who
-- signed counts, and not who is named: approvals by back-end code are those of one party together, whatever its logins are called, without a role and
-- without a group, because one of its credentials can name everybody and make other credentials. A policy with trust_back_end counts them
-- as those of the members that are named. Internal.
create or replace function iu_core.fn_review_standing(p_change_id uuid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_digest text;
  v_dataset text;
  v_record iu_core.iu_staging_record;
  v_changers text[];
  v_needs jsonb;
  v_reviews jsonb;
  v_counted integer;
  v_in_groups text[];
  v_missing_groups text[];
  v_missing integer;
  v_blocked jsonb;
begin
  select * into c from iu_core.change where change_id = p_change_id;
  if c.kind = 'upload' then
    select coalesce(p.digest, c.digest), u.dataset, u.changed_by into v_digest, v_dataset, v_changers
      from iu_core.ingest_upload u
      left join iu_core.ingest_plan p on p.upload_id = u.upload_id where u.upload_id = c.subject_id;
    select r.* into v_record from iu_core.ingest_plan p join iu_core.iu_staging_record r on r.staging_record_id = p.review_record_id
     where p.upload_id = c.subject_id;
  else
    select r.* into v_record from iu_core.iu_staging_record r where r.staging_record_id = c.subject_id;
    v_digest := v_record.content_hash;
  end if;
  v_needs := iu_core.fn_review_requirement_of(c.workspace_id, c.kind, v_dataset, case when c.kind = 'upload' then c.subject_id end,
                                              iu_core.fn_review_asks_anyway(c.kind, c.subject_id));
  if c.kind = 'record' then
    v_needs := iu_core.fn_approval_needs(c.subject_id, c.workspace_id, v_needs);
  end if;
  v_changers := case when coalesce(v_record.four_eyes, true)
                     then array(select lower(x) from unnest(v_changers || array[v_record.owner_actor, v_record.owner_via]) x where x is not null)
                     else '{}' end;
  with approval as (
    select r.review_id, r.reviewer, r.via, r.role, r.at from iu_core.change_review r
     where r.change_id = c.change_id and r.verdict = 'approve' and r.dismissed_at is null and r.stands_for = v_digest
    union all
    -- Approved before reviews were recorded.
    select null, v_record.approved_by, v_record.approved_via, iu_core.fn_review_role(c.workspace_id, v_record.approved_by), v_record.approved_at
     where v_record.approved_at is not null and not exists (
       select from iu_core.change_review r where r.change_id = c.change_id and r.verdict = 'approve' and lower(r.reviewer) = lower(v_record.approved_by))
  ), judged as (
    select a.*, m.app_role as role_now, case when m.signed then lower(a.reviewer) else '' end as party, m.signed,
           array(select g.group_name from iu_core.member_group_member g
                  where m.signed and g.workspace_id = c.workspace_id and lower(g.member) = lower(a.reviewer) order by 1) as groups,
           case when a.role is not null and m.app_role is null then 'has no longer the right to review'
                when jsonb_array_length(v_needs -> 'roles') > 0 and not v_needs -> 'roles' ? case when m.signed then m.app_role else '' end
                  then case when m.signed then 'has none of the roles that the policy asks for' else 'was named by back-end code, which has none of the roles that the policy asks for' end
                when lower(a.reviewer) = any (v_changers) or lower(a.via) = any (v_changers) then 'has changed it' end as reason
      from approval a
     cross join lateral (select o.app_role, o.app_role is not null and a.role is not null and (a.via is null or (v_needs ->> 'trust_back_end')::boolean)
                           from (select iu_core.fn_review_role(c.workspace_id, a.reviewer)) as o (app_role)) as m (app_role, signed)
  ), counted as (
    select j.*, j.reason is null and row_number() over (partition by j.party, j.reason is null order by j.at) = 1 as counts from judged j
  )
  select coalesce(jsonb_agg(jsonb_build_object('review_id', k.review_id, 'reviewer', k.reviewer, 'role', k.role_now, 'at', k.at, 'counts', k.counts,
           'groups', k.groups, 'reason', coalesce(k.reason, case when not k.counts and not k.signed then 'was given by back-end code, which is one party whomever it names'
                                                                                   when not k.counts then 'is the same party as another approval' end)) order by k.at), '[]'),
         count(*) filter (where k.counts),
         coalesce(array(select distinct unnest(x.groups) from counted x where x.counts and x.signed), '{}')
    into v_reviews, v_counted, v_in_groups from counted k;
  v_missing := greatest((v_needs ->> 'approvals')::integer - v_counted, 0);
  v_missing_groups := array(select g from jsonb_array_elements_text(v_needs -> 'groups') g
                             where lower(g) <> all (array(select lower(x) from unnest(v_in_groups) x)));
  select coalesce(jsonb_agg(jsonb_build_object('review_id', r.review_id, 'reviewer', r.reviewer, 'at', r.at) order by r.at), '[]') into v_blocked
    from iu_core.change_review r where r.change_id = c.change_id and r.verdict = 'request_changes' and r.dismissed_at is null;
  return v_needs || jsonb_build_object(
    'change', c.number, 'digest', v_digest, 'counted', v_counted, 'reviews', v_reviews,
    'missing', jsonb_build_object('approvals', v_missing, 'groups', to_jsonb(v_missing_groups)), 'blocked_by', v_blocked,
    'met', v_missing = 0 and v_missing_groups = '{}' and v_blocked = '[]',
    'summary', concat_ws('; ', format('%s of %s %s', v_counted, v_needs ->> 'approvals',
                                      case v_needs ->> 'approvals' when '1' then 'approval' else 'approvals' end),
                         'still needed: ' || nullif(concat_ws(', ',
                           case when v_missing > cardinality(v_missing_groups) then
                             format(case v_missing when 1 then '%s more approval' else '%s more approvals' end, v_missing) end,
                           (select string_agg('group ' || g, ', ') from unnest(v_missing_groups) g)), ''),
                         case when v_blocked <> '[]' then format('changes were requested by %s', (
                           select string_agg(coalesce((
                                    select to_jsonb(m.*) ->> 'display_name' from public.workspace_members m
                                     where m.workspace_id = c.workspace_id and m.user_id::text = b ->> 'reviewer'), b ->> 'reviewer'), ', ')
                             from jsonb_array_elements(v_blocked) b)) end));
end $$;

-- Whether the subject of a change needs an approval by itself, whatever a policy says: its dataset, its plan or its record asks for one. Internal.
create or replace function iu_core.fn_review_asks_anyway(p_kind text, p_subject_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(case when p_kind = 'upload' then (
      select coalesce(p.approval_required, false) or d.approval_required
        from iu_core.ingest_upload u
        join iu_core.ingest_dataset d on d.dataset = u.dataset
        left join iu_core.ingest_plan p on p.upload_id = u.upload_id where u.upload_id = p_subject_id)
    else (select r.approval_required from iu_core.iu_staging_record r where r.staging_record_id = p_subject_id) end, true)
$$;

-- Everybody who approved what changes stand at, with the time: [{"reviewer", "at"}], the first one first. Of uploads, records or cuts by their
-- ids; the review package of a plan answers for its upload. For whoever sees the changes. For a list, once for all of it: each call reads
-- which uploads the caller may see.
create or replace function iu_core.fn_change_approvers_of(p_subject_ids uuid[]) returns table (subject_id uuid, approvers jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with package as materialized (
    select b.staging_record_id, b.upload_id
      from iu_core.ingest_submission b
      left join iu_core.ingest_plan p on p.upload_id = b.upload_id
      left join iu_core.ingest_promotion m on m.upload_id = b.upload_id
     where b.staging_record_id = any (p_subject_ids) and b.staging_record_id in (p.review_record_id, m.review_record_id)
  ), asked as materialized (
    select i.given, coalesce(b.upload_id, i.given) as subject_id
      from (select distinct given from unnest(p_subject_ids) as x (given)) i left join package b on b.staging_record_id = i.given
  ), reviewed as materialized (
    select c.subject_id, jsonb_agg(jsonb_build_object('reviewer', r.reviewer, 'at', r.at) order by r.at, r.review_id) as approvers
      from iu_core.change c join iu_core.change_review r on r.change_id = c.change_id
     where c.subject_id = any (array(select a.subject_id from asked a)) and r.verdict = 'approve' and r.dismissed_at is null and r.stands_for = c.digest
     group by 1
  ), earlier as materialized (
    -- Approved before reviews were recorded, or as a plan that was replaced since.
    select a.subject_id, m.approved_by, m.approved_at, coalesce(p.review_record_id, a.subject_id) as staging_record_id
      from (select distinct x.subject_id from asked x where x.subject_id not in (select r.subject_id from reviewed r)) a
      left join iu_core.ingest_plan p on p.upload_id = a.subject_id
      left join iu_core.ingest_promotion m on m.upload_id = a.subject_id
  ), recorded as materialized (
    select k.staging_record_id, k.approved_by, k.approved_at from iu_core.iu_staging_record k
     where k.staging_record_id = any (array(select e.staging_record_id from earlier e)) and k.approved_by is not null
  )
  select a.given,
         case when r.subject_id is not null then r.approvers
              when e.approved_by is not null then jsonb_build_array(jsonb_build_object('reviewer', e.approved_by, 'at', e.approved_at))
              when k.approved_by is not null then jsonb_build_array(jsonb_build_object('reviewer', k.approved_by, 'at', k.approved_at))
              else '[]' end
    from asked a
    left join reviewed r on r.subject_id = a.subject_id
    left join earlier e on e.subject_id = a.subject_id
    left join recorded k on k.staging_record_id = e.staging_record_id
$$;

-- fn_change_approvers_of for one.
create or replace function iu_core.fn_change_approvers(p_subject_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select a.approvers from iu_core.fn_change_approvers_of(array[p_subject_id]) a), '[]')
$$;

grant execute on function iu_core.fn_change_approvers_of(uuid[]), iu_core.fn_change_approvers(uuid) to
  service_role, dot_executor, directus, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The role of a member that has the right to review; NULL: no member, or no such right. Internal.
create or replace function iu_core.fn_review_role(p_workspace_id uuid, p_actor text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select a.app_role from iu_core.app_role a where a.app_role = iu_core.fn_member_role(p_workspace_id, p_actor) and 'review' = any (a.rights)
$$;

-- The change that a record is about: of the upload that it reviews, or its own, which is opened now if the record is of this transaction.
-- NULL: a record without a workspace has no change. Internal.
create or replace function iu_core.fn_change_of_record(r iu_core.iu_staging_record) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_upload uuid;
  v_kind text := case when (r.staging_kind, r.payload_type) = ('mark_manifest', 'manifest_json') then 'cut' else 'record' end;
  v_change uuid;
begin
  if r.staging_kind = 'review_package' then
    select s.upload_id into v_upload from iu_core.ingest_submission s where s.staging_record_id = r.staging_record_id;
  end if;
  -- Only those in v_change_subject have one. Nothing is read for the others: that is a third of an approval.
  if v_upload is null and (r.workspace_id is null or not r.approval_required) then
    return null;
  end if;
  select c.change_id into v_change from iu_core.change c
   where c.subject_id = coalesce(v_upload, r.staging_record_id) and c.kind = case when v_upload is null then v_kind else 'upload' end;
  if v_change is null and v_upload is null then
    v_change := iu_core.fn_change_follow(v_kind, r.staging_record_id, r.owner_actor, r.owner_via);
  end if;
  return v_change;
end $$;

-- Records the approval of a record by somebody whose right, four eyes, digest and checklist were checked under the record's lock. Returns
-- how its change stands now; NULL: the record has no change, and is approved by this. Internal: fn_iu_staging_approve.
create or replace function iu_core.fn_review_approve(r iu_core.iu_staging_record, p_actor text, p_via text) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_change uuid := iu_core.fn_change_of_record(r);
  c iu_core.change;
  v_standing jsonb;
  v_review uuid;
begin
  if v_change is null then
    perform iu_core.fn_review_raise_change_missing(r);
    return null;
  end if;
  if iu_core.fn_review_is_outdated(r.staging_record_id) then
    raise exception using
      errcode = 'SD606',
      message = 'This is the review of an earlier plan',
      hint = 'Review the current plan of the upload and decide on that.',
      detail = json_build_object('upload', (select s.upload_id from iu_core.ingest_submission s where s.staging_record_id = r.staging_record_id),
                                 'reason', 'the upload was planned again since')::text;
  end if;
  select * into c from iu_core.change where change_id = v_change for update;
  v_standing := iu_core.fn_review_standing(v_change);
  if exists (select from iu_core.change_review o where o.change_id = v_change and o.verdict = 'approve' and o.dismissed_at is null
              and o.stands_for = v_standing ->> 'digest' and lower(o.reviewer) = lower(p_actor)) then
    raise exception using
      errcode = 'SD651',
      message = format('%s has approved change #%s already: %s', p_actor, c.number, v_standing ->> 'summary'),
      detail = json_build_object('change', c.number, 'missing', v_standing ->> 'summary')::text;
  end if;
  perform iu_core.fn_change_review_end(o.review_id, p_actor, p_via, 'approved since') from iu_core.change_review o
    where o.change_id = v_change and o.verdict = 'request_changes' and o.dismissed_at is null and lower(o.reviewer) = lower(p_actor);
  insert into iu_core.change_review (change_id, digest, stands_for, effect_digest, verdict, reviewer, via, role, requirement)
  values (v_change, v_standing ->> 'digest', v_standing ->> 'digest',
          case when c.kind = 'upload' and (v_standing ->> 'keep_approvals_when_unchanged')::boolean then iu_core.fn_review_effect_digest(c.subject_id) end,
          'approve', p_actor, p_via, iu_core.fn_review_role(c.workspace_id, p_actor),
          jsonb_build_object('policy', v_standing -> 'policy', 'approvals', v_standing -> 'approvals', 'roles', v_standing -> 'roles',
                             'groups', v_standing -> 'groups', 'rules', v_standing -> 'rules'))
  returning review_id into v_review;
  if c.kind = 'upload' then
    perform iu_core.fn_review_store_rows(c);
  end if;
  v_standing := iu_core.fn_review_standing(v_change);
  perform iu_core.fn_change_log(v_change, p_actor, p_via, 'reviewed', jsonb_build_object('verdict', 'approve', 'review_id', v_review,
    'digest', v_standing -> 'digest', 'counted', v_standing -> 'counted', 'approvals', v_standing -> 'approvals', 'groups', v_standing -> 'groups',
    'policy', v_standing -> 'policy', 'rules', (select jsonb_agg(coalesce(nullif(x -> 'name', 'null'), x -> 'why')) from jsonb_array_elements(v_standing -> 'rules') x)));
  perform iu_core.fn_change_event(c, 'reviewed', p_actor, p_via, jsonb_build_object('verdict', 'approve', 'review_id', v_review,
    'counted', v_standing -> 'counted', 'approvals', v_standing -> 'approvals'));
  -- The same person may have requested changes before, and others must approve, too: then nothing else says that nobody blocks it any more.
  if not (v_standing ->> 'met')::boolean then
    perform iu_core.fn_change_follow(c.kind, c.subject_id, p_actor, p_via);
  end if;
  return v_standing;
end $$;

-- Whether a record is the review package of a plan that was replaced since. What somebody approves there, they have not seen in the
-- current plan. Internal.
create or replace function iu_core.fn_review_is_outdated(p_staging_record_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from iu_core.ingest_submission s where s.staging_record_id = p_staging_record_id)
     and not exists (select from iu_core.ingest_plan p where p.review_record_id = p_staging_record_id)
$$;

-- Raises review_incomplete if the change of an approved record does not have the approvals that it needs at this moment. Internal:
-- consumption, and with it promotion, calls it under the record's lock.
create or replace function iu_core.fn_review_require(r iu_core.iu_staging_record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_change uuid := iu_core.fn_change_of_record(r);
  v_standing jsonb;
begin
  if v_change is null then
    perform iu_core.fn_review_raise_change_missing(r);
    return;
  end if;
  v_standing := iu_core.fn_review_standing(v_change);
  if (v_standing ->> 'met')::boolean is not true then
    raise exception using
      errcode = 'SD650',
      message = format('Change #%s is not approved as its review policy asks: %s', v_standing ->> 'change', v_standing ->> 'summary')
        || coalesce((select string_agg(format('; the approval of %s does not count: %s', x ->> 'reviewer', x ->> 'reason'), '')
                       from jsonb_array_elements(v_standing -> 'reviews') x where not (x ->> 'counts')::boolean), ''),
      detail = json_build_object('change', v_standing -> 'change', 'missing', v_standing ->> 'summary')::text;
  end if;
end $$;

-- Raises if a record that must be approved has no change: nobody can tell what it needs and who has approved it. A record without a
-- workspace, or one that needs no approval, never has one. Internal.
create or replace function iu_core.fn_review_raise_change_missing(r iu_core.iu_staging_record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if r.workspace_id is not null and r.approval_required then
    raise exception using
      errcode = 'SD650',
      message = format('The change of record %s is missing, so its reviews cannot be counted. `stagedoor change rebuild` opens it again', r.staging_record_id),
      hint = 'Run `stagedoor change rebuild` on the server, then review it again.',
      detail = json_build_object('record', r.staging_record_id, 'missing', 'its change; run `stagedoor change rebuild`')::text;
  end if;
end $$;

-- Raises review_incomplete if a reviewer requested changes of an upload that needs no approval, or rejected its plan: who asked to look
-- waits for the answer. Internal: promotion calls it under the upload's lock.
create or replace function iu_core.fn_review_require_unblocked(p_upload_id uuid, p_review_record_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
begin
  select * into c from iu_core.change where kind = 'upload' and subject_id = p_upload_id;
  if exists (select from iu_core.change_review o where o.change_id = c.change_id and o.verdict = 'request_changes' and o.dismissed_at is null)
     or exists (select from iu_core.iu_staging_record r where r.staging_record_id = p_review_record_id and r.rejected_at is not null
                   and r.rejected_reason <> 'withdrawn') then
    raise exception using
      errcode = 'SD650',
      message = format('Change #%s is blocked by a reviewer', c.number),
      detail = json_build_object('change', c.number, 'missing', 'a reviewer requested changes or rejected the plan')::text;
  end if;
end $$;

-- Records a request for changes by a reviewer: the change is blocked until this person approves or withdraws it, or an administrator
-- dismisses it. An approval by the same person ends. Internal.
create or replace function iu_core.fn_change_review_request(c iu_core.change, p_digest text, p_actor record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record := iu_core.fn_review_lock_subject(c);
  v_digest text := r.content_hash;
  v_review uuid;
begin
  if c.kind = 'upload' then
    perform iu_core.fn_ingest_lock(c.subject_id, array['planned'], 'reviewed');
    v_digest := (iu_core.fn_ingest_plan_require_digest(c.subject_id, p_digest)).digest;
    if r.staging_record_id is null then
      raise exception using
        errcode = 'SD608',
        message = format('The plan of upload %s was not submitted for approval yet', c.subject_id),
        detail = json_build_object('upload', c.subject_id, 'reason', 'the plan was not submitted yet')::text;
    end if;
  elsif p_digest is distinct from v_digest then
    raise exception using
      errcode = 'SD504',
      message = format('The digest %s is not that of record %s, which is %s', coalesce(p_digest, 'NULL'), c.subject_id, v_digest),
      detail = json_build_object('record', c.subject_id, 'seen', p_digest, 'actual', v_digest)::text;
  end if;
  if r.lifecycle_status not in ('pending', 'approved') or r.expires_at <= clock_timestamp() then
    perform iu_core.fn_iu_staging_raise_status(r.staging_record_id, 'reviewed');
  end if;
  perform iu_core.fn_change_review_end(o.review_id, p_actor.actor, p_actor.via, 'changes requested since') from iu_core.change_review o
    where o.change_id = c.change_id and o.verdict <> 'comment' and o.dismissed_at is null and lower(o.reviewer) = lower(p_actor.actor);
  insert into iu_core.change_review (change_id, digest, stands_for, verdict, reviewer, via, role)
  values (c.change_id, v_digest, v_digest, 'request_changes', p_actor.actor, p_actor.via, iu_core.fn_review_role(c.workspace_id, p_actor.actor))
  returning review_id into v_review;
  perform iu_core.fn_change_log(c.change_id, p_actor.actor, p_actor.via, 'reviewed',
    jsonb_build_object('verdict', 'request_changes', 'review_id', v_review, 'digest', v_digest));
  perform iu_core.fn_change_event(c, 'reviewed', p_actor.actor, p_actor.via, jsonb_build_object('verdict', 'request_changes', 'review_id', v_review));
  perform iu_core.fn_review_settle(c);
  perform iu_core.fn_approval_changes_requested(r, p_actor.actor, p_actor.via);
end $$;

-- Ends one's own approval and request for changes. Internal.
create or replace function iu_core.fn_change_review_withdraw(c iu_core.change, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended integer;
begin
  perform iu_core.fn_review_lock_subject(c);
  perform iu_core.fn_review_require_undecided(c);
  select count(*) filter (where iu_core.fn_change_review_end(o.review_id, p_actor, null, 'withdrawn')) into v_ended
    from iu_core.change_review o
   where o.change_id = c.change_id and o.verdict <> 'comment' and o.dismissed_at is null and lower(o.reviewer) = lower(p_actor);
  if v_ended = 0 then
    raise exception using errcode = 'SD343', message = format('%s has no review of change #%s that stands', p_actor, c.number),
      detail = '{"reason": "no review of yours stands"}';
  end if;
  perform iu_core.fn_review_settle(c);
end $$;

-- Raises if a change has ended: the reviews that it was promoted with stay. The subject is locked. Internal.
create or replace function iu_core.fn_review_require_undecided(c iu_core.change) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text := (select ch.status from iu_core.change ch where ch.change_id = c.change_id);
begin
  if v_status in ('promoted', 'undone', 'rejected', 'closed') then
    raise exception using errcode = 'SD343', message = format('Change #%s is %s: its reviews stay as they are', c.number, v_status),
      detail = json_build_object('reason', 'it is ' || v_status)::text;
  end if;
end $$;

-- Ends a review: it counts and blocks no longer. p_detail: more for the history. False: it had ended before. Internal.
create or replace function iu_core.fn_change_review_end(p_review_id uuid, p_by text, p_via text, p_reason text, p_detail jsonb default '{}') returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_review iu_core.change_review;
  c iu_core.change;
begin
  update iu_core.change_review set dismissed_at = clock_timestamp(), dismissed_by = p_by, dismissed_reason = p_reason
   where review_id = p_review_id and dismissed_at is null returning * into v_review;
  if not found then
    return false;
  end if;
  select * into c from iu_core.change where change_id = v_review.change_id;
  -- The reason that an administrator writes stays with the review.
  perform iu_core.fn_change_log(c.change_id, p_by, p_via, 'review_dismissed', jsonb_build_object('review_id', p_review_id, 'verdict', v_review.verdict,
    'reviewer', v_review.reviewer, 'because', case when p_reason in ('withdrawn', 'approved since', 'changes requested since', 'the plan changed', 'the plan was rejected', 'the review expired') then p_reason
                                                   else 'dismissed' end) || p_detail);
  perform iu_core.fn_change_event(c, 'review_dismissed', p_by, p_via, jsonb_build_object('review_id', p_review_id, 'verdict', v_review.verdict,
    'reviewer', v_review.reviewer));
  return true;
end $$;

-- A review keeps who, what and when; it is dismissed once, gets its comment once, and never goes.
create or replace function iu_core.fn_change_review_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE'
     or (to_jsonb(old) - array['stands_for', 'dismissed_at', 'dismissed_by', 'dismissed_reason', 'body_comment_id'])
        <> (to_jsonb(new) - array['stands_for', 'dismissed_at', 'dismissed_by', 'dismissed_reason', 'body_comment_id'])
     or (old.dismissed_at is not null and (old.dismissed_at, old.dismissed_by, old.dismissed_reason, old.stands_for)
           is distinct from (new.dismissed_at, new.dismissed_by, new.dismissed_reason, new.stands_for))
     or (old.body_comment_id is not null and old.body_comment_id is distinct from new.body_comment_id)
     or (old.stands_for <> new.stands_for and old.effect_digest is null) then
    raise exception using errcode = 'SD002', message = 'change_review is append-only: a review is dismissed, not changed',
      detail = json_build_object('table', 'change_review', 'operation', tg_op)::text;
  end if;
  return new;
end $$;

create or replace trigger change_review_keeps_its_facts
  before update or delete on iu_core.change_review
  for each row execute function iu_core.fn_change_review_guard();
create or replace trigger change_review_is_not_truncated
  before truncate on iu_core.change_review
  for each statement execute function iu_core.fn_refuse_change();
