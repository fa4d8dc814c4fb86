-- What a change needs under the policy that applies to it: approvals, roles, groups, and the rules that raise them.

-- What a change needs now: {"policy": {"policy_id", "revision", "dataset", "kind"} or null, "approvals", "roles", "groups", "rules":
-- [{"name", "why", "approvals", "groups"}], "keep_approvals_when_unchanged", "trust_back_end"}. p_required: the dataset or the kind of the record
-- requires an approval by itself, so that it is at least one. p_at: at which moment; NULL is now. Internal.
create or replace function iu_core.fn_review_requirement_of(
  p_workspace_id uuid, p_kind text, p_dataset text, p_upload_id uuid, p_required boolean, p_at timestamptz default null
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return iu_core.fn_review_requirement_under(iu_core.fn_review_policy_of(p_workspace_id, p_kind, p_dataset), p_upload_id, p_required, p_at);
end $$;

-- The policy that applies, which is the most specific one; NULL: none does. Internal.
create or replace function iu_core.fn_review_policy_of(p_workspace_id uuid, p_kind text, p_dataset text) returns iu_core.review_policy
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p from iu_core.review_policy p
   where p.workspace_id = p_workspace_id and (p.dataset is null or p.dataset = p_dataset) and (p.kind is null or p.kind = p_kind)
   order by p.dataset nulls last, p.kind nulls last limit 1
$$;

-- What a change needs under a policy, which need not be set; without rules: no policy applies. Conditions about rows hold for uploads only.
-- Internal.
create or replace function iu_core.fn_review_requirement_under(
  v_policy iu_core.review_policy, p_upload_id uuid, p_required boolean, p_at timestamptz
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule jsonb;
  v_unknown jsonb;
  v_why text;
  v_rules jsonb := '[]';
  v_approvals integer;
  v_groups text[];
begin
  if v_policy.rules is null then
    return jsonb_build_object('policy', null, 'approvals', case when p_required then 1 else 0 end, 'roles', '[]'::jsonb, 'groups', '[]'::jsonb,
                              'rules', '[]'::jsonb, 'keep_approvals_when_unchanged', false, 'trust_back_end', false);
  end if;
  v_approvals := greatest((v_policy.rules #>> '{base,approvals}')::integer, case when p_required then 1 else 0 end);
  v_groups := array(select jsonb_array_elements_text(coalesce(v_policy.rules #> '{base,groups}', '[]')));
  for v_rule in select r from jsonb_array_elements(coalesce(v_policy.rules -> 'raise', '[]')) r loop
    v_unknown := case when p_upload_id is null then '{}' else iu_core.fn_review_unknown_columns(v_policy.workspace_id, v_policy.dataset, v_rule -> 'when') end;
    v_why := iu_core.fn_review_rule_applies((v_rule -> 'when') - array(select jsonb_object_keys(v_unknown)), p_upload_id, p_at);
    continue when v_why is null;
    v_why := concat_ws('; ', nullif(v_why, ''), (select string_agg(format('the rule names %s, which is no column any more: set the policy again', n), '; ')
                                                   from jsonb_each(v_unknown) k, jsonb_array_elements_text(k.value) n));
    v_approvals := greatest(v_approvals, (v_rule ->> 'approvals')::integer);
    v_groups := v_groups || array(select jsonb_array_elements_text(coalesce(v_rule -> 'groups', '[]')));
    v_rules := v_rules || jsonb_build_object('name', v_rule -> 'name', 'why', v_why, 'approvals', v_rule -> 'approvals',
                                             'groups', coalesce(v_rule -> 'groups', '[]'));
  end loop;
  -- A group is at least one person.
  v_groups := array(select min(m.group_name) from iu_core.member_group m
                     where m.workspace_id = v_policy.workspace_id and lower(m.group_name) in (select lower(g) from unnest(v_groups) g)
                     group by lower(m.group_name) order by 1)
           || array(select distinct g from unnest(v_groups) g where not exists (
                      select from iu_core.member_group m where m.workspace_id = v_policy.workspace_id and lower(m.group_name) = lower(g)) order by 1);
  if cardinality(v_groups) > 0 then
    v_approvals := greatest(v_approvals, 1);
  end if;
  return jsonb_build_object(
    'policy', jsonb_build_object('policy_id', v_policy.policy_id, 'revision', v_policy.revision, 'dataset', v_policy.dataset, 'kind', v_policy.kind),
    'approvals', v_approvals, 'roles', coalesce(v_policy.rules #> '{base,roles}', '[]'), 'groups', to_jsonb(v_groups), 'rules', v_rules,
    'keep_approvals_when_unchanged', coalesce(v_policy.rules -> 'keep_approvals_when_unchanged', 'false'),
    'trust_back_end', coalesce(v_policy.rules -> 'trust_back_end', 'false'));
end $$;

-- Why all conditions of a rule hold for an upload, in words; NULL if one of them does not. Without an upload only the hours can hold.
-- Counts come from the totals of the plan; named columns and amounts are read from its rows. p_at: at which moment; NULL is now. Internal.
create or replace function iu_core.fn_review_rule_applies(p_when jsonb, p_upload_id uuid, p_at timestamptz) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_condition record;
  v_why text;
  v_all text[] := '{}';
  v_number numeric;
begin
  if p_upload_id is not null then
    select * into u from iu_core.ingest_upload where upload_id = p_upload_id;
    select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  end if;
  -- What costs least first.
  for v_condition in select key, value from jsonb_each(p_when) order by key in ('columns', 'amount_over'), key loop
    v_why := null;
    if v_condition.key = 'outside_hours' then
      v_why := iu_core.fn_review_outside_hours(v_condition.value, coalesce(p_at, clock_timestamp()));
    elsif v_plan.upload_id is null then
      return null;
    elsif v_condition.key in ('rows_over', 'deletes_over') then
      select coalesce(sum(a.value::numeric), 0) into v_number from jsonb_each(v_plan.totals) t, jsonb_each_text(t.value) a
       where a.key = 'delete' or (v_condition.key = 'rows_over' and a.key in ('insert', 'update'));
      -- Rows of other tables that are deleted with them.
      v_number := v_number + coalesce((select sum((d ->> 'rows')::numeric) from jsonb_array_elements(
        case jsonb_typeof(v_plan.snapshot -> 'dependents') when 'array' then v_plan.snapshot -> 'dependents' else '[]' end) d
        where d ->> 'effect' = 'delete'), 0);
      if v_number > v_condition.value::text::numeric then
        v_why := format(case v_condition.key when 'rows_over' then '%s rows are written or deleted, more than %s' else '%s rows are deleted, more than %s' end,
                        v_number, v_condition.value);
      end if;
    elsif v_condition.key = 'share_changed_over' then
      v_number := iu_core.fn_ingest_share_changed(v_plan.totals);
      if v_number > v_condition.value::text::numeric then
        v_why := format('%s %% of the existing rows change, more than %s %%', trim_scale(round(v_number * 100, 1)),
                        trim_scale(v_condition.value::text::numeric * 100));
      end if;
    elsif v_condition.key = 'first_upload_of_source' then
      if not exists (select from iu_core.ingest_upload o left join iu_core.ingest_promotion n on n.upload_id = o.upload_id
                      where o.workspace_id = u.workspace_id and o.dataset = u.dataset and o.platform = u.platform
                        and o.client_id is not distinct from u.client_id and o.upload_id <> u.upload_id
                        and case when p_at is null then o.status = 'promoted'
                                 else n.promoted_at < p_at and coalesce(n.undone_at >= p_at, true) end) then
        v_why := 'nothing of this source was promoted before';
      end if;
    elsif v_condition.key = 'columns' then
      select format('the column %s is changed', string_agg(distinct c, ', ')) into v_why
        from (select c from iu_core.ingest_plan_row r, unnest(r.changed) c
               where r.upload_id = p_upload_id and r.action = 'update'
                 and r.changed && array(select jsonb_array_elements_text(v_condition.value))) x
       where v_condition.value ? c having count(*) > 0;
    elsif v_condition.key = 'amount_over' then
      v_number := iu_core.fn_review_amount(v_plan, v_condition.value ->> 'column');
      if v_number > (v_condition.value ->> 'limit')::numeric then
        v_why := format('%s changes by %s in all, more than %s', v_condition.value ->> 'column', trim_scale(v_number), v_condition.value ->> 'limit');
      end if;
    end if;
    if v_why is null then
      return null;
    end if;
    v_all := v_all || v_why;
  end loop;
  return array_to_string(v_all, '; ');
end $$;

-- Why a time is outside of the working hours; NULL if it is within. Internal.
create or replace function iu_core.fn_review_outside_hours(p_hours jsonb, p_at timestamptz) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when to_char(p_at at time zone (p_hours ->> 'time_zone'), 'HH24:MI') < p_hours ->> 'from'
                or to_char(p_at at time zone (p_hours ->> 'time_zone'), 'HH24:MI') >= p_hours ->> 'to'
                or not coalesce(p_hours -> 'days', '[1, 2, 3, 4, 5]') @> to_jsonb(extract(isodow from p_at at time zone (p_hours ->> 'time_zone'))::integer)
              then format('it is outside of %s–%s (%s)', p_hours ->> 'from', p_hours ->> 'to', p_hours ->> 'time_zone') end
$$;

-- By how much a numeric column changes in a plan, whatever the sign: new rows with their value, changed ones with the difference,
-- deleted ones with the value that they have. 0 if no row type has such a column of numbers. Internal.
create or replace function iu_core.fn_review_amount(p_plan iu_core.ingest_plan, p_column text) returns numeric
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(sum(abs(
           case r.action when 'delete' then 0
                else coalesce(nullif(coalesce(r.after ->> p_column, r.inserted[t.place]), '')::numeric, 0) end
           - case r.action when 'insert' then 0 else coalesce((r.before ->> p_column)::numeric, 0) end)), 0)
    from (select w.key as row_type, (select c.ordinality from rows from (jsonb_to_recordset(p_plan.inserted_columns -> w.key) as ("column" text))
                                       with ordinality as c where c."column" = p_column) as place
            from jsonb_each(p_plan.written) w
           where to_regtype(w.value ->> p_column) = any (array['int2', 'int4', 'int8', 'numeric', 'float4', 'float8']::regtype[])
              or (w.value ->> p_column) like 'numeric%') t
    join iu_core.ingest_plan_row r on r.upload_id = p_plan.upload_id and r.row_type = t.row_type and r.action in ('insert', 'update', 'delete')
$$;
