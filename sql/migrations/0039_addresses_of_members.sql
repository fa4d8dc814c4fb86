-- E-mail addresses of members, and jobs and issues that belong to no workspace seen by whoever operates all of them.

-- The address that the identity provider gave and verified at the last sign-in. For messages to requested reviewers.
create table iu_core.member_email (
  subject text not null constraint member_email_once primary key
    constraint member_email_subject_short check (length(subject) between 1 and 255),
  email text not null
    constraint member_email_form check (length(email) <= 254 and email ~ '^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*$'),
  seen_at timestamptz not null default clock_timestamp()
);
comment on table iu_core.member_email is 'verified e-mail addresses of members, from the identity provider';

-- Whom the actor administers in some workspace. It takes no argument, so nothing can be forged.
create function iu_core.fn_my_administered_members() returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select m.user_id::text from public.workspace_members m
   where m.workspace_id in (select w from iu_core.fn_my_workspaces() w
                             where exists (select from iu_core.app_role a where a.app_role = iu_core.fn_member_role(w, (select iu_core.fn_actor()))
                                              and 'administer' = any (a.rights)))
$$;
revoke all on function iu_core.fn_my_administered_members() from public;
grant execute on function iu_core.fn_my_administered_members() to authenticated, stagedoor_reviewer;

alter table iu_core.member_email enable row level security;
create policy member_email_own_and_administered on iu_core.member_email for select
  to authenticated, stagedoor_reviewer
  using (subject = (select iu_core.fn_actor()) or subject in (select iu_core.fn_my_administered_members()));
create policy member_email_service_reads on iu_core.member_email for select to service_role, dot_executor using (true);
grant select on iu_core.member_email to authenticated, stagedoor_reviewer, service_role, dot_executor;

-- A target may be the people whose review is requested.
alter table iu_core.webhook_target
  drop constraint webhook_target_url_form,
  add constraint webhook_target_url_form check (
    length(url) <= 2000 and (url ~ '^https?://[^\s@/]+(/\S*)?$' or url ~ '^mailto:[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$' or url = 'mailto:{reviewers}'));

-- Whether the actor may operate in every workspace there is: who sees what belongs to none. It takes no argument, so nothing can be forged.
create function iu_core.fn_i_operate_everywhere() returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from public.workspaces)
     and not exists (select from public.workspaces w
                      where not exists (select from iu_core.app_role a
                                         where a.app_role = iu_core.fn_member_role(w.id, (select iu_core.fn_actor())) and 'operate' = any (a.rights)))
$$;
revoke all on function iu_core.fn_i_operate_everywhere() from public;
grant execute on function iu_core.fn_i_operate_everywhere() to authenticated, stagedoor_reviewer;
do $$
declare
  v_table text;
begin
  foreach v_table in array array['job_queue', 'job_history', 'job_dead_letter', 'system_issue'] loop
    execute format('create policy %I on iu_core.%I for select to authenticated, stagedoor_reviewer
                      using (workspace_id is null and (select iu_core.fn_i_operate_everywhere()))', v_table || '_of_no_workspace', v_table);
  end loop;
end $$;
