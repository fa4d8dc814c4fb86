-- Dead letters back into the queue under their own ids, with all their attempts before them: those named, or of a kind, or
-- that died before a time; in a workspace, or for the back end everywhere. Returns the ids.
create or replace function iu_core.fn_job_replay(
  p_jobs uuid[] default null,
  p_kind text default null,
  p_died_before timestamptz default null,
  p_limit integer default 1000,
  p_workspace_id uuid default null,
  p_actor text default null
) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_ids uuid[];
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  if num_nonnulls(p_jobs, p_kind, p_died_before) = 0 then
    raise exception using errcode = 'SD001', message = 'Say which dead letters: their ids, a kind, or died before when';
  end if;
  if p_limit is null or p_limit not between 1 and 100000 then
    raise exception using errcode = 'SD001', message = 'The limit must be from 1 to 100000';
  end if;
  select array_agg(l.job_id) into v_ids
    from (select d.job_id from iu_core.job_dead_letter d
           where (p_jobs is null or d.job_id = any (p_jobs))
             and (p_kind is null or d.job_kind = p_kind)
             and (p_died_before is null or d.died_at < p_died_before)
             and (p_workspace_id is null or d.workspace_id = p_workspace_id)
           order by d.died_at, d.job_id limit p_limit for update skip locked) l;
  if v_ids is null then
    if cardinality(p_jobs) = 1 then
      perform iu_core.fn_job_workspace(p_jobs[1]);
      if not exists (select from iu_core.job_queue q where q.job_id = p_jobs[1]) then
        perform iu_core.fn_job_refuse_ended(p_jobs[1]);
      end if;
    end if;
    return;
  end if;
  return query
    with dead as (
      delete from iu_core.job_dead_letter d where d.job_id = any (v_ids) returning d.*
    )
    insert into iu_core.job_queue (
      job_id, job_kind, executor, priority, process_after, enqueued_at, replays, lease_epoch, idempotency_key, source_ref,
      target_ref, payload_ref, safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor,
      actor_via, last_error, fair_key)
    -- A range of epochs for each life, so that whoever held the job in its earlier life holds nothing of this one.
    select d.job_id, d.job_kind, d.executor, d.priority, clock_timestamp(), d.enqueued_at, d.replays + 1,
           (d.replays + 1) * 1000000, d.idempotency_key, d.source_ref, d.target_ref, d.payload_ref, d.safe_payload,
           d.workspace_id, d.correlation_id, d.causation_event_id, d.causation_depth, d.actor, d.actor_via, d.last_error,
           iu_core.fn_job_fair_key(k.fair_by, d.source_ref, d.target_ref, d.payload_ref)
      from dead d join iu_core.job_kind k on k.job_kind = d.job_kind
    returning job_id;
  perform pg_notify('stagedoor_jobs', k)
     from (select distinct q.job_kind as k from iu_core.job_queue q where q.job_id = any (v_ids)) kinds;
end $$;

grant execute on function iu_core.fn_job_replay(uuid[], text, timestamptz, integer, uuid, text)
  to dot_executor, service_role, authenticated, stagedoor_reviewer;
