-- Enqueues what must be projected into search, in the transaction of the change: one row for each unit, so that three edits are
-- one embedding. Internal: the callers hold the units' rows, so that the last to commit has the last word.
--   upsert  the text is new, or is back;   patch  only what is known about it changed;   delete  take it out.
-- What has not been done yet is not forgotten for a patch; of the others the newest counts.
-- A worker that has the row keeps it, and sees by the generation that it has not finished.
-- Edits put it off until there is quiet, but not longer than longest_wait. Many at once come one after the other.
create or replace function iu_core.fn_vector_enqueue(p_unit_ids uuid[], p_operation text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Planned for each array anew it takes three times as long.
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_policy iu_core.vector_policy;
  v_delay interval;
  v_longest interval;
begin
  if p_unit_ids is null or p_operation is null or p_operation not in ('upsert', 'patch', 'delete') then
    raise exception using errcode = 'SD001', message = format('%L is none of upsert, patch, delete, or the units are missing', p_operation);
  end if;
  select * into v_policy from iu_core.vector_policy;
  v_delay := case p_operation when 'delete' then v_policy.delete_delay else v_policy.quiet_window end;
  -- A delete waits for nobody: least() passes over NULL.
  v_longest := case when p_operation <> 'delete' then v_policy.longest_wait end;
  insert into iu_core.vector_outbox as o (unit_id, operation, content_hash, first_enqueued_at, earliest_run_at, changed_at)
  select u.unit_id, p_operation, case when p_operation <> 'delete' then u.content_hash end, v_now,
         least(v_now + v_delay + (g.position - 1) * v_policy.stagger, v_now + v_longest), v_now
    from unnest(p_unit_ids) with ordinality as g (unit_id, position)
   cross join lateral (select x.unit_id, x.content_hash from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) u
   -- Whoever locks many of these rows locks them in this order.
   order by u.unit_id
  on conflict (unit_id) where unit_id is not null do update
     set operation = case when excluded.operation = 'patch' and o.status <> 'done' then o.operation else excluded.operation end,
         content_hash = case when excluded.operation = 'patch' and o.status <> 'done' and o.operation = 'delete' then null
                             else excluded.content_hash end,
         generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end,
         earliest_run_at = least(excluded.earliest_run_at,
                                 case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end + v_longest),
         retry_count = 0,
         last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = v_now;
  if p_operation = 'upsert' then
    perform iu_core.fn_search_pending_put(p_unit_ids);
  elsif p_operation = 'delete' then
    perform iu_core.fn_search_pending_settle(p_unit_ids);
  end if;
end $$;
