-- Kinds whose jobs have been due for p_after and which no live worker handles: each is an issue, which is resolved by itself when a
-- worker takes the kind, or when nothing of it is due any more. Returns how many issues were opened and resolved.
create or replace function iu_core.fn_job_unhandled_review(
  p_after interval default '1 minute', out opened integer, out resolved integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_unhandled text[];
  v_line record;
begin
  opened := 0;
  resolved := 0;
  -- One process at a time; the others have nothing to add.
  if not pg_try_advisory_xact_lock(hashtextextended('stagedoor.job_unhandled', 0)) then
    return;
  end if;
  select array_agg(k.job_kind || ' ' || e.executor) into v_unhandled
    from iu_core.job_kind k cross join unnest(iu_core.fn_executors()) e (executor)
   where k.paused_at is null
     and not exists (select from iu_core.job_worker w
                      where w.executor = e.executor and k.job_kind = any (w.kinds) and w.leased_until > clock_timestamp())
     and exists (select from iu_core.job_queue q
                  where q.job_kind = k.job_kind and q.executor = e.executor and q.leased_by is null
                    and q.process_after < clock_timestamp() - p_after and q.enqueued_at < clock_timestamp() - p_after);
  for v_line in
    select split_part(u, ' ', 1) as job_kind, split_part(u, ' ', 2) as executor, 'job_kind:' || u as subject
      from unnest(v_unhandled) u
     where not exists (select from iu_core.system_issue i
                        where i.code = 'job_kind_unhandled' and i.subject_ref = 'job_kind:' || u and i.resolved_at is null)
  loop
    perform iu_core.fn_system_issue_open(
      'job_kind_unhandled', 'warning', v_line.subject,
      format('No worker handles jobs of the kind %s', v_line.job_kind) ||
        case when v_line.executor = 'PG_worker' then '' else format(' for the executor %s', v_line.executor) end,
      jsonb_build_object('job_kind', v_line.job_kind, 'executor', v_line.executor,
                         'remedy', 'Start a worker with a handler of this kind (stagedoor worker --handlers FILE), or cancel its jobs.'));
    opened := opened + 1;
  end loop;
  for v_line in
    select i.issue_id from iu_core.system_issue i
     where i.code = 'job_kind_unhandled' and i.resolved_at is null
       and i.subject_ref <> all (coalesce(array(select 'job_kind:' || u from unnest(v_unhandled) u), '{}'))
  loop
    perform iu_core.fn_system_issue_resolve(v_line.issue_id, 'a worker handles the kind, or none of its jobs is due');
    resolved := resolved + 1;
  end loop;
end $$;

grant execute on function iu_core.fn_job_unhandled_review(interval) to dot_executor, service_role;
