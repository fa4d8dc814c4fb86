-- The ad-platform tables: an optional pack for a database that does not have them yet. Each is created only where it is
-- absent; one that is there is left as it is. Run by `stagedoor dataset register ads`, as workflow_admin.
do $$
declare
  v_table text;
begin
  if to_regclass('public.clients') is null then
    create table public.clients (
      id uuid primary key default gen_random_uuid(),
      workspace_id uuid not null references public.workspaces (id) on delete cascade,
      name text not null constraint clients_name_not_blank check (name ~ '\S'),
      created_at timestamptz not null default now(),
      constraint clients_one_name_each unique (workspace_id, name)
    );
  end if;
  if to_regclass('public.data_uploads') is null then
    create table public.data_uploads (
      id uuid primary key default gen_random_uuid(),
      workspace_id uuid not null references public.workspaces (id) on delete cascade,
      client_id uuid not null references public.clients (id) on delete cascade,
      platform text not null,
      file_name text not null,
      status text not null default 'pending'
        constraint data_uploads_status_known check (status in ('pending', 'processing', 'completed', 'failed', 'undone')),
      row_count bigint,
      created_at timestamptz not null default now()
    );
  end if;
  if to_regclass('public.campaigns') is null then
    create table public.campaigns (
      id uuid primary key default gen_random_uuid(),
      client_id uuid not null references public.clients (id),
      platform text not null,
      external_id text not null,
      name text not null,
      status text,
      objective text,
      budget numeric(18, 6),
      currency text,
      created_at timestamptz not null default now(),
      constraint campaigns_one_external_id_each unique (client_id, platform, external_id)
    );
  end if;
  if to_regclass('public.ad_sets') is null then
    create table public.ad_sets (
      id uuid primary key default gen_random_uuid(),
      campaign_id uuid not null references public.campaigns (id),
      external_id text not null,
      name text,
      status text,
      created_at timestamptz not null default now(),
      constraint ad_sets_one_external_id_each unique (campaign_id, external_id)
    );
  end if;
  if to_regclass('public.ads') is null then
    create table public.ads (
      id uuid primary key default gen_random_uuid(),
      ad_set_id uuid not null references public.ad_sets (id),
      external_id text not null,
      name text,
      status text,
      created_at timestamptz not null default now(),
      constraint ads_one_external_id_each unique (ad_set_id, external_id)
    );
  end if;
  foreach v_table in array array['daily_metrics', 'demographic_metrics'] loop
    continue when to_regclass('public.' || v_table) is not null;
    execute format($sql$
      create table public.%1$I (
        id uuid primary key default gen_random_uuid(),
        -- Its campaign leads to the client; a second foreign key would only be checked once more for every row.
        client_id uuid not null,
        platform text not null,
        campaign_id uuid not null references public.campaigns (id),
        ad_set_id uuid references public.ad_sets (id),
        ad_id uuid references public.ads (id),
        date date not null,
        %2$s
        currency text,
        impressions bigint constraint %3$I check (impressions >= 0),
        clicks bigint constraint %4$I check (clicks >= 0),
        spend numeric(18, 6) constraint %5$I check (spend >= 0),
        reach bigint,
        conversions numeric(18, 6),
        conversion_value numeric(18, 6),
        video_views bigint,
        created_at timestamptz not null default now(),
        -- The ad first: it serves the foreign key, too, when an undo deletes ads.
        constraint %6$I unique nulls not distinct (ad_id, ad_set_id, campaign_id, date %7$s)
      )
    $sql$, v_table, case v_table when 'demographic_metrics' then 'age text, gender text,' else '' end,
      v_table || '_impressions_not_negative', v_table || '_clicks_not_negative', v_table || '_spend_not_negative',
      v_table || '_once_a_day', case v_table when 'demographic_metrics' then ', age, gender' else '' end);
  end loop;
  if to_regclass('public.alert_rules') is null then
    create table public.alert_rules (
      id uuid primary key default gen_random_uuid(),
      client_id uuid not null references public.clients (id) on delete cascade,
      name text not null,
      metric text not null,
      comparison text not null constraint alert_rules_comparison_known check (comparison in ('<', '<=', '>', '>=', '=')),
      threshold numeric not null,
      window_days integer not null default 1 constraint alert_rules_window_some check (window_days > 0),
      enabled boolean not null default true,
      created_at timestamptz not null default now()
    );
  end if;
  if to_regclass('public.alerts') is null then
    create table public.alerts (
      id uuid primary key default gen_random_uuid(),
      alert_rule_id uuid not null references public.alert_rules (id) on delete cascade,
      client_id uuid not null references public.clients (id) on delete cascade,
      value numeric,
      fired_at timestamptz not null default now(),
      resolved_at timestamptz
    );
  end if;
  if to_regclass('public.reports') is null then
    create table public.reports (
      id uuid primary key default gen_random_uuid(),
      client_id uuid not null references public.clients (id) on delete cascade,
      title text not null,
      date_from date,
      date_to date,
      created_at timestamptz not null default now()
    );
  end if;
end $$;

-- Members read what is their workspaces'; the back end does everything. Only on tables that are ours.
do $$
declare
  v_table text;
  v_scope text;
begin
  for v_table, v_scope in values
    ('clients', 'workspace_id in (select iu_core.fn_my_workspaces())'),
    ('data_uploads', 'workspace_id in (select iu_core.fn_my_workspaces())'),
    ('campaigns', 'client_id in (select id from public.clients)'),
    ('ad_sets', 'campaign_id in (select id from public.campaigns)'),
    ('ads', 'ad_set_id in (select id from public.ad_sets)'),
    ('daily_metrics', 'client_id in (select id from public.clients)'),
    ('demographic_metrics', 'client_id in (select id from public.clients)'),
    ('alert_rules', 'client_id in (select id from public.clients)'),
    ('alerts', 'client_id in (select id from public.clients)'),
    ('reports', 'client_id in (select id from public.clients)')
  loop
    continue when not exists (select from pg_class where oid = to_regclass('public.' || v_table) and relowner = 'workflow_admin'::regrole)
      or exists (select from pg_policy where polrelid = to_regclass('public.' || v_table) and polname = v_table || '_member_reads');
    execute format('alter table public.%I enable row level security', v_table);
    execute format('create policy %I on public.%I for select to authenticated, stagedoor_agent, stagedoor_reviewer using (%s)',
                   v_table || '_member_reads', v_table, v_scope);
    execute format('create policy %I on public.%I to service_role, dot_executor using (true) with check (true)', v_table || '_service', v_table);
    execute format('grant select on public.%I to authenticated, stagedoor_agent, stagedoor_reviewer, dot_executor', v_table);
    execute format('grant select, insert, update, delete on public.%I to service_role', v_table);
  end loop;
end $$;
