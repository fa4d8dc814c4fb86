-- Whom a review policy asks, without that anybody names them: members of a group, or of a role, whose approval a change still needs. Read by
-- the inbox (inbox.sql) in one statement for all open changes; fn_review_standing counts in the same way for one.

-- The changes whose policy still asks for an approval that this person can give: through group_name, or through their role (group_name is NULL).
-- asked_by, asked_at: who submitted it, and when. Left out is whoever wrote or changed it, has decided on what it stands at, or could not make
-- the approval count. service_role names somebody with p_for. A definer, as it reads roles of others; fn_inbox reads the changes themselves
-- with the rights of the caller.
create or replace function iu_core.fn_inbox_policy_requests(p_for text default null)
returns table (change_id uuid, group_name text, asked_by text, asked_at timestamptz)
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
set jit = off
-- The planner expects one row of each step, and would join each with each. Tables are read by arrays of ids, so that hash joins need no whole table.
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  v_me record;
  v_is_caller boolean;
begin
  perform iu_core.require_member_somewhere('read');
  v_me := iu_core.fn_actor_for(p_for);
  v_is_caller := v_me.actor = iu_core.fn_actor();
  return query
  with me as materialized (
    select m.workspace_id, a.app_role
      from (select x.workspace_id, x.app_role from iu_core.fn_my_memberships() x where v_is_caller
            union all
            select x.workspace_id, iu_core.fn_member_role(x.workspace_id, x.user_id::text) from public.workspace_members x
             where not v_is_caller and x.user_id::text = v_me.actor) m
      join iu_core.app_role a on a.app_role = m.app_role and 'review' = any (a.rights)
  ), my_group as materialized (
    select g.workspace_id, g.group_name from iu_core.member_group_member g join me on me.workspace_id = g.workspace_id where g.member = v_me.actor
  ), asking as materialized (
    -- Policies that can ask for me at all: most people are in none, and are done here.
    select p.policy_id, p.workspace_id, p.revision, p.rules, coalesce(p.rules #> '{base,roles}', '[]') as roles,
           coalesce(p.rules -> 'trust_back_end' = 'true', false) as trusts_back_end
      from iu_core.review_policy p
      join me on me.workspace_id = p.workspace_id
     where case when coalesce(p.rules #> '{base,roles}', '[]') <> '[]' then p.rules #> '{base,roles}' ? me.app_role
                else exists (select from iu_core.fn_review_policy_groups(p.rules) a (name)
                               join my_group g on g.workspace_id = p.workspace_id and lower(g.group_name) = lower(a.name)) end
  ), open as materialized (
    select c.change_id, c.workspace_id, c.kind, c.subject_id, c.digest from iu_core.change c
     where c.workspace_id = any (array(select a.workspace_id from asking a)) and c.status in ('open', 'changes_requested') and c.author <> v_me.actor
  ), upload as materialized (
    select u.upload_id, u.dataset, u.platform, u.client_id, u.changed_by, d.approval_required
      from iu_core.ingest_upload u
      join iu_core.ingest_dataset d on d.dataset = u.dataset
     where u.upload_id = any (array(select o.subject_id from open o where o.kind = 'upload'))
  ), subject as materialized (
    select o.*, u.dataset, u.platform, u.client_id, u.changed_by, u.approval_required from open o left join upload u on u.upload_id = o.subject_id
  ), scope as materialized (
    select s.workspace_id, s.kind, s.dataset, (iu_core.fn_review_policy_of(s.workspace_id, s.kind, s.dataset)).policy_id
      from (select distinct o.workspace_id, o.kind, o.dataset from subject o) s
  ), judged as materialized (
    select o.*, a.policy_id, a.revision, a.rules, a.roles, a.trusts_back_end
      from subject o
      join scope s on s.workspace_id = o.workspace_id and s.kind = o.kind and coalesce(s.dataset, '') = coalesce(o.dataset, '')
      join asking a on a.policy_id = s.policy_id
  ), plan as materialized (
    select p.upload_id, p.review_record_id, p.approval_required from iu_core.ingest_plan p
     where p.upload_id = any (array(select o.subject_id from judged o where o.kind = 'upload'))
  ), record as materialized (
    select r.staging_record_id, r.owner_actor, r.owner_via, r.created_at, r.expires_at, r.four_eyes, r.approval_required from iu_core.iu_staging_record r
     where r.staging_record_id = any (array(select p.review_record_id from plan p union all select o.subject_id from judged o where o.kind <> 'upload'))
  ), review as materialized (
    select v.change_id, v.stands_for, v.verdict, v.reviewer, v.via, v.role from iu_core.change_review v
     where v.change_id = any (array(select o.change_id from judged o)) and v.verdict in ('approve', 'request_changes') and v.dismissed_at is null
  ), candidate as materialized (
    select o.*, r.owner_actor, r.created_at, y.changers, coalesce(o.approval_required or coalesce(p.approval_required, false), r.approval_required) as asks_anyway
      from judged o
      left join plan p on p.upload_id = o.subject_id
      join record r on r.staging_record_id = case o.kind when 'upload' then p.review_record_id else o.subject_id end
     cross join lateral (select case when r.four_eyes then array(select lower(x) from unnest(o.changed_by || array[r.owner_actor, r.owner_via]) x
                                                                  where x is not null) else '{}' end) as y (changers)
     where r.expires_at > now()
       and not lower(v_me.actor) = any (y.changers)
       -- A token and whoever created it are one party.
       and not (v_is_caller and coalesce(lower(v_me.via) = any (y.changers), false))
       and not exists (select from review v where v.change_id = o.change_id and v.stands_for = o.digest and lower(v.reviewer) = lower(v_me.actor))
  ), rule as materialized (
    select a.policy_id, r.place::integer, r.rule, r.rule -> 'when' ? 'first_upload_of_source' as is_for_first
      from asking a, jsonb_array_elements(coalesce(a.rules -> 'raise', '[]')) with ordinality as r (rule, place)
     where not r.rule -> 'when' ? 'outside_hours'
        or iu_core.fn_review_outside_hours(r.rule #> '{when,outside_hours}', clock_timestamp()) is not null
  ), known_source as materialized (
    select s.* from (select distinct c.workspace_id, c.dataset, c.platform, c.client_id from candidate c
                      where c.policy_id in (select r.policy_id from rule r where r.is_for_first)) s
     where (select true from iu_core.ingest_upload b where b.status = 'promoted' and b.workspace_id = s.workspace_id and b.dataset = s.dataset
               and b.platform = s.platform and b.client_id is not distinct from s.client_id limit 1)
  ), stored as materialized (
    select k.* from iu_core.change_policy_rule k where k.change_id = any (array(select c.change_id from candidate c))
  ), met as materialized (
    select c.change_id, max((r.rule ->> 'approvals')::integer) as approvals, jsonb_agg(r.rule -> 'groups') as groups
      from candidate c
      left join stored k
        on k.change_id = c.change_id and k.policy_id = c.policy_id and k.revision = c.revision and k.digest is not distinct from c.digest
     -- Not stored: the policy was set while the change was submitted.
     cross join lateral unnest(case when c.rules ? 'raise' then coalesce(k.rules, iu_core.fn_review_plan_rules(
       (select p from iu_core.review_policy p where p.policy_id = c.policy_id), case c.kind when 'upload' then c.subject_id end)) end) as n (place)
      join rule r on r.policy_id = c.policy_id and r.place = n.place
     where not r.is_for_first
        or not exists (select from known_source s where s.workspace_id = c.workspace_id and s.dataset = c.dataset and s.platform = c.platform
                                                    and s.client_id is not distinct from c.client_id)
     group by 1
  ), need as materialized (
    select c.*, x.groups, greatest((c.rules #>> '{base,approvals}')::integer, c.asks_anyway::integer, m.approvals, least(cardinality(x.groups), 1)) as approvals
      from candidate c
      left join met m on m.change_id = c.change_id
     cross join lateral (select array(select lower(jsonb_array_elements_text(coalesce(c.rules #> '{base,groups}', '[]')))
                                      union
                                      select lower(jsonb_array_elements_text(g)) from jsonb_array_elements(m.groups) g where jsonb_typeof(g) = 'array')) as x (groups)
  ), approval as materialized (
    select n.change_id, n.workspace_id, v.reviewer, v.via, v.role, n.roles, n.trusts_back_end, n.changers
      from need n
      join review v on v.change_id = n.change_id and v.verdict = 'approve' and v.stands_for = n.digest
  ), reviewer as materialized (
    select x.workspace_id, x.reviewer, iu_core.fn_review_role(x.workspace_id, x.reviewer) as role_now,
           array(select lower(g.group_name) from iu_core.member_group_member g
                  where g.workspace_id = x.workspace_id and lower(g.member) = lower(x.reviewer)) as groups
      from (select distinct a.workspace_id, a.reviewer from approval a) x
  ), counted as (
    select a.change_id, count(distinct case when s.is_signed then lower(a.reviewer) else '' end) as approvals,
           string_agg(array_to_string(w.groups, '/'), '/') filter (where s.is_signed) as groups
      from approval a
      join reviewer w on w.workspace_id = a.workspace_id and w.reviewer = a.reviewer
     cross join lateral (select w.role_now is not null and a.role is not null and (a.via is null or a.trusts_back_end)) as s (is_signed)
     where (a.role is null or w.role_now is not null)
       and (a.roles = '[]' or a.roles ? case when s.is_signed then w.role_now else '' end)
       and not lower(a.reviewer) = any (a.changers) and not coalesce(lower(a.via) = any (a.changers), false)
     group by 1
  )
  select n.change_id, q.group_name, n.owner_actor, n.created_at
    from need n
    left join counted k on k.change_id = n.change_id
    left join lateral (select min(g.group_name) as group_name from my_group g
                        where g.workspace_id = n.workspace_id and lower(g.group_name) = any (n.groups)
                          -- The name of a group has no slash.
                          and lower(g.group_name) <> all (string_to_array(coalesce(k.groups, ''), '/'))) q on true
   where q.group_name is not null or (n.roles <> '[]' and n.approvals > coalesce(k.approvals, 0));
end $$;

grant execute on function iu_core.fn_inbox_policy_requests(text) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- The rules of a policy, by their places from 1, that the plan of an upload meets; without an upload, those that can hold without a plan. What
-- changes without the plan, the hour and whether the source is new, is not asked. As in fn_review_requirement_under, a condition on a column that
-- is gone counts as met. Internal.
create or replace function iu_core.fn_review_plan_rules(p_policy iu_core.review_policy, p_upload_id uuid) returns integer[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(r.place::integer order by r.place), '{}')
    from jsonb_array_elements(coalesce(p_policy.rules -> 'raise', '[]')) with ordinality as r (rule, place)
   where (p_upload_id is not null or not r.rule -> 'when' ? 'first_upload_of_source')
     and iu_core.fn_review_rule_applies(
           (r.rule -> 'when') - array['outside_hours', 'first_upload_of_source']
             - case when p_upload_id is null then '{}'
                    else array(select jsonb_object_keys(iu_core.fn_review_unknown_columns(p_policy.workspace_id, p_policy.dataset, r.rule -> 'when'))) end,
           p_upload_id, null) is not null
$$;

-- Stores which rules of their policies open changes meet; those that are stored for this digest and revision are left. Internal.
create or replace function iu_core.fn_review_rules_store(p_change_ids uuid[]) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into iu_core.change_policy_rule as k (change_id, digest, policy_id, revision, rules)
  select c.change_id, c.digest, p.policy_id, p.revision, iu_core.fn_review_plan_rules(p, case c.kind when 'upload' then c.subject_id end)
    from iu_core.change c
    left join iu_core.ingest_upload u on c.kind = 'upload' and u.upload_id = c.subject_id
   cross join lateral iu_core.fn_review_policy_of(c.workspace_id, c.kind, u.dataset) p
   where c.change_id = any (p_change_ids) and jsonb_array_length(coalesce(p.rules -> 'raise', '[]')) > 0
     and not exists (select from iu_core.change_policy_rule s
                      where s.change_id = c.change_id and s.policy_id = p.policy_id and s.revision = p.revision and s.digest is not distinct from c.digest)
   order by c.change_id
  on conflict on constraint change_policy_rule_pkey do update
     set digest = excluded.digest, policy_id = excluded.policy_id, revision = excluded.revision, rules = excluded.rules
$$;

-- A change waits for reviews, or for those of another plan: what its policy asks for is stored with it. When it has ended, that goes.
create or replace function iu_core.fn_review_rules_follow_change() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.status in ('open', 'changes_requested') then
    perform iu_core.fn_review_rules_store(array[new.change_id]);
  else
    delete from iu_core.change_policy_rule where change_id = new.change_id;
  end if;
  return null;
end $$;

create or replace trigger change_opens_with_policy_rules
  after insert on iu_core.change
  for each row when (new.status in ('open', 'changes_requested'))
  execute function iu_core.fn_review_rules_follow_change();
create or replace trigger change_follows_policy_rules
  after update of status, digest on iu_core.change
  for each row when ((old.status, old.digest) is distinct from (new.status, new.digest)
                     and (new.status in ('open', 'changes_requested', 'promoted', 'undone', 'rejected', 'closed')))
  execute function iu_core.fn_review_rules_follow_change();

-- Another policy: of the open changes that it is for, what it asks for is stored at once, so that no inbox has to read their rows.
create or replace function iu_core.fn_review_rules_follow_policy() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy iu_core.review_policy := case tg_op when 'DELETE' then old else new end;
begin
  perform iu_core.fn_review_rules_store(array(
    select c.change_id from iu_core.change c
      left join iu_core.ingest_upload u on c.kind = 'upload' and u.upload_id = c.subject_id
     where c.workspace_id = v_policy.workspace_id and c.status in ('open', 'changes_requested')
       and (v_policy.kind is null or c.kind = v_policy.kind) and (v_policy.dataset is null or u.dataset = v_policy.dataset)));
  return null;
end $$;

create or replace trigger review_policy_stores_rules
  after insert or update of rules, revision or delete on iu_core.review_policy
  for each row execute function iu_core.fn_review_rules_follow_policy();
