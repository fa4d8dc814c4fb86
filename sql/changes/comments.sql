-- The conversation of a change: comments on the whole, on a row or on a cell, in threads that are resolved and reopened. Every function
-- locks the change first, so that what two people do at once has one order, which the history tells.

-- Writes a comment, or a reply (p_reply_to: any comment of the thread). A row is a row type and a line, as plan and rows of an upload
-- name them; a cell is a column of it.
create or replace function iu_core.fn_change_comment(
  p_change_id uuid,
  p_body text,
  p_reply_to uuid default null,
  p_row_type text default null,
  p_line integer default null,
  p_column text default null,
  p_by text default null
) returns iu_core.change_comment
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_first iu_core.change_comment;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'read');
  v_actor := iu_core.fn_actor_for(p_by);
  c := iu_core.fn_change_lock_for_comment(p_change_id, 'A comment', p_body, 10000);
  if p_reply_to is not null then
    if num_nonnulls(p_row_type, p_line, p_column) > 0 then
      raise exception using errcode = 'SD001', message = 'A reply is about what its thread is about: leave row_type, line and column out';
    end if;
    select f.* into v_first from iu_core.change_comment o join iu_core.change_comment f on f.comment_id = o.thread_id
     where o.comment_id = p_reply_to and o.change_id = c.change_id;
    if not found then
      perform iu_core.fn_change_raise_comment_unknown(p_reply_to);
    end if;
  else
    perform iu_core.fn_change_anchor_check(c, p_row_type, p_line, p_column);
  end if;
  return iu_core.fn_change_comment_write(c, v_actor.actor, v_actor.via, p_body, v_first, p_row_type, p_line, p_column);
end $$;

grant execute on function iu_core.fn_change_comment(uuid, text, uuid, text, integer, text, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The change, locked for a comment that is about to be written: the caller may write, the text (p_what) is one, and there is room for another
-- comment. Internal: comments, and requests to undo.
create or replace function iu_core.fn_change_lock_for_comment(p_change_id uuid, p_what text, p_body text, p_max integer) returns iu_core.change
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change := iu_core.fn_change_lock(p_change_id);
begin
  perform iu_core.fn_change_require_writer(c);
  perform iu_core.fn_change_require_text(p_what, p_body, p_max);
  if c.comment_count >= 5000 then
    perform iu_core.fn_change_raise_limit(c, '5,000 comments');
  end if;
  return c;
end $$;

-- Writes a comment that was checked; p_first: the first comment of its thread. The change is locked. Internal: comments, and the text of a
-- review, which has a budget of its own.
create or replace function iu_core.fn_change_comment_write(
  c iu_core.change, p_actor text, p_via text, p_body text, p_first iu_core.change_comment default null,
  p_row_type text default null, p_line integer default null, p_column text default null
) returns iu_core.change_comment
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_comment iu_core.change_comment;
begin
  v_comment.comment_id := iu_core.fn_time_uuid();
  insert into iu_core.change_comment (comment_id, change_id, thread_id, row_type, line, column_name, digest, body, author, via, mentions)
  values (v_comment.comment_id, c.change_id, coalesce(p_first.comment_id, v_comment.comment_id), p_row_type, p_line, p_column, c.digest, p_body,
          p_actor, p_via, iu_core.fn_change_mentions(c.workspace_id, p_body))
  returning * into v_comment;
  update iu_core.change set comment_count = comment_count + 1 where change_id = c.change_id;
  perform iu_core.fn_change_log(c.change_id, p_actor, p_via, 'commented',
    jsonb_build_object('comment_id', v_comment.comment_id, 'thread_id', v_comment.thread_id));
  perform iu_core.fn_change_event(c, 'commented', p_actor, p_via, jsonb_build_object(
    'comment_id', v_comment.comment_id, 'thread_id', v_comment.thread_id, 'thread_author', p_first.author));
  perform iu_core.fn_change_tell_mentioned(c, v_comment, v_comment.mentions, p_actor, p_via);
  return v_comment;
end $$;

-- Replaces the text of one's own comment. What it said before stays readable (change_comment_edit).
create or replace function iu_core.fn_change_comment_update(p_comment_id uuid, p_body text, p_by text default null)
returns iu_core.change_comment
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_comment iu_core.change_comment;
  v_before text[];
begin
  perform iu_core.require_member((iu_core.fn_change_visible(iu_core.fn_change_of_comment(p_comment_id))).workspace_id, 'read');
  c := iu_core.fn_change_lock(iu_core.fn_change_of_comment(p_comment_id));
  v_actor := iu_core.fn_actor_for(p_by);
  v_comment := iu_core.fn_change_own_comment(c, p_comment_id, v_actor.actor, 'edit');
  perform iu_core.fn_change_require_text('A comment', p_body, 10000);
  if v_comment.deleted_at is not null then
    raise exception using errcode = 'SD343', message = 'The comment was deleted and cannot be edited',
      hint = 'Write another comment.', detail = json_build_object('reason', 'the comment was deleted')::text;
  end if;
  if p_body = v_comment.body then
    return v_comment;
  end if;
  if v_comment.edit_count >= 100 then
    perform iu_core.fn_change_raise_limit(c, '100 edits of one comment');
  end if;
  v_before := v_comment.mentions;
  insert into iu_core.change_comment_edit (comment_id, edit_no, body, written_at)
  values (p_comment_id, v_comment.edit_count + 1, v_comment.body, coalesce(v_comment.edited_at, v_comment.created_at));
  update iu_core.change_comment
     set body = p_body, edited_at = clock_timestamp(), edit_count = edit_count + 1, mentions = iu_core.fn_change_mentions(c.workspace_id, p_body)
   where comment_id = p_comment_id returning * into v_comment;
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, 'comment_edited', jsonb_build_object('comment_id', p_comment_id));
  perform iu_core.fn_change_event(c, 'comment_edited', v_actor.actor, v_actor.via, jsonb_build_object('comment_id', p_comment_id));
  perform iu_core.fn_change_tell_mentioned(c, v_comment, array(select m from unnest(v_comment.mentions) m where m <> all (v_before)), v_actor.actor, v_actor.via);
  return v_comment;
end $$;

grant execute on function iu_core.fn_change_comment_update(uuid, text, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Deletes the text of one's own comment, and what it said before. That there was a comment stays.
create or replace function iu_core.fn_change_comment_delete(p_comment_id uuid, p_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_comment iu_core.change_comment;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(iu_core.fn_change_of_comment(p_comment_id))).workspace_id, 'read');
  c := iu_core.fn_change_lock(iu_core.fn_change_of_comment(p_comment_id));
  v_actor := iu_core.fn_actor_for(p_by);
  v_comment := iu_core.fn_change_own_comment(c, p_comment_id, v_actor.actor, 'delete');
  if v_comment.deleted_at is not null then
    return;
  end if;
  delete from iu_core.change_comment_edit where comment_id = p_comment_id;
  update iu_core.change_comment set body = '', mentions = '{}', deleted_at = clock_timestamp() where comment_id = p_comment_id;
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, 'comment_deleted', jsonb_build_object('comment_id', p_comment_id));
  perform iu_core.fn_change_event(c, 'comment_deleted', v_actor.actor, v_actor.via, jsonb_build_object('comment_id', p_comment_id));
end $$;

grant execute on function iu_core.fn_change_comment_delete(uuid, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Resolves the thread of a comment, or reopens it (p_resolved => false). Whoever began the thread may, the author of the change, and
-- whoever may review; an agent only where it began the thread. Returns whether that is new.
create or replace function iu_core.fn_change_thread_resolve(p_comment_id uuid, p_resolved boolean default true, p_by text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  c iu_core.change;
  v_first iu_core.change_comment;
  v_what text := case when p_resolved then 'thread_resolved' else 'thread_reopened' end;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(iu_core.fn_change_of_comment(p_comment_id))).workspace_id, 'read');
  c := iu_core.fn_change_lock(iu_core.fn_change_of_comment(p_comment_id));
  v_actor := iu_core.fn_actor_for(p_by);
  if p_resolved is null then
    raise exception using errcode = 'SD001', message = 'Say whether the thread is resolved: true or false';
  end if;
  select f.* into v_first from iu_core.change_comment o join iu_core.change_comment f on f.comment_id = o.thread_id where o.comment_id = p_comment_id;
  if not (v_first.author = v_actor.actor or iu_core.fn_caller_is_service()
          or (not iu_core.fn_change_caller_is_agent(c.workspace_id)
              and (c.author = v_actor.actor or iu_core.fn_change_may_review(c.workspace_id)))) then
    raise exception using
      errcode = 'SD342',
      message = format('%s may not %s this thread', v_actor.actor, case when p_resolved then 'resolve' else 'reopen' end),
      hint = 'Whoever began the thread can, the author of the change, and a reviewer.',
      detail = json_build_object('reason', 'the thread was begun by somebody else')::text;
  end if;
  if (v_first.resolved_at is not null) = p_resolved then
    return false;
  end if;
  perform iu_core.fn_change_require_history(c);
  update iu_core.change_comment
     set resolved_at = case when p_resolved then clock_timestamp() end, resolved_by = case when p_resolved then v_actor.actor end
   where comment_id = v_first.comment_id;
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, v_what, jsonb_build_object('thread_id', v_first.comment_id));
  perform iu_core.fn_change_event(c, v_what, v_actor.actor, v_actor.via, jsonb_build_object('thread_id', v_first.comment_id));
  return true;
end $$;

grant execute on function iu_core.fn_change_thread_resolve(uuid, boolean, text) to
  dot_executor, service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The change of a comment; NULL if there is no such comment, which fn_change_visible answers as it answers a change that the caller
-- must not see. Internal.
create or replace function iu_core.fn_change_of_comment(p_comment_id uuid) returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select change_id from iu_core.change_comment where comment_id = p_comment_id
$$;

-- A comment that its own author is about to change. Internal.
create or replace function iu_core.fn_change_own_comment(c iu_core.change, p_comment_id uuid, p_actor text, p_to text) returns iu_core.change_comment
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_comment iu_core.change_comment;
begin
  select * into v_comment from iu_core.change_comment where comment_id = p_comment_id and change_id = c.change_id;
  if v_comment.author <> p_actor then
    raise exception using
      errcode = 'SD342',
      message = format('The comment is %s''s: nobody else can %s it', v_comment.author, p_to),
      hint = 'Reply to it instead.',
      detail = json_build_object('reason', 'it is a comment of another person')::text;
  end if;
  return v_comment;
end $$;

-- Raises comment_not_found. Internal.
create or replace function iu_core.fn_change_raise_comment_unknown(p_comment_id uuid) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'SD341',
    message = format('The change has no comment %s', p_comment_id),
    detail = json_build_object('comment', p_comment_id)::text;
end $$;

-- Raises unless the change has the row that a comment is about. The columns are not checked: a plan may leave some out. Internal.
create or replace function iu_core.fn_change_anchor_check(c iu_core.change, p_row_type text, p_line integer, p_column text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (p_row_type is null) <> (p_line is null) or (p_column is not null and p_line is null) then
    raise exception using errcode = 'SD001', message = 'A comment on a row names row_type and line, one on a cell column as well';
  end if;
  if length(p_row_type) not between 1 and 63 or length(p_column) not between 1 and 200 then
    raise exception using errcode = 'SD001', message = 'A row type has at most 63 characters, a column at most 200';
  end if;
  if p_line is null or c.kind <> 'upload' then
    return;
  end if;
  if not exists (select from iu_core.ingest_staged_row s where s.upload_id = c.subject_id and s.row_type = p_row_type and s.row_number = p_line)
     and not exists (select from iu_core.ingest_plan_row p where p.upload_id = c.subject_id and p.row_type = p_row_type and p.row_number = p_line)
     and not exists (select from iu_core.ingest_ledger l where l.upload_id = c.subject_id and l.row_type = p_row_type and l.row_number = p_line) then
    raise exception using errcode = 'SD001', message = format('The upload has no row %L in line %s', p_row_type, p_line),
      hint = 'The rows of the upload (GET /api/v1/uploads/{id}/rows) and of its plan have row_type and row_number.';
  end if;
end $$;

-- The members whom a text mentions: @ and their name or id. Between the words of a name there may be a space, a dot, a dash or nothing:
-- @Ana Lima, @ana.lima, @analima. The longest name wins. Anything else after @ stays text. Internal.
create or replace function iu_core.fn_change_mentions(p_workspace_id uuid, p_body text) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest text := lower(p_body);
  v_found text[] := '{}';
  v_pattern text;
  m record;
begin
  if position('@' in p_body) = 0 then
    return v_found;
  end if;
  for m in
    select w.user_id::text as user_id, lower(n.name) as name
      from public.workspace_members w,
           lateral (values (w.user_id::text), (btrim(to_jsonb(w.*) ->> 'display_name'))) as n (name)
     where w.workspace_id = p_workspace_id and n.name ~ '\S' and length(n.name) <= 200
       -- By its first word: most members are not mentioned, and no pattern is made for them.
       and position('@' || lower(split_part(n.name, ' ', 1)) in v_rest) > 0
     order by length(n.name) desc, w.user_id
  loop
    v_pattern := '(^|[^[:alnum:]_@])@'
      || replace(regexp_replace(m.name, '([^[:alnum:] ])', '\\\1', 'g'), ' ', '[ ._-]?') || '(?![[:alnum:]_])';
    if v_rest ~ v_pattern then
      v_rest := regexp_replace(v_rest, v_pattern, '\1 ', 'g');
      if m.user_id <> all (v_found) then
        v_found := v_found || m.user_id;
      end if;
    end if;
    exit when cardinality(v_found) = 50;
  end loop;
  return v_found;
end $$;

-- Tells of mentions: people who mention themselves are not told. Internal.
create or replace function iu_core.fn_change_tell_mentioned(
  c iu_core.change, p_comment iu_core.change_comment, p_mentions text[], p_actor text, p_via text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_told text[] := array_remove(p_mentions, p_actor);
begin
  if cardinality(v_told) > 0 then
    perform iu_core.fn_change_event(c, 'mentioned', p_actor, p_via,
      jsonb_build_object('comment_id', p_comment.comment_id, 'thread_id', p_comment.thread_id, 'mentioned', v_told));
  end if;
end $$;
