-- What people write on a change beside comments: title, description, labels, reviewers. Each leaves an entry in its history. The checks
-- that all of them share are below.

-- Edits title, description and labels of a change; NULL leaves one as it is. For its author and for whoever may review. The history says
-- who edited what, and not what it said.
create or replace function iu_core.fn_change_edit(
  p_change_id uuid, p_title text default null, p_description text default null, p_labels text[] default null, p_by text default null
) returns iu_core.change
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_labels text[];
  v_edited text[];
  v_mentions text[];
  v_mentioned text[];
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'stage');
  c := iu_core.fn_change_lock(p_change_id);
  v_actor := iu_core.fn_actor_for(p_by);
  perform iu_core.fn_change_require_editor(c, v_actor.actor);
  if p_title is not null then
    perform iu_core.fn_change_require_text('A title', p_title, 200);
    if p_title ~ '[\u0001-\u001f\u007f-\u009f]' then
      raise exception using errcode = 'SD001', message = 'A title is one line, without control characters';
    end if;
  end if;
  if length(p_description) > 20000 then
    raise exception using errcode = 'SD001', message = format('A description has at most 20,000 characters, this one %s', length(p_description));
  end if;
  v_labels := iu_core.fn_change_labels(p_labels);
  v_edited := array_remove(array[case when btrim(p_title) <> c.title then 'titled' end, case when p_description <> c.description then 'described' end,
                                 case when v_labels <> c.labels then 'labelled' end], null);
  if v_edited = '{}' then
    return c;
  end if;
  perform iu_core.fn_change_require_history(c);
  if 'described' = any (v_edited) then
    v_mentions := iu_core.fn_change_mentions(c.workspace_id, p_description);
    -- Whoever was mentioned before was told then.
    v_mentioned := array(select m from unnest(v_mentions) m where m <> all (c.mentions) and m <> v_actor.actor);
  end if;
  for i in 1 .. cardinality(v_edited) loop
    perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, v_edited[i],
      case when v_edited[i] = 'described' and v_mentioned <> '{}' then jsonb_build_object('mentioned', v_mentioned) else '{}' end);
  end loop;
  update iu_core.change
     set title = coalesce(btrim(p_title), title), description = coalesce(p_description, description), labels = coalesce(v_labels, labels),
         mentions = coalesce(v_mentions, mentions)
   where change_id = c.change_id returning * into c;
  perform iu_core.fn_change_event(c, 'edited', v_actor.actor, v_actor.via, jsonb_build_object('edited', v_edited));
  if v_mentioned <> '{}' then
    perform iu_core.fn_change_event(c, 'mentioned', v_actor.actor, v_actor.via, jsonb_build_object('mentioned', v_mentioned));
  end if;
  return c;
end $$;

grant execute on function iu_core.fn_change_edit(uuid, text, text, text[], text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Labels as they are stored: trimmed, each once, in alphabetical order. Internal.
create or replace function iu_core.fn_change_labels(p_labels text[]) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_labels text[];
begin
  if p_labels is null then
    return null;
  end if;
  if cardinality(p_labels) > 100 or exists (select from unnest(p_labels) l
              where l is null or l !~ '\S' or length(btrim(l)) > 50 or l ~ '[\u0001-\u001f\u007f-\u009f]') then
    raise exception using errcode = 'SD001', message = 'A label has 1 to 50 characters in one line';
  end if;
  v_labels := array(select distinct btrim(l) from unnest(p_labels) l order by 1);
  if cardinality(v_labels) > 20 then
    raise exception using errcode = 'SD001', message = format('A change has at most 20 labels, these are %s', cardinality(v_labels));
  end if;
  return v_labels;
end $$;

-- Says whose review is requested: people by user id, groups by name. Who is not named is no longer asked. For the author of the change and
-- for whoever may review. Returns how many were added.
create or replace function iu_core.fn_change_reviewers_set(
  p_change_id uuid, p_people text[] default '{}', p_groups text[] default '{}', p_by text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_people text[] := array(select distinct p from unnest(p_people) p order by 1);
  v_groups text[] := array(select distinct btrim(g) from unnest(p_groups) g order by 1);
  v_wrong text;
  v_added jsonb;
  v_removed jsonb;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'stage');
  c := iu_core.fn_change_lock(p_change_id);
  v_actor := iu_core.fn_actor_for(p_by);
  perform iu_core.fn_change_require_editor(c, v_actor.actor);
  if cardinality(v_people) + cardinality(v_groups) > 20 then
    raise exception using errcode = 'SD001', message = format('At most 20 reviewers can be asked, these are %s', cardinality(v_people) + cardinality(v_groups));
  end if;
  select case when p is null or coalesce(iu_core.fn_member_role(c.workspace_id, p), 'agent') = 'agent' then format('%s is no person in this workspace', coalesce(p, 'NULL'))
              when p = c.author then format('%s is the author: somebody else reviews', p) end into v_wrong
    from unnest(v_people) p
   where p is null or coalesce(iu_core.fn_member_role(c.workspace_id, p), 'agent') = 'agent' or p = c.author limit 1;
  if v_wrong is null then
    select format('%L is not the name of a group: 1 to 63 characters in one line', g) into v_wrong from unnest(v_groups) g
     where g is null or g !~ '\S' or length(g) > 63 or g ~ '[\u0001-\u001f\u007f-\u009f]' limit 1;
  end if;
  if v_wrong is not null then
    raise exception using errcode = 'SD001', message = v_wrong, hint = '`stagedoor member list` shows who there is, with their ids.';
  end if;
  with removed as (
    delete from iu_core.change_reviewer r
     where r.change_id = c.change_id and coalesce(r.reviewer <> all (v_people), r.group_name <> all (v_groups))
    returning coalesce(r.reviewer, r.group_name) as name
  )
  select jsonb_agg(name order by name) into v_removed from removed;
  with added as (
    insert into iu_core.change_reviewer (change_id, reviewer, group_name, requested_by)
    select c.change_id, p, null, v_actor.actor from unnest(v_people) p
    union all
    select c.change_id, null, g, v_actor.actor from unnest(v_groups) g
    on conflict do nothing
    returning reviewer, group_name
  )
  select jsonb_strip_nulls(jsonb_build_object('reviewers', jsonb_agg(reviewer order by reviewer) filter (where reviewer is not null),
                                              'groups', jsonb_agg(group_name order by group_name) filter (where group_name is not null)))
    into v_added from added;
  if v_added = '{}' and v_removed is null then
    return 0;
  end if;
  perform iu_core.fn_change_require_history(c);
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, 'review_requested', v_added || jsonb_build_object('removed', v_removed));
  if v_added <> '{}' then
    perform iu_core.fn_change_event(c, 'review_requested', v_actor.actor, v_actor.via, v_added);
  end if;
  return coalesce(jsonb_array_length(v_added -> 'reviewers'), 0) + coalesce(jsonb_array_length(v_added -> 'groups'), 0);
end $$;

grant execute on function iu_core.fn_change_reviewers_set(uuid, text[], text[], text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The change, not locked, if the caller sees it; an agent sees its own only. Others are told that there is none. Internal: callers pass its
-- workspace to require_member, and lock what they need after that.
create or replace function iu_core.fn_change_visible(p_change_id uuid) returns iu_core.change
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
begin
  select * into c from iu_core.change where change_id = p_change_id;
  if not found or not iu_core.fn_workspace_is_visible(c.workspace_id)
     or (iu_core.fn_change_caller_is_agent(c.workspace_id) and c.author <> iu_core.fn_actor()) then
    raise exception using
      errcode = 'SD340',
      message = case when p_change_id is null then 'There is no such change, comment or review' else format('There is no change %s', p_change_id) end,
      detail = json_build_object('change', coalesce(p_change_id::text, 'or comment of this id'))::text;
  end if;
  return c;
end $$;

-- The change, locked until the end of the transaction. Internal.
create or replace function iu_core.fn_change_lock(p_change_id uuid) returns iu_core.change
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
begin
  select * into c from iu_core.change where change_id = p_change_id for update;
  return c;
end $$;

-- Whether an agent acts, by the role of the session or by its role in the workspace. Internal.
create or replace function iu_core.fn_change_caller_is_agent(p_workspace_id uuid) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not iu_core.fn_caller_is_service()
     and (iu_core.fn_caller_role() = 'stagedoor_agent' or iu_core.fn_member_role(p_workspace_id, iu_core.fn_actor()) = 'agent');
end $$;

-- Every member who reads may comment; an agent needs the right to stage as well. Internal.
create or replace function iu_core.fn_change_require_writer(c iu_core.change) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if iu_core.fn_change_caller_is_agent(c.workspace_id) then
    perform iu_core.require_member(c.workspace_id, 'stage');
  end if;
  perform iu_core.fn_change_require_history(c);
end $$;

-- Whether the caller has the right to review in a workspace, by membership: a reviewer who asks with the role of everybody is one. Internal.
create or replace function iu_core.fn_change_may_review(p_workspace_id uuid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from iu_core.app_role a
                  where a.app_role = iu_core.fn_member_role(p_workspace_id, iu_core.fn_actor()) and 'review' = any (a.rights))
$$;

-- Title, description, labels and reviewers are for the author and for whoever may review. Internal.
create or replace function iu_core.fn_change_require_editor(c iu_core.change, p_actor text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if c.author = p_actor or iu_core.fn_caller_is_service()
     or (not iu_core.fn_change_caller_is_agent(c.workspace_id) and iu_core.fn_change_may_review(c.workspace_id)) then
    return;
  end if;
  raise exception using
    errcode = 'SD342',
    message = format('%s may not edit change #%s', p_actor, c.number),
    hint = 'Its author can, and a reviewer. Everybody else can comment on it.',
    detail = json_build_object('reason', 'it is a change of another person')::text;
end $$;

-- Raises unless it is a text of some length. Internal.
create or replace function iu_core.fn_change_require_text(p_what text, p_text text, p_max integer) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text is null or p_text !~ '\S' then
    raise exception using errcode = 'SD001', message = p_what || ' needs some text';
  end if;
  if length(p_text) > p_max then
    raise exception using errcode = 'SD001', message = format('%s has at most %s characters, this one %s', p_what, p_max, length(p_text));
  end if;
end $$;

-- People can add 20,000 entries to the history of a change; what its subject does is always told. Internal.
create or replace function iu_core.fn_change_require_history(c iu_core.change) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if c.history_count >= 20000 then
    perform iu_core.fn_change_raise_limit(c, '20,000 entries in its history');
  end if;
end $$;

-- Raises change_refused: the change is full. Internal.
create or replace function iu_core.fn_change_raise_limit(c iu_core.change, p_limit text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD343',
    message = format('Change #%s has reached its limit of %s', c.number, p_limit),
    hint = 'Go on elsewhere: in a new change, or outside of Stagedoor.',
    detail = json_build_object('reason', 'its limit of ' || p_limit || ' is reached')::text;
end $$;

-- A change as people see it: with the dataset of its upload, whose review is requested, who approved it, how many threads are open, and
-- who asks for its undo.
create or replace view iu_core.v_change with (security_invoker = true) as
  select c.change_id, c.workspace_id, c.number, c.kind, c.subject_id, c.title, c.description, c.author, c.author_via, c.status, c.labels,
         c.digest, u.dataset,
         (select coalesce(jsonb_agg(jsonb_build_object('reviewer', r.reviewer, 'group_name', r.group_name, 'requested_by', r.requested_by,
                                                       'requested_at', r.requested_at) order by r.requested_at, r.reviewer, r.group_name), '[]')
            from iu_core.change_reviewer r where r.change_id = c.change_id) as reviewers,
         c.comment_count,
         case c.comment_count when 0 then 0 else (select count(*)::integer from iu_core.change_comment t
            where t.change_id = c.change_id and t.thread_id = t.comment_id and t.resolved_at is null
              -- A thread without a word in it is not open.
              and exists (select from iu_core.change_comment w where w.thread_id = t.comment_id and w.deleted_at is null)) end as open_threads,
         c.created_at, c.updated_at, c.closed_at,
         iu_core.fn_change_approvers(c.subject_id) as approvers,
         case c.status when 'promoted' then iu_core.fn_change_undo_open(c.change_id) end as undo_request
    from iu_core.change c
    left join iu_core.ingest_upload u on c.kind = 'upload' and u.upload_id = c.subject_id;

grant select on iu_core.v_change to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
