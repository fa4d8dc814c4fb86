-- One job of a kind whose keys count among the waiting ones only. A job that waits under the key takes what the new one
-- says (replace), or waits longer (debounce, never beyond debounce_most after the first). One that runs already may have
-- read what has changed since: the new one comes after it. Internal.
--
-- What failed was the job as it was: the new one has all its attempts, but not before the old one would have come again.
-- A job put off by a failure, or by itself, is one that was begun.
-- One that stands for events of several workspaces (debounce) is nobody's, or the last one's members would see it all.
create or replace function iu_core.fn_job_put_by_key(p_job iu_core.job_queue, out job_id uuid, out fresh boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_kind iu_core.job_kind;
  v_known uuid;
  v_found boolean;
  v_after timestamptz := coalesce(p_job.process_after, now());
begin
  job_id := coalesce(p_job.job_id, iu_core.fn_time_uuid());
  fresh := true;
  select * into v_kind from iu_core.job_kind k where k.job_kind = p_job.job_kind;
  if v_kind.key_mode = 'debounce' then
    v_after := greatest(v_after, clock_timestamp() + v_kind.debounce);
  end if;
  if p_job.idempotency_key is not null then
    -- Also locks the key: whoever enqueues under it next waits for this transaction.
    insert into iu_core.job_key as k (job_kind, idempotency_key, job_id)
    values (p_job.job_kind, p_job.idempotency_key, job_id)
    on conflict (job_kind, idempotency_key) do update set job_id = k.job_id
    returning k.job_id into v_known;
    if v_known <> job_id then
      if v_kind.key_mode = 'keep' then
        job_id := v_known;
        fresh := false;
        return;
      end if;
      update iu_core.job_queue q
         set process_after = greatest(
               case v_kind.key_mode when 'debounce' then least(v_after, q.enqueued_at + v_kind.debounce_most) else v_after end,
               case when q.started_at is not null then q.process_after end),
             executor = coalesce(p_job.executor, 'PG_worker'), attempts = 0, last_error = null,
             priority = coalesce(p_job.priority, 0::smallint), source_ref = p_job.source_ref, target_ref = p_job.target_ref,
             payload_ref = p_job.payload_ref, safe_payload = coalesce(p_job.safe_payload, '{}'),
             workspace_id = case when v_kind.key_mode = 'replace' or q.workspace_id = p_job.workspace_id then p_job.workspace_id end,
             correlation_id = p_job.correlation_id,
             causation_event_id = p_job.causation_event_id, causation_depth = coalesce(p_job.causation_depth, 0::smallint),
             actor = p_job.actor, actor_via = p_job.actor_via,
             fair_key = iu_core.fn_job_fair_key(v_kind.fair_by, p_job.source_ref, p_job.target_ref, p_job.payload_ref)
       where q.job_id = v_known and q.leased_by is null;
      v_found := found;
      if v_found then
        job_id := v_known;
        return;
      end if;
      update iu_core.job_key k set job_id = fn_job_put_by_key.job_id
       where k.job_kind = p_job.job_kind and k.idempotency_key = p_job.idempotency_key;
    end if;
  end if;
  insert into iu_core.job_queue (
    job_id, job_kind, executor, priority, process_after, idempotency_key, source_ref, target_ref, payload_ref,
    safe_payload, workspace_id, correlation_id, causation_event_id, causation_depth, actor, actor_via, fair_key)
  values (
    fn_job_put_by_key.job_id, p_job.job_kind, coalesce(p_job.executor, 'PG_worker'), coalesce(p_job.priority, 0::smallint), v_after,
    p_job.idempotency_key, p_job.source_ref, p_job.target_ref, p_job.payload_ref, coalesce(p_job.safe_payload, '{}'),
    p_job.workspace_id, p_job.correlation_id, p_job.causation_event_id, coalesce(p_job.causation_depth, 0::smallint),
    p_job.actor, p_job.actor_via,
    iu_core.fn_job_fair_key(v_kind.fair_by, p_job.source_ref, p_job.target_ref, p_job.payload_ref));
end $$;
