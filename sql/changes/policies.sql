-- Review policies: how many approvals a change needs, and of whom. Groups of members, which a policy may ask for.

-- Sets the policy of a workspace for a dataset or a kind of change, or for both or neither. Administrators of the workspace. Audited.
-- p_revision: the revision that the caller has read, 0 for none; another one is refused, so that nobody overwrites what they have not seen.
-- NULL does not ask. Changes that were approved, and under this policy are not, wait for approval again. Returns the id of the policy.
create or replace function iu_core.fn_review_policy_set(
  p_workspace_id uuid, p_dataset text, p_kind text, p_rules jsonb, p_reason text default null, p_revision integer default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  perform iu_core.fn_review_lock(p_workspace_id, true);
  if length(p_reason) > 2000 then
    raise exception using errcode = 'SD001', message = 'The reason has at most 2,000 characters';
  end if;
  perform iu_core.fn_review_policy_require_valid(p_workspace_id, p_dataset, p_kind, p_rules);
  perform iu_core.fn_review_policy_require_revision(p_workspace_id, p_dataset, p_kind, p_revision);
  -- Otherwise one credential of the back end could give itself as many reviewers as it likes.
  if p_rules -> 'trust_back_end' = 'true' and iu_core.fn_caller_is_service() and not exists (
       select from iu_core.review_policy where workspace_id = p_workspace_id and dataset is not distinct from p_dataset
          and kind is not distinct from p_kind and rules -> 'trust_back_end' = 'true') then
    raise exception using
      errcode = 'SD202',
      message = 'Only an administrator of the workspace lets back-end code approve for others (trust_back_end)',
      hint = 'Set the policy as that person: in the console, or `stagedoor policy set … --as admin`.',
      detail = json_build_object('actor', iu_core.fn_actor(), 'role', iu_core.fn_caller_role(), 'right', 'administer')::text;
  end if;
  if (select count(*) from iu_core.review_policy where workspace_id = p_workspace_id) >= 200
     and not exists (select from iu_core.review_policy where workspace_id = p_workspace_id
                      and dataset is not distinct from p_dataset and kind is not distinct from p_kind) then
    raise exception using errcode = 'SD001', message = 'A workspace has at most 200 review policies';
  end if;
  perform set_config('stagedoor.policy_reason', coalesce(p_reason, ''), true);
  insert into iu_core.review_policy as p (workspace_id, dataset, kind, rules, revision, set_by)
  values (p_workspace_id, p_dataset, p_kind, p_rules, iu_core.fn_review_policy_last_revision(p_workspace_id, p_dataset, p_kind) + 1, iu_core.fn_actor())
  on conflict on constraint review_policy_once do update
     set rules = excluded.rules, revision = p.revision + 1, set_by = excluded.set_by, set_at = clock_timestamp()
  returning p.policy_id into v_id;
  perform set_config('stagedoor.policy_reason', '', true);
  perform iu_core.fn_review_settle_workspace(p_workspace_id);
  return v_id;
end $$;

grant execute on function iu_core.fn_review_policy_set(uuid, text, text, jsonb, text, integer) to service_role, dot_executor, stagedoor_reviewer;

-- Removes a policy: the next less specific one applies, or one approval where the dataset or the kind requires it. p_revision as in
-- fn_review_policy_set. Administrators of the workspace. Audited.
create or replace function iu_core.fn_review_policy_remove(
  p_workspace_id uuid, p_dataset text, p_kind text, p_reason text default null, p_revision integer default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_review_lock(p_workspace_id, true);
  perform iu_core.fn_review_policy_require_revision(p_workspace_id, p_dataset, p_kind, p_revision);
  perform set_config('stagedoor.policy_reason', left(coalesce(p_reason, ''), 2000), true);
  delete from iu_core.review_policy
   where workspace_id = p_workspace_id and dataset is not distinct from p_dataset and kind is not distinct from p_kind;
  if not found then
    raise exception using errcode = 'SD652', message = 'There is no review policy for ' || iu_core.fn_review_policy_scope(p_dataset, p_kind),
      detail = json_build_object('what', 'review policy for ' || iu_core.fn_review_policy_scope(p_dataset, p_kind))::text;
  end if;
  perform set_config('stagedoor.policy_reason', '', true);
  perform iu_core.fn_review_settle_workspace(p_workspace_id);
end $$;

grant execute on function iu_core.fn_review_policy_remove(uuid, text, text, text, integer) to service_role, dot_executor, stagedoor_reviewer;

-- What the last changes would have needed under these rules, and what they need now. Writes nothing. {"revision": of the policy that is set, 0
-- for none, "changes": [{"number", "title", "kind", "dataset", "status", "opened_at", "needs", "would_need", "rows_known"}], "other_policy": how many of
-- the last changes a more specific policy decides on}. "needs" and "would_need" are as fn_review_requirement_of answers. A change that was promoted is
-- judged as of that moment. "rows_known" is false where the rows of the plan are no longer kept: conditions on columns and amounts cannot hold
-- then. Administrators of the workspace.
create or replace function iu_core.fn_review_policy_preview(
  p_workspace_id uuid, p_dataset text, p_kind text, p_rules jsonb, p_limit integer default 20
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_draft iu_core.review_policy;
  v_answer jsonb;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  if p_limit is null or p_limit not between 1 and 100 then
    raise exception using errcode = 'SD001', message = 'A preview looks at 1 to 100 changes';
  end if;
  perform iu_core.fn_review_policy_require_valid(p_workspace_id, p_dataset, p_kind, p_rules);
  v_draft.workspace_id := p_workspace_id;
  v_draft.dataset := p_dataset;
  v_draft.kind := p_kind;
  v_draft.rules := p_rules;
  v_draft.revision := iu_core.fn_review_policy_last_revision(p_workspace_id, p_dataset, p_kind) + 1;
  with last as materialized (
    select c.*, u.upload_id, u.dataset, p.upload_id is not null as has_plan,
           coalesce(n.promoted_at, case when c.status = 'promoted' then r.approved_at end) as decided_at, n.images_dropped_at
      from iu_core.change c
      left join iu_core.ingest_upload u on c.kind = 'upload' and u.upload_id = c.subject_id
      left join iu_core.ingest_plan p on p.upload_id = u.upload_id
      left join iu_core.ingest_promotion n on n.upload_id = u.upload_id
      left join iu_core.iu_staging_record r on c.kind <> 'upload' and r.staging_record_id = c.subject_id
     where c.workspace_id = p_workspace_id and (p_kind is null or c.kind = p_kind) and (p_dataset is null or u.dataset = p_dataset)
     order by c.number desc limit p_limit
  ), judged as materialized (
    select l.*, exists (select from iu_core.review_policy o
                         where o.workspace_id = p_workspace_id and (o.dataset is null or o.dataset = l.dataset) and (o.kind is null or o.kind = l.kind)
                           and (o.dataset is not null, o.kind is not null) > (p_dataset is not null, p_kind is not null)) as is_other
      from last l
  )
  select jsonb_build_object(
           'changes', coalesce(jsonb_agg(jsonb_build_object(
             'number', j.number, 'title', j.title, 'kind', j.kind, 'dataset', j.dataset, 'status', j.status, 'opened_at', j.created_at,
             'needs', iu_core.fn_review_requirement_of(p_workspace_id, j.kind, j.dataset, j.upload_id, a.required, j.decided_at),
             'would_need', iu_core.fn_review_requirement_under(v_draft, j.upload_id, a.required, j.decided_at),
             'rows_known', j.kind <> 'upload' or j.has_plan and j.images_dropped_at is null) order by j.number desc) filter (where not j.is_other), '[]'),
           'other_policy', count(*) filter (where j.is_other))
    into v_answer
    from judged j, lateral (select iu_core.fn_review_asks_anyway(j.kind, j.subject_id)) as a (required);
  return v_answer || jsonb_build_object('revision', coalesce((
    select o.revision from iu_core.review_policy o
     where o.workspace_id = p_workspace_id and o.dataset is not distinct from p_dataset and o.kind is not distinct from p_kind), 0));
end $$;

grant execute on function iu_core.fn_review_policy_preview(uuid, text, text, jsonb, integer) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- Adds a group, and a member to it if one is named. Administrators of the workspace. Audited. Returns the name of the group, which may
-- differ in case from what was given.
create or replace function iu_core.fn_group_add(p_workspace_id uuid, p_group text, p_member text default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group text;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  perform iu_core.fn_review_lock(p_workspace_id, true);
  if p_workspace_id is null or p_group is null or p_group !~ '^[[:alnum:]][[:alnum:] ._-]{0,62}$' or p_group ~ '[ ]$' then
    raise exception using errcode = 'SD001',
      message = 'The name of a group has 1 to 63 letters, digits, spaces, dots, hyphens or underscores, and begins with a letter or digit';
  end if;
  select group_name into v_group from iu_core.member_group where workspace_id = p_workspace_id and lower(group_name) = lower(p_group);
  if not found then
    if (select count(*) from iu_core.member_group where workspace_id = p_workspace_id) >= 100 then
      raise exception using errcode = 'SD001', message = 'A workspace has at most 100 groups';
    end if;
    insert into iu_core.member_group (workspace_id, group_name, created_by) values (p_workspace_id, p_group, iu_core.fn_actor())
    returning group_name into v_group;
  end if;
  if p_member is not null then
    if iu_core.fn_member_role(p_workspace_id, p_member) is null then
      raise exception using errcode = 'SD001', message = format('%s is not a member of the workspace', p_member),
        hint = '`stagedoor member list` and GET /api/v1/members show who is.';
    end if;
    if (select count(*) from iu_core.member_group_member where workspace_id = p_workspace_id and group_name = v_group) >= 1000 then
      raise exception using errcode = 'SD001', message = 'A group has at most 1,000 members';
    end if;
    insert into iu_core.member_group_member (workspace_id, group_name, member, added_by)
    values (p_workspace_id, v_group, p_member, iu_core.fn_actor()) on conflict do nothing;
    perform iu_core.fn_review_settle_workspace(p_workspace_id);
  end if;
  return v_group;
end $$;

grant execute on function iu_core.fn_group_add(uuid, text, text) to service_role, dot_executor, stagedoor_reviewer;

-- Removes a member from a group, or the whole group if no member is named. A group that a policy asks for stays: nobody could meet the
-- policy. Administrators of the workspace. Audited. Approvals that counted for the group no longer do.
create or replace function iu_core.fn_group_remove(p_workspace_id uuid, p_group text, p_member text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group text;
  v_policy text;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_review_lock(p_workspace_id, true);
  select group_name into v_group from iu_core.member_group where workspace_id = p_workspace_id and lower(group_name) = lower(p_group);
  if not found then
    raise exception using errcode = 'SD652', message = format('There is no group %s', coalesce(p_group, 'NULL')),
      detail = json_build_object('what', 'group ' || coalesce(p_group, 'NULL'))::text;
  end if;
  if p_member is null then
    select iu_core.fn_review_policy_scope(p.dataset, p.kind) into v_policy from iu_core.review_policy p
     where p.workspace_id = p_workspace_id
       and exists (select from iu_core.fn_review_policy_groups(p.rules) g where lower(g) = lower(v_group)) limit 1;
    if v_policy is not null then
      raise exception using errcode = 'SD001', message = format('The review policy for %s asks for the group %s', v_policy, v_group),
        hint = 'Change or remove the policy first.';
    end if;
    delete from iu_core.member_group_member where workspace_id = p_workspace_id and group_name = v_group;
    delete from iu_core.member_group where workspace_id = p_workspace_id and group_name = v_group;
    return;
  end if;
  delete from iu_core.member_group_member where workspace_id = p_workspace_id and group_name = v_group and member = p_member;
  if not found then
    raise exception using errcode = 'SD652', message = format('%s is not in the group %s', p_member, v_group),
      detail = json_build_object('what', format('member %s in the group %s', p_member, v_group))::text;
  end if;
  perform iu_core.fn_review_settle_workspace(p_workspace_id);
end $$;

grant execute on function iu_core.fn_group_remove(uuid, text, text) to service_role, dot_executor, stagedoor_reviewer;

-- Serializes policies and groups of a workspace against approvals: whoever approves takes it shared and first, whoever changes a policy
-- or a group exclusively. So no approval counts under a policy that was replaced meanwhile. Internal.
create or replace function iu_core.fn_review_lock(p_workspace_id uuid, p_exclusive boolean default false) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_workspace_id is null then
    return;
  end if;
  if p_exclusive then
    perform pg_advisory_xact_lock(hashtextextended('stagedoor.review ' || p_workspace_id, 0));
  else
    perform pg_advisory_xact_lock_shared(hashtextextended('stagedoor.review ' || p_workspace_id, 0));
  end if;
end $$;

-- Refuses rules that cannot be those of a policy for a dataset or a kind, in words. Internal.
create or replace function iu_core.fn_review_policy_require_valid(p_workspace_id uuid, p_dataset text, p_kind text, p_rules jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when p_workspace_id is null then 'A review policy is of a workspace'
    when p_kind is not null and p_kind not in ('upload', 'record', 'cut', 'sql') then format('%L is not a kind of change; upload, record, cut and sql are', p_kind)
    when p_dataset is not null and coalesce(p_kind, 'upload') <> 'upload' then format('Only uploads have a dataset: a policy of %s has none', p_kind)
    when p_dataset is not null and not exists (select from iu_core.ingest_dataset d where d.dataset = p_dataset
                                                and (d.workspace_id is null or d.workspace_id = p_workspace_id))
      then format('There is no dataset %L', p_dataset)
    else coalesce(iu_core.fn_review_policy_problem(p_workspace_id, p_rules), iu_core.fn_review_policy_column_problem(p_workspace_id, p_dataset, p_kind, p_rules)) end;
begin
  if v_problem is not null then
    raise exception using errcode = 'SD001', message = v_problem,
      hint = 'For example {"base": {"approvals": 1}, "raise": [{"when": {"rows_over": 1000}, "approvals": 2, "groups": ["Finance"]}]}.';
  end if;
end $$;

-- Refuses a revision that is not the one of the policy now; NULL asks nothing, 0 says that there is no policy yet. The caller holds
-- fn_review_lock exclusively, so that nobody sets another one before it is done. Internal.
create or replace function iu_core.fn_review_policy_require_revision(p_workspace_id uuid, p_dataset text, p_kind text, p_revision integer) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy iu_core.review_policy;
  v_scope text := iu_core.fn_review_policy_scope(p_dataset, p_kind);
  v_what text;
begin
  select * into v_policy from iu_core.review_policy
   where workspace_id = p_workspace_id and dataset is not distinct from p_dataset and kind is not distinct from p_kind;
  if p_revision is null or p_revision = coalesce(v_policy.revision, 0) then
    return;
  end if;
  v_what := case
    when v_policy.policy_id is null then format('The review policy for %s was removed meanwhile; yours is based on revision %s', v_scope, p_revision)
    when p_revision = 0 then format('There is a review policy for %s already, revision %s', v_scope, v_policy.revision)
    else format('The review policy for %s is at revision %s by now, and yours is based on revision %s', v_scope, v_policy.revision, p_revision) end;
  raise exception using errcode = 'SD653', message = v_what || '. Nothing was changed',
    detail = json_build_object('what', v_what, 'revision', coalesce(v_policy.revision, 0), 'based_on', p_revision, 'set_by', v_policy.set_by)::text;
end $$;

-- The revision that the policy has or had last; 0: there never was one. A policy that is set again after it was removed goes on counting, so
-- that a revision never names two different rules. Internal.
create or replace function iu_core.fn_review_policy_last_revision(p_workspace_id uuid, p_dataset text, p_kind text) returns integer
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max((coalesce(a.new_row, a.old_row) ->> 'revision')::integer), 0) from iu_core.review_policy_audit a
   where a.workspace_id = p_workspace_id and a.what = 'policy'
     and coalesce(a.new_row, a.old_row) ->> 'dataset' is not distinct from p_dataset
     and coalesce(a.new_row, a.old_row) ->> 'kind' is not distinct from p_kind
$$;

-- Why rules cannot be the rules of a policy; NULL if they can. Internal.
create or replace function iu_core.fn_review_policy_problem(p_workspace_id uuid, p_rules jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
  v_rule jsonb;
  v_problem text;
begin
  if jsonb_typeof(p_rules) is distinct from 'object' or octet_length(p_rules::text) > 65536 then
    return 'The rules of a review policy are a JSON object of at most 64 KB';
  end if;
  select k into v_unknown from jsonb_object_keys(p_rules) k where k not in ('base', 'raise', 'keep_approvals_when_unchanged', 'trust_back_end') limit 1;
  if v_unknown is not null then
    return format('A review policy has no setting %L; base, raise, keep_approvals_when_unchanged and trust_back_end are', v_unknown);
  end if;
  select k into v_unknown from unnest(array['keep_approvals_when_unchanged', 'trust_back_end']) k
   where coalesce(jsonb_typeof(p_rules -> k), 'boolean') <> 'boolean' limit 1;
  if v_unknown is not null then
    return v_unknown || ' is true or false';
  end if;
  if jsonb_typeof(p_rules -> 'base') is distinct from 'object' then
    return 'base is missing: what every change needs, such as {"approvals": 1}';
  end if;
  select k into v_unknown from jsonb_object_keys(p_rules -> 'base') k where k not in ('approvals', 'roles', 'groups') limit 1;
  if v_unknown is not null then
    return format('base has no setting %L; approvals, roles and groups are', v_unknown);
  end if;
  if not p_rules -> 'base' ? 'approvals' then
    return 'base needs approvals: how many, 0 to 20';
  end if;
  v_problem := iu_core.fn_review_policy_needs_problem(p_workspace_id, p_rules -> 'base', 'base');
  if v_problem is not null then
    return v_problem;
  end if;
  if coalesce(jsonb_typeof(p_rules #> '{base,roles}'), 'array') <> 'array' then
    return 'base.roles is an array of roles, such as ["reviewer", "admin"]';
  end if;
  select format('base.roles: %s is not a role that may review; %s are', r,
                (select string_agg(a.app_role, ' and ' order by a.app_role desc) from iu_core.app_role a where 'review' = any (a.rights)))
    into v_problem from jsonb_array_elements(coalesce(p_rules #> '{base,roles}', '[]')) r
   where not exists (select from iu_core.app_role a where to_jsonb(a.app_role) = r and 'review' = any (a.rights)) limit 1;
  if v_problem is not null then
    return v_problem;
  end if;
  if coalesce(jsonb_typeof(p_rules -> 'raise'), 'array') <> 'array' or jsonb_array_length(coalesce(p_rules -> 'raise', '[]')) > 50 then
    return 'raise is an array of at most 50 rules';
  end if;
  for v_rule in select r from jsonb_array_elements(coalesce(p_rules -> 'raise', '[]')) r loop
    v_problem := iu_core.fn_review_policy_rule_problem(p_workspace_id, v_rule);
    exit when v_problem is not null;
  end loop;
  return v_problem;
end $$;

-- Why approvals and groups of a rule cannot be asked for; NULL if they can. Internal.
create or replace function iu_core.fn_review_policy_needs_problem(p_workspace_id uuid, p_needs jsonb, p_where text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_needs ? 'approvals' and p_needs ->> 'approvals' !~ '^([0-9]|1[0-9]|20)$' then p_where || '.approvals is a whole number from 0 to 20'
    when coalesce(jsonb_typeof(p_needs -> 'groups'), 'array') <> 'array' or jsonb_array_length(coalesce(nullif(p_needs -> 'groups', 'null'), '[]')) > 20
      then p_where || '.groups is an array of at most 20 names of groups'
    else (select format('%s.groups: there is no group %s in this workspace; `stagedoor group add` adds one', p_where, g)
            from jsonb_array_elements(coalesce(p_needs -> 'groups', '[]')) g
           where not exists (select from iu_core.member_group m where m.workspace_id = p_workspace_id and lower(m.group_name) = lower(g #>> '{}'))
           limit 1) end
$$;

-- Why a raised rule cannot be; NULL if it can. Internal.
create or replace function iu_core.fn_review_policy_rule_problem(p_workspace_id uuid, p_rule jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_unknown text;
  v_problem text;
  v_hours jsonb;
begin
  if jsonb_typeof(p_rule) is distinct from 'object' then
    return 'Each rule of raise is an object {"when", "approvals", "groups"}';
  end if;
  if coalesce(jsonb_typeof(p_rule -> 'name'), 'string') <> 'string' or length(p_rule ->> 'name') not between 1 and 100 then
    return 'The name of a rule is a text of at most 100 characters';
  end if;
  v_name := format('The rule %s', coalesce(p_rule ->> 'name', left(p_rule ->> 'when', 80)));
  select k into v_unknown from jsonb_object_keys(p_rule) k where k not in ('name', 'when', 'approvals', 'groups') limit 1;
  if v_unknown is not null then
    return format('%s has no setting %L; name, when, approvals and groups are', v_name, v_unknown);
  end if;
  if not p_rule ?| array['approvals', 'groups'] then
    return format('%s asks for nothing: it needs approvals or groups', v_name);
  end if;
  if jsonb_typeof(p_rule -> 'when') is distinct from 'object' or p_rule -> 'when' = '{}' then
    return format('%s has no condition: when is an object such as {"rows_over": 1000}', v_name);
  end if;
  v_problem := iu_core.fn_review_policy_needs_problem(p_workspace_id, p_rule, v_name);
  if v_problem is not null then
    return v_problem;
  end if;
  select case w.key
           when 'rows_over' then case when w.value::text !~ '^[0-9]{1,12}$' then 'rows_over is a whole number' end
           when 'deletes_over' then case when w.value::text !~ '^[0-9]{1,12}$' then 'deletes_over is a whole number' end
           when 'share_changed_over' then case when jsonb_typeof(w.value) <> 'number' or w.value::text::numeric not between 0 and 1
                                               then 'share_changed_over is a share from 0 to 1' end
           when 'columns' then case when jsonb_typeof(w.value) <> 'array' or jsonb_array_length(w.value) not between 1 and 100
                                         or exists (select from jsonb_array_elements(case jsonb_typeof(w.value) when 'array' then w.value else '[]' end) c
                                                     where jsonb_typeof(c) <> 'string')
                                    then 'columns is an array of 1 to 100 names' end
           when 'amount_over' then case when jsonb_typeof(w.value) <> 'object' or jsonb_typeof(w.value -> 'column') is distinct from 'string'
                                             or jsonb_typeof(w.value -> 'limit') is distinct from 'number' or (w.value ->> 'limit')::numeric < 0
                                             or w.value - 'column' - 'limit' <> '{}'
                                        then 'amount_over is {"column": its name, "limit": an amount}' end
           when 'first_upload_of_source' then case when w.value <> 'true' then 'first_upload_of_source is true' end
           when 'outside_hours' then case when jsonb_typeof(w.value) <> 'object' then 'outside_hours is {"time_zone", "from", "to", "days"}' end
           else format('there is no condition %L; rows_over, share_changed_over, deletes_over, columns, amount_over, outside_hours and first_upload_of_source are', w.key)
         end
    into v_problem from jsonb_each(p_rule -> 'when') w order by 1 nulls last limit 1;
  if v_problem is not null then
    return format('%s: %s', v_name, v_problem);
  end if;
  v_hours := p_rule #> '{when,outside_hours}';
  if v_hours is not null then
    return case
      when v_hours - 'time_zone' - 'from' - 'to' - 'days' <> '{}' then format('%s: outside_hours has time_zone, from, to and days only', v_name)
      when not exists (select from pg_timezone_names z where z.name = v_hours ->> 'time_zone')
        then format('%s: outside_hours.time_zone is a name such as Europe/Berlin, not %s', v_name, coalesce(v_hours ->> 'time_zone', 'missing'))
      when coalesce(v_hours ->> 'from', '') !~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' or coalesce(v_hours ->> 'to', '') !~ '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$'
           or v_hours ->> 'from' >= v_hours ->> 'to'
        then format('%s: outside_hours.from and .to are times of one day, such as 08:00 and 18:00', v_name)
      when coalesce(jsonb_typeof(v_hours -> 'days'), 'array') <> 'array'
           or exists (select from jsonb_array_elements(case jsonb_typeof(v_hours -> 'days') when 'array' then v_hours -> 'days' else '[]' end) d where d::text !~ '^[1-7]$')
        then format('%s: outside_hours.days is an array of the working days, 1 (Monday) to 7', v_name) end;
  end if;
  return null;
end $$;

-- Why a policy names a column that nothing has which it is for; NULL if it does not. Where no dataset is registered yet, any name will do.
-- Internal.
create or replace function iu_core.fn_review_policy_column_problem(p_workspace_id uuid, p_dataset text, p_kind text, p_rules jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(case u.key when 'columns' then 'The rule %s names the column %s, which is no column of %s. Its columns: %s'
                           else 'The rule %s names %s as an amount, which is no column of numbers of %s. Its columns of numbers: %s' end,
                coalesce(r ->> 'name', left(r ->> 'when', 80)), u.value ->> 0,
                coalesce('the dataset ' || p_dataset, 'any dataset of the workspace'),
                coalesce((select left(string_agg(k.column_name, ', ' order by k.column_name), 500) from iu_core.fn_review_columns(p_workspace_id, p_dataset) k
                           where u.key = 'columns' or k.is_number), 'none'))
    from jsonb_array_elements(coalesce(p_rules -> 'raise', '[]')) r,
         jsonb_each(iu_core.fn_review_unknown_columns(p_workspace_id, p_dataset, r -> 'when')) u
   where coalesce(p_kind, 'upload') = 'upload'
   limit 1
$$;

-- What is wrong with a policy that was right when it was set: a column that it names is gone. Its rules that name it apply to every upload
-- until the policy is set again. For members.
create or replace function iu_core.fn_review_policy_warnings(p_policy_id uuid) returns text[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  p iu_core.review_policy;
begin
  perform iu_core.require_member((select o.workspace_id from iu_core.review_policy o where o.policy_id = p_policy_id), 'read');
  select * into p from iu_core.review_policy o where o.policy_id = p_policy_id;
  return array_remove(array[iu_core.fn_review_policy_column_problem(p.workspace_id, p.dataset, p.kind, p.rules)
    || '. Until the policy is set again, the rule applies to every upload.'], null);
end $$;

grant execute on function iu_core.fn_review_policy_warnings(uuid) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- The conditions of a rule that name a column which no dataset has that the policy is for: {"columns": [names], "amount_over": [name]}. Such
-- a condition counts as met: a rule that nobody can read must not let everything pass. Internal.
create or replace function iu_core.fn_review_unknown_columns(p_workspace_id uuid, p_dataset text, p_when jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_when ?| array['columns', 'amount_over'] then
    return '{}';
  end if;
  return (
    with known as materialized (select * from iu_core.fn_review_columns(p_workspace_id, p_dataset)),
         named as (select 'columns' as key, jsonb_array_elements_text(p_when -> 'columns') as name
                   union all
                   select 'amount_over', p_when #>> '{amount_over,column}' where p_when ? 'amount_over'),
         unknown as (select n.key, jsonb_agg(n.name order by n.name) as names from named n
                      where exists (select from known)
                        and not exists (select from known k where k.column_name = n.name and (n.key = 'columns' or k.is_number))
                      group by n.key)
    select coalesce(jsonb_object_agg(key, names), '{}') from unknown);
end $$;

-- The columns that uploads of a dataset write, or of all datasets of the workspace. Internal.
create or replace function iu_core.fn_review_columns(p_workspace_id uuid, p_dataset text) returns table (column_name text, is_number boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c, coalesce(bool_or(a.atttypid = any (array['int2', 'int4', 'int8', 'numeric', 'float4', 'float8']::regtype[])), false)
    from iu_core.ingest_dataset d,
         jsonb_array_elements(d.definition -> 'rows') r
   cross join lateral jsonb_object_keys(r -> 'columns') c
    left join pg_attribute a on a.attrelid = to_regclass(r ->> 'target') and a.attname = c and not a.attisdropped
   where (d.workspace_id is null or d.workspace_id = p_workspace_id) and (p_dataset is null or d.dataset = p_dataset)
   group by c
$$;

-- The groups that rules ask for. Internal.
create or replace function iu_core.fn_review_policy_groups(p_rules jsonb) returns setof text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_array_elements_text(n -> 'groups')
    from (select p_rules -> 'base' union all select jsonb_array_elements(coalesce(p_rules -> 'raise', '[]'))) as x (n)
   where jsonb_typeof(n -> 'groups') = 'array'
$$;

-- What a policy is for, in words. Internal.
create or replace function iu_core.fn_review_policy_scope(p_dataset text, p_kind text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_dataset is not null then 'the dataset ' || p_dataset
              when p_kind is not null then 'changes of the kind ' || p_kind
              else 'the workspace' end
$$;

-- Writes an audit row for every change of a policy, a group or its members, also for a change by hand.
create or replace function iu_core.fn_review_policy_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.review_policy_audit (workspace_id, what, old_row, new_row, actor, reason)
  values (coalesce(new.workspace_id, old.workspace_id), tg_argv[0], to_jsonb(old), to_jsonb(new), iu_core.fn_actor(),
          nullif(current_setting('stagedoor.policy_reason', true), ''));
  return null;
end $$;

create or replace trigger review_policy_is_audited
  after insert or update or delete on iu_core.review_policy
  for each row execute function iu_core.fn_review_policy_audit('policy');
create or replace trigger member_group_is_audited
  after insert or update or delete on iu_core.member_group
  for each row execute function iu_core.fn_review_policy_audit('group');
create or replace trigger member_group_member_is_audited
  after insert or update or delete on iu_core.member_group_member
  for each row execute function iu_core.fn_review_policy_audit('member');
create or replace trigger review_policy_audit_only_grows
  before update or delete on iu_core.review_policy_audit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger review_policy_audit_is_not_truncated
  before truncate on iu_core.review_policy_audit
  for each statement execute function iu_core.fn_refuse_change();
