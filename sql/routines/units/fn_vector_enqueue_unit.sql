-- fn_vector_enqueue for one unit whose hash the caller has at hand: the same row by the same rules (a test compares them),
-- without looking it up, sorting and staggering (a birth: 690 → 575 µs of the server's time). Internal.
create or replace function iu_core.fn_vector_enqueue_unit(p_unit_id uuid, p_content_hash text, p_operation text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_policy iu_core.vector_policy;
  v_delay interval;
  v_longest interval;
begin
  if p_unit_id is null or p_operation is null or p_operation not in ('upsert', 'patch', 'delete') then
    raise exception using errcode = 'SD001', message = format('%L is none of upsert, patch, delete, or the unit is missing', p_operation);
  end if;
  select * into v_policy from iu_core.vector_policy;
  v_delay := case p_operation when 'delete' then v_policy.delete_delay else v_policy.quiet_window end;
  -- A delete waits for nobody: least() passes over NULL.
  v_longest := case when p_operation <> 'delete' then v_policy.longest_wait end;
  insert into iu_core.vector_outbox as o (unit_id, operation, content_hash, first_enqueued_at, earliest_run_at, changed_at)
  values (p_unit_id, p_operation, case when p_operation <> 'delete' then p_content_hash end, v_now,
          least(v_now + v_delay, v_now + v_longest), v_now)
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
    perform iu_core.fn_search_pending_put(array[p_unit_id]);
  elsif p_operation = 'delete' then
    perform iu_core.fn_search_pending_settle(array[p_unit_id]);
  end if;
end $$;
