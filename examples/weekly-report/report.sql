-- What the story of this folder has of its own in the database, beside Stagedoor's tables. Run by the owner of the ad tables.

-- Which steps of the story are done, and what they made. A step that is listed never runs again.
create table if not exists public.weekly_report_step (
  step text primary key,
  made jsonb not null,
  done_at timestamptz not null default now()
);

-- What the playbook may read: figures by client, platform, campaign and day. It sees nothing else of these tables.
create or replace view public.weekly_report_spend as
select m.client_id, m.platform, c.name as campaign, m.date, m.spend, m.clicks, m.conversions
  from public.daily_metrics m
  join public.campaigns c on c.id = m.campaign_id;

grant select on public.weekly_report_spend to stagedoor_playbook;
