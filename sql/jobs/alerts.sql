-- Alerts on production rows, and follow-ups of health issues.

-- Evaluates all alert rules of a client over its production rows, in one statement: opens an alert if a rule matches and none
-- is open, resolves alerts whose rule no longer matches or was disabled. Running it again without a change does nothing.
--
-- A window ends with the client's last day, not with today: exports come late, and a rule must not give different results on
-- Monday and Tuesday for the same rows. Without rows, or with money in more than one currency, there is no value, and no rule
-- matches.
create or replace function iu_core.fn_alerts_evaluate(p_client_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text;
  v_result jsonb;
  v_opened uuid[];
  v_workspace uuid;
begin
  if p_client_id is null then
    raise exception using errcode = 'SD001', message = 'Alerts are evaluated for a client';
  end if;
  select string_agg(name, ', ') into v_missing
    from unnest(array['alert_rules', 'alerts', 'clients', 'daily_metrics']) name where to_regclass('public.' || name) is null;
  if v_missing is not null then
    return jsonb_build_object('skipped', 'there is no table ' || v_missing);
  end if;
  -- No constraint prevents two open alerts of one rule.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.alerts ' || p_client_id, 0));
  with days as materialized (
    select m.date, m.currency, sum(m.impressions) as impressions, sum(m.clicks) as clicks, sum(m.spend) as spend, sum(m.reach) as reach,
           sum(m.conversions) as conversions, sum(m.conversion_value) as conversion_value, sum(m.video_views) as video_views
      from public.daily_metrics m where m.client_id = p_client_id group by m.date, m.currency
  ), evaluated as materialized (
    select r.id, r.metric, v.value, v.known,
           r.enabled and coalesce(case r.comparison
             when '<' then v.value < r.threshold when '<=' then v.value <= r.threshold
             when '>' then v.value > r.threshold when '>=' then v.value >= r.threshold
             when '=' then v.value = r.threshold end, false) as holds
      from public.alert_rules r,
           lateral (
             select case lower(r.metric)
                      when 'impressions' then sum(d.impressions) when 'clicks' then sum(d.clicks) when 'reach' then sum(d.reach)
                      when 'conversions' then sum(d.conversions) when 'video_views' then sum(d.video_views)
                      when 'ctr' then sum(d.clicks) / nullif(sum(d.impressions), 0)
                      else case when count(distinct d.currency) <= 1 then case lower(r.metric)
                        when 'spend' then sum(d.spend) when 'conversion_value' then sum(d.conversion_value)
                        when 'cpc' then sum(d.spend) / nullif(sum(d.clicks), 0)
                        when 'cpm' then 1000 * sum(d.spend) / nullif(sum(d.impressions), 0)
                        when 'cpa' then sum(d.spend) / nullif(sum(d.conversions), 0)
                        when 'roas' then sum(d.conversion_value) / nullif(sum(d.spend), 0) end end
                    end as value,
                    lower(r.metric) in ('impressions', 'clicks', 'reach', 'conversions', 'video_views', 'ctr', 'spend',
                                        'conversion_value', 'cpc', 'cpm', 'cpa', 'roas') as known
               from days d where d.date > (select max(l.date) from days l) - r.window_days
           ) as v
     where r.client_id = p_client_id
  ), open_alert as (
    select a.id, a.alert_rule_id, a.value from public.alerts a join evaluated j on j.id = a.alert_rule_id where a.resolved_at is null
  ), opened as (
    insert into public.alerts (alert_rule_id, client_id, value)
    select j.id, p_client_id, j.value from evaluated j
     where j.holds and not exists (select from open_alert o where o.alert_rule_id = j.id)
    returning id
  ), resolved as (
    update public.alerts a set resolved_at = clock_timestamp()
      from open_alert o join evaluated j on j.id = o.alert_rule_id where a.id = o.id and not j.holds
    returning a.id
  ), moved as (
    update public.alerts a set value = j.value
      from open_alert o join evaluated j on j.id = o.alert_rule_id where a.id = o.id and j.holds and o.value is distinct from j.value
  )
  select jsonb_strip_nulls(jsonb_build_object(
           'rules', (select count(*) from evaluated), 'holding', (select count(*) from evaluated where holds),
           'opened', (select count(*) from opened), 'resolved', (select count(*) from resolved),
           'unknown_metrics', (select jsonb_agg(distinct metric) from evaluated where not known))),
         (select array_agg(id order by id) from opened)
    into v_result, v_opened;
  if v_opened is not null then
    select c.workspace_id into v_workspace from public.clients c where c.id = p_client_id;
    perform iu_core.fn_webhook_send('alert', v_workspace, 'alert:' || a.id, a.id::text,
              jsonb_build_object('type', 'alert.opened', 'alert_id', a.id, 'alert_rule_id', a.alert_rule_id, 'client_id', p_client_id))
       from public.alerts a where a.id = any (v_opened);
  end if;
  return v_result;
end $$;

grant execute on function iu_core.fn_alerts_evaluate(uuid) to dot_executor, service_role;

-- After an issue was resolved: opens one follow-up issue that asks a person to check it again. A follow-up has no follow-up
-- itself, or it would repeat for ever.
create or replace function iu_core.fn_health_followup_review(p_issue_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  i iu_core.system_issue;
  v_subject text := 'issue:' || p_issue_id;
  v_followup uuid;
begin
  select * into i from iu_core.system_issue where issue_id = p_issue_id for update;
  if not found then
    return jsonb_build_object('skipped', 'there is no such issue');
  elsif i.code = 'health_followup_review' then
    return jsonb_build_object('skipped', 'it is a follow-up itself');
  end if;
  select f.issue_id into v_followup from iu_core.system_issue f
   where f.code = 'health_followup_review' and f.subject_ref = v_subject limit 1;
  return jsonb_build_object('issue_id', coalesce(v_followup, iu_core.fn_system_issue_open(
    'health_followup_review', 'info', v_subject, left('Does it stay resolved? ' || i.title, 500),
    jsonb_build_object('issue_id', p_issue_id, 'code', i.code), i.workspace_id)));
end $$;

grant execute on function iu_core.fn_health_followup_review(uuid) to dot_executor, service_role;
