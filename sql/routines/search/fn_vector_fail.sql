-- These rows could not be done, and it is their own fault: each is tried again later, then longer, and after the first try
-- and max_retries more it is a dead letter with an issue that people see. A row that was enqueued again meanwhile begins anew. Answers each row's status.
create or replace function iu_core.fn_vector_fail(p_worker uuid, p_outbox uuid[], p_generation bigint[], p_errors text[])
returns table (outbox_id uuid, status text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_most integer := (select w.max_retries from iu_core.vector_policy w);
  f record;
begin
  if p_worker is null or p_outbox is null or p_generation is null or p_errors is null
     or cardinality(p_outbox) <> cardinality(p_generation) or cardinality(p_outbox) <> cardinality(p_errors) then
    raise exception using errcode = 'SD001', message = 'A worker, and as many generations and errors as rows';
  end if;
  for f in
    update iu_core.vector_outbox o
       set status = case when o.generation = g.generation and o.retry_count >= v_most then 'dead_letter' else 'pending' end,
           retry_count = case when o.generation = g.generation then least(o.retry_count + 1, v_most) else o.retry_count end,
           earliest_run_at = case when o.generation = g.generation
                                  then v_now + interval '10 seconds' * power(2, least(o.retry_count, 10)) * (0.75 + random() / 2)
                                  else o.earliest_run_at end,
           last_error = left(g.error, 500),
           worker_id = null, leased_until = null, changed_at = v_now
      from (select * from unnest(p_outbox, p_generation, p_errors) as u (outbox_id, generation, error)) as g
     where o.outbox_id = g.outbox_id and o.worker_id = p_worker and o.status = 'processing'
    returning o.*
  loop
    outbox_id := f.outbox_id;
    status := f.status;
    return next;
    if f.status = 'dead_letter' then
      perform iu_core.fn_system_issue_open(
        'vector_dead_letter', 'error', f.outbox_id::text,
        format('%s cannot be put into search', case when f.unit_id is null then 'A document' else 'A unit' end),
        jsonb_strip_nulls(jsonb_build_object('outbox_id', f.outbox_id, 'unit_id', f.unit_id, 'document_id', f.document_id,
                                             'tries', f.retry_count + 1, 'error', f.last_error)),
        coalesce((select u.workspace_id from iu_core.information_unit u where u.unit_id = f.unit_id),
                 (select d.workspace_id from iu_core.kb_document d where d.document_id = f.document_id)));
    end if;
  end loop;
end $$;

grant execute on function iu_core.fn_vector_fail(uuid, uuid[], bigint[], text[]) to vector_worker;
