-- The inbox: what concerns one person, one row for each matter and change. What is to be done (review_requested, changes_requested,
-- undo_requested, plan_outdated) follows from how the change stands and stays until it is done. News (mentioned, replied, approved, promoted,
-- rejected, undone) is of the last 30 days; it is read when it was marked as read, or answered in its thread.

-- The inbox of whoever asks; service_role names somebody with p_for. What is to be done comes first, the oldest first; then news, the newest
-- first. News that was read is left out unless p_all. to_do_count and unread_count are of all rows, also of those after p_limit. seen is given back to
-- fn_inbox_read. One statement with the rights of the caller: nobody is told of what they may not see.
create or replace function iu_core.fn_inbox(
  p_workspace_id uuid default null, p_all boolean default false, p_limit integer default 100, p_for text default null
)
returns table (
  matter text, to_do boolean, change_id uuid, workspace_id uuid, number integer, kind text, title text, status text,
  -- Who did it last, and when; through which group one is asked, and whether only the review policy asks; the comment that it is about, and
  -- how it begins; how many there are.
  actor text, at timestamptz, group_name text, by_policy boolean, comment_id uuid, excerpt text, many integer,
  unread boolean, seen integer, to_do_count integer, unread_count integer
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_me text := (iu_core.fn_actor_for(p_for)).actor;
  v_since timestamptz := now() - interval '30 days';
  v_workspaces uuid[];
  -- Where they may review, and with it undo.
  v_decides_in uuid[];
begin
  if p_limit is null or p_limit not between 1 and 500 then
    raise exception using errcode = 'SD001', message = 'The inbox lists 1 to 500 matters at once';
  end if;
  if v_me = iu_core.fn_actor() then
    select array_agg(m.workspace_id), array_agg(m.workspace_id) filter (where 'review' = any (a.rights)) into v_workspaces, v_decides_in
      from iu_core.fn_my_memberships() m join iu_core.app_role a on a.app_role = m.app_role
     where m.app_role <> 'agent' and (p_workspace_id is null or m.workspace_id = p_workspace_id);
  else
    select array_agg(m.workspace_id), array_agg(m.workspace_id) filter (where m.may_review) into v_workspaces, v_decides_in
      from iu_core.fn_inbox_workspaces(v_me) m where p_workspace_id is null or m.workspace_id = p_workspace_id;
  end if;
  if v_workspaces is null then
    return;
  end if;
  return query
  with mine as materialized (
    select c.change_id, c.kind, c.subject_id, c.digest from iu_core.change c
     where c.author = v_me and c.status in ('draft', 'open', 'changes_requested', 'approved')
  ), asked as (
    select r.change_id, r.requested_by, r.requested_at, null::text as group_name from iu_core.change_reviewer r where r.reviewer = v_me
    union all
    select r.change_id, r.requested_by, r.requested_at, r.group_name
      from iu_core.member_group_member g
      join iu_core.change c on c.workspace_id = g.workspace_id and c.status in ('open', 'changes_requested') and c.author <> v_me
      join iu_core.change_reviewer r on r.change_id = c.change_id and lower(r.group_name) = lower(g.group_name)
     where g.member = v_me
  ), review_requested as (
    select distinct on (w.change_id) w.change_id, w.requested_by, w.requested_at, w.group_name, w.by_policy
      from (select a.change_id, a.requested_by, a.requested_at, a.group_name, false as by_policy
              from asked a
              join iu_core.change c on c.change_id = a.change_id
             where c.status in ('open', 'changes_requested')
               -- Done by a review of what the change stands at; of a group that is asked, by one of them.
               and not exists (
                 select from iu_core.change_review v
                  where v.change_id = c.change_id and v.verdict in ('approve', 'request_changes') and v.dismissed_at is null and v.stands_for = c.digest
                    and (lower(v.reviewer) = lower(v_me)
                         or lower(v.reviewer) in (select lower(g.member) from iu_core.member_group_member g
                                                   where g.workspace_id = c.workspace_id and lower(g.group_name) = lower(a.group_name))))
            union all
            select p.change_id, p.asked_by, p.asked_at, p.group_name, true from iu_core.fn_inbox_policy_requests(p_for) p) w
     order by w.change_id, w.by_policy, w.group_name nulls first
  ), undo_requested as (
    select h.change_id, h.actor, h.at, (h.detail ->> 'comment_id')::uuid as comment_id
      from iu_core.change_history h
      join iu_core.change c on c.change_id = h.change_id
      join iu_core.ingest_promotion m on m.upload_id = c.subject_id
     where h.what = 'undo_requested' and h.actor <> v_me and c.workspace_id = any (v_decides_in) and c.status = 'promoted'
       and m.undone_at is null and m.undo_until > now()
       and not exists (select from iu_core.change_history l
                        where l.change_id = h.change_id and l.seq > h.seq and l.what in ('undo_requested', 'undo_declined'))
  ), outdated as (
    -- Another promotion or undo wrote rows of the plan, somebody compared it with its tables, or a promotion found it.
    select c.change_id, coalesce(f.tried_by, k.actor) as actor, coalesce(f.failed_at, k.at) as at, coalesce(f.error ->> 'message', k.why) as why
      from mine c
      left join iu_core.fn_ingest_outdated(array(select x.subject_id from mine x where x.kind = 'upload')) o on o.upload_id = c.subject_id
      left join lateral (select x.tried_by, x.failed_at, x.error from iu_core.ingest_promotion_failure x
                          where x.upload_id = c.subject_id and x.plan_digest = c.digest order by x.failure_id desc limit 1) f
        on f.error ->> 'code' = 'plan_stale'
      left join lateral (
        select coalesce(case when p.undone_at <= m.marked_at then p.undone_by else p.promoted_by end, m.marked_by, v_me) as actor, m.marked_at as at,
               format(case when m.kind = 'seen' then '%s changed since the plan was made' when p.undone_at <= m.marked_at then 'the undo of #%2$s wrote %1$s of the plan'
                           else 'the promotion of #%2$s wrote %1$s of the plan' end,
                      m.row_count || case m.row_count when 1 then ' row' else ' rows' end, b.number) as why
          from iu_core.ingest_plan_mark m
          left join iu_core.ingest_promotion p on p.upload_id = m.by_upload_id
          left join iu_core.change b on b.kind = 'upload' and b.subject_id = m.by_upload_id
         where m.upload_id = c.subject_id and m.kind in ('seen', 'moved') and m.row_count > 0
         order by m.mark_id desc limit 1) k on o.outdated = 'outdated'
     where c.kind = 'upload' and (f.error is not null or k.at is not null)
  ), thread as materialized (
    -- In which they wrote lately; what was said before they came is no reply, and what was said before they wrote last is answered.
    select m.thread_id, min(m.created_at) as joined_at, max(m.created_at) as answered_at from iu_core.change_comment m
     where m.author = v_me and m.comment_id >= iu_core.fn_time_uuid_floor(now() - interval '90 days') group by m.thread_id
  ), mentioned as (
    select m.change_id, m.author as actor, coalesce(m.edited_at, m.created_at) as at, m.comment_id,
           coalesce(t.answered_at > coalesce(m.edited_at, m.created_at), false) as is_answered
      from iu_core.fn_inbox_mentions(v_me) x
      join iu_core.change_comment m on m.comment_id = x.comment_id
      left join thread t on t.thread_id = m.thread_id
     where m.author <> v_me and m.deleted_at is null and coalesce(m.edited_at, m.created_at) > v_since
    union all
    select x.change_id, h.actor, h.at, null, false
      from iu_core.fn_inbox_mentions(v_me) x
     cross join lateral (select d.actor, d.at from iu_core.change_history d
                          where d.change_id = x.change_id and d.what = 'described' and d.detail -> 'mentioned' ? v_me order by d.seq desc limit 1) h
     where x.comment_id is null and h.actor <> v_me and h.at > v_since
  ), replied as (
    select m.change_id, m.author as actor, m.created_at as at, m.comment_id, t.answered_at > m.created_at as is_answered
      from thread t
      join iu_core.change_comment m on m.thread_id = t.thread_id and m.created_at > t.joined_at
     where m.author <> v_me and m.deleted_at is null and not m.mentions @> array[v_me] and m.created_at > v_since
    union
    -- The author of a change takes part in all of its threads. What a request for changes or for an undo says stands with that, and is no
    -- news when the request has ended.
    select m.change_id, m.author, m.created_at, m.comment_id, coalesce(t.answered_at > m.created_at, false)
      from iu_core.change c
      join iu_core.change_comment m on m.change_id = c.change_id and m.comment_id >= iu_core.fn_time_uuid_floor(v_since)
      left join thread t on t.thread_id = m.thread_id
     where c.author = v_me and c.comment_count > 0 and c.updated_at > v_since
       and m.author <> v_me and m.deleted_at is null and not m.mentions @> array[v_me]
       and not exists (select from iu_core.change_review v
                        where v.change_id = m.change_id and v.body_comment_id = m.comment_id and v.verdict = 'request_changes')
       and m.comment_id not in (select u.comment_id from undo_requested u)
  ), ended as (
    (select c.change_id, c.status, c.kind, c.subject_id from iu_core.change c
      where c.author = v_me and c.status in ('approved', 'promoted', 'rejected', 'undone') and c.updated_at > v_since
      order by c.updated_at desc limit 500)
    union
    -- Whoever asked for an undo hears of it.
    select c.change_id, c.status, c.kind, c.subject_id
      from iu_core.change_history h
      join iu_core.change c on c.change_id = h.change_id
     where h.what = 'undo_requested' and h.actor = v_me and c.status = 'undone' and c.updated_at > v_since
  ), item as (
    select 'review_requested' as matter, true as to_do, r.change_id, r.requested_by as actor, r.requested_at as at, r.group_name, r.by_policy,
           null::uuid as comment_id, null::text as why, false as is_answered
      from review_requested r
    union all
    select 'changes_requested', true, c.change_id, v.reviewer, v.at, null, false, v.body_comment_id, null, false
      from mine c
      join iu_core.change_review v on v.change_id = c.change_id and v.verdict = 'request_changes' and v.dismissed_at is null and v.stands_for = c.digest
    union all
    select 'undo_requested', true, u.change_id, u.actor, u.at, null, false, u.comment_id, null, false from undo_requested u
    union all
    select 'plan_outdated', true, o.change_id, o.actor, o.at, null, false, null, o.why, false from outdated o
    union all
    select 'mentioned', false, m.change_id, m.actor, m.at, null, false, m.comment_id, null, m.is_answered from mentioned m
    union all
    select 'replied', false, r.change_id, r.actor, r.at, null, false, r.comment_id, null, r.is_answered from replied r
    union all
    select e.status, false, e.change_id, h.actor, h.at, null, false, null,
           case e.status
             when 'undone' then (select m.undo_reason from iu_core.ingest_promotion m where m.upload_id = e.subject_id)
             when 'rejected' then (select r.rejected_reason from iu_core.iu_staging_record r
                                    where r.staging_record_id = coalesce((select p.review_record_id from iu_core.ingest_plan p
                                                                           where p.upload_id = e.subject_id), e.subject_id)) end, false
      from ended e
     cross join lateral (select d.actor, d.at from iu_core.change_history d
                          where d.change_id = e.change_id and d.what = 'status' order by d.seq desc limit 1) h
     where h.actor <> v_me and h.at > v_since
  ), matter as (
    -- Of each change and matter the newest, and before that what is unread: who answered one mention may have another.
    select distinct on (i.change_id, i.matter) i.*, count(*) over (partition by i.change_id, i.matter)::integer as many, n.unread
      from item i
      left join iu_core.change_inbox_read r on r.actor = v_me and r.change_id = i.change_id and r.matter = i.matter
     cross join lateral (select i.to_do or not (i.is_answered or coalesce(i.at <= r.read_until, false)) as unread) n
     order by i.change_id, i.matter, n.unread desc, i.at desc
  ), listed as (
    select m.matter, m.to_do, c.change_id, c.workspace_id, c.number, c.kind, c.title, c.status, m.actor, m.at, m.group_name, m.by_policy, m.comment_id, m.why,
           m.many, m.unread, c.history_count,
           (count(*) filter (where m.to_do) over ())::integer as to_do_count,
           (count(*) filter (where m.unread and not m.to_do) over ())::integer as unread_count
      from matter m
      join iu_core.change c on c.change_id = m.change_id
     where c.workspace_id = any (v_workspaces) and (p_all or m.unread)
     order by m.to_do desc, m.unread desc, case when m.to_do then m.at end, m.at desc, c.change_id, m.matter
     limit p_limit
  )
  select l.matter, l.to_do, l.change_id, l.workspace_id, l.number, l.kind, l.title, l.status, l.actor, l.at, l.group_name, l.by_policy, l.comment_id,
         left(coalesce(t.body, l.why), 280), l.many, l.unread, l.history_count, l.to_do_count, l.unread_count
    from listed l
    left join iu_core.change_comment t on t.comment_id = l.comment_id
   order by l.to_do desc, l.unread desc, case when l.to_do then l.at end, l.at desc, l.change_id, l.matter;
end $$;

grant execute on function iu_core.fn_inbox(uuid, boolean, integer, text) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- The workspaces of a person whom back-end code names, and whether they may review there. An agent has no inbox.
create or replace function iu_core.fn_inbox_workspaces(p_user_id text) returns table (workspace_id uuid, may_review boolean)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select m.workspace_id, 'review' = any (a.rights)
    from public.workspace_members m
    join iu_core.app_role a on a.app_role = iu_core.fn_member_role(m.workspace_id, m.user_id::text)
   where m.user_id::text = p_user_id and a.app_role <> 'agent'
$$;

grant execute on function iu_core.fn_inbox_workspaces(text) to service_role;

-- Where somebody is mentioned: the ids of comments, and of changes with a description that does (comment_id is NULL). A definer, because under row
-- level security an index over arrays finds nothing: its operator is not leakproof. fn_inbox reads the rows themselves with the rights of the caller.
create or replace function iu_core.fn_inbox_mentions(p_actor text) returns table (change_id uuid, comment_id uuid)
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_somewhere('read');
  return query
    select m.change_id, m.comment_id from iu_core.change_comment m
     where m.mentions @> array[(iu_core.fn_actor_for(p_actor)).actor] and m.mentions <> '{}'
    union all
    select c.change_id, null::uuid from iu_core.change c
     where c.mentions @> array[(iu_core.fn_actor_for(p_actor)).actor] and c.mentions <> '{}';
end $$;

grant execute on function iu_core.fn_inbox_mentions(text) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- Marks news as read: [{"change_id", "matter", "seen"}], as fn_inbox listed it. What came after `seen` stays unread. What is to be done is
-- refused: it ends when it is done. Returns how many marks are new.
create or replace function iu_core.fn_inbox_read(p_items jsonb, p_for text default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_me text;
  v_wrong text;
  v_marked integer;
begin
  perform iu_core.require_member_somewhere('read');
  v_me := (iu_core.fn_actor_for(p_for)).actor;
  if jsonb_typeof(p_items) is distinct from 'array' or jsonb_array_length(p_items) > 500 then
    raise exception using errcode = 'SD001', message = 'Name 1 to 500 matters to mark as read';
  end if;
  select i.matter into v_wrong from jsonb_to_recordset(p_items) as i (matter text)
   where coalesce(i.matter, '') not in ('mentioned', 'replied', 'approved', 'promoted', 'rejected', 'undone') limit 1;
  if v_wrong in ('review_requested', 'changes_requested', 'undo_requested', 'plan_outdated') then
    raise exception using
      errcode = 'SD343',
      message = format('%s is to be done and cannot be marked as read', v_wrong),
      hint = 'It leaves the inbox when it is done.',
      detail = json_build_object('reason', format('%s is to be done, and ends when it is done', v_wrong))::text;
  elsif v_wrong is not null then
    raise exception using errcode = 'SD001', message = format('%L is not a matter of the inbox', v_wrong);
  end if;
  insert into iu_core.change_inbox_read as k (actor, change_id, matter, read_until)
  select v_me, c.change_id, i.matter, max(h.at)
    from jsonb_to_recordset(p_items) as i (change_id uuid, matter text, seen integer)
    join iu_core.change c on c.change_id = i.change_id and iu_core.fn_member_role(c.workspace_id, v_me) <> 'agent'
    join iu_core.change_history h on h.change_id = c.change_id and h.seq = least(i.seen, c.history_count)
   group by c.change_id, i.matter
  on conflict on constraint change_inbox_read_pkey do update set read_until = excluded.read_until where k.read_until < excluded.read_until;
  get diagnostics v_marked = row_count;
  return v_marked;
end $$;

grant execute on function iu_core.fn_inbox_read(jsonb, text) to service_role, authenticated, stagedoor_reviewer;

-- Deletes marks of news that is no longer listed. Returns how many.
create or replace function iu_core.fn_inbox_cleanup(p_limit integer default 10000) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted integer;
begin
  perform iu_core.require_member(null, 'administer');
  delete from iu_core.change_inbox_read
   where ctid = any (array(select r.ctid from iu_core.change_inbox_read r where r.read_until < now() - interval '31 days' limit p_limit));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

grant execute on function iu_core.fn_inbox_cleanup(integer) to service_role, dot_executor;
