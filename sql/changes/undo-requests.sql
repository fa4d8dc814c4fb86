-- Requests to undo a promotion: whoever may not undo asks those who may. A request is an entry of the history with a comment that says why; it
-- is open until the promotion is undone, the request is declined or withdrawn, or the time to undo is over.

-- Asks for the undo of a promotion, with the reason as a comment. For every member who sees the change, but not for agents.
create or replace function iu_core.fn_change_undo_request(p_change_id uuid, p_reason text, p_by text default null) returns iu_core.change_comment
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_actor record;
  v_comment iu_core.change_comment;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'read');
  v_actor := iu_core.fn_actor_for(p_by);
  c := iu_core.fn_change_lock_for_comment(p_change_id, 'A request to undo', p_reason, 2000);
  if c.kind <> 'upload' then
    raise exception using errcode = 'SD343', message = format('Change #%s is a %s: only the promotion of an upload can be undone', c.number, c.kind),
      detail = json_build_object('reason', 'only the promotion of an upload can be undone')::text;
  end if;
  perform iu_core.fn_ingest_undo_require(c.subject_id);
  v_comment := iu_core.fn_change_comment_write(c, v_actor.actor, v_actor.via, p_reason);
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, 'undo_requested', jsonb_build_object('comment_id', v_comment.comment_id));
  perform iu_core.fn_change_event(c, 'undo_requested', v_actor.actor, v_actor.via, jsonb_build_object('comment_id', v_comment.comment_id));
  return v_comment;
end $$;

grant execute on function iu_core.fn_change_undo_request(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Declines the open request to undo, or withdraws one's own; the reason, if there is one, answers the request. Whoever may undo can decline.
create or replace function iu_core.fn_change_undo_decline(p_change_id uuid, p_reason text default null, p_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c iu_core.change;
  v_actor record;
  v_open jsonb;
  v_first iu_core.change_comment;
begin
  perform iu_core.require_member((iu_core.fn_change_visible(p_change_id)).workspace_id, 'read');
  c := iu_core.fn_change_lock(p_change_id);
  perform iu_core.fn_change_require_writer(c);
  v_actor := iu_core.fn_actor_for(p_by);
  v_open := iu_core.fn_change_undo_open(p_change_id);
  if v_open is null then
    raise exception using errcode = 'SD343', message = format('Nobody asks for the undo of change #%s', c.number),
      hint = 'It was undone, declined or withdrawn before.', detail = json_build_object('reason', 'nobody asks for its undo')::text;
  end if;
  if v_open ->> 'requested_by' <> v_actor.actor then
    perform iu_core.require_member(c.workspace_id, 'review');
  end if;
  if p_reason ~ '\S' then
    perform iu_core.fn_change_require_text('A reason', p_reason, 2000);
    select * into v_first from iu_core.change_comment where comment_id = (v_open ->> 'comment_id')::uuid;
    perform iu_core.fn_change_comment_write(c, v_actor.actor, v_actor.via, p_reason, v_first);
  end if;
  perform iu_core.fn_change_log(c.change_id, v_actor.actor, v_actor.via, 'undo_declined', v_open - 'requested_at' - 'reason');
  perform iu_core.fn_change_event(c, 'undo_declined', v_actor.actor, v_actor.via, v_open - 'requested_at' - 'reason');
end $$;

grant execute on function iu_core.fn_change_undo_decline(uuid, text, text) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- The open request to undo: {"requested_by", "requested_at", "comment_id", "reason"}; NULL: nobody asks. For whoever sees the change.
create or replace function iu_core.fn_change_undo_open(p_change_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('requested_by', h.actor, 'requested_at', h.at, 'comment_id', t.comment_id, 'reason', t.body)
    from (select x.* from iu_core.change_history x
           where x.change_id = p_change_id and x.what in ('undo_requested', 'undo_declined') order by x.seq desc limit 1) h
    join iu_core.change c on c.change_id = h.change_id
    join iu_core.ingest_promotion m on m.upload_id = c.subject_id
    left join iu_core.change_comment t on t.comment_id = (h.detail ->> 'comment_id')::uuid
   where h.what = 'undo_requested' and c.status = 'promoted' and m.undone_at is null and m.undo_until > now()
$$;

grant execute on function iu_core.fn_change_undo_open(uuid) to
  service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
