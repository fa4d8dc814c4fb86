-- Passes one event on to every consumer that listens, now, without waiting for its place in the order. What was passed on
-- stays so: the dispatcher comes by and finds it done. Returns what each consumer did.
create or replace function iu_core.fn_consumer_dispatch(p_event_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event iu_core.event_outbox;
  c iu_core.consumer_registry;
begin
  if not iu_core.fn_gate_open('queue.consumer_dispatch.enabled') then
    return jsonb_build_object('enabled', false, 'event_id', p_event_id, 'consumers', '[]'::jsonb);
  end if;
  select * into v_event from iu_core.event_outbox where id = p_event_id;
  if not found then
    raise exception using
      errcode = 'SD326',
      message = format('There is no event %s', p_event_id),
      detail = json_build_object('event', p_event_id)::text;
  end if;
  if iu_core.fn_consumer_take_turn(true) then
    for c in
      select * from iu_core.consumer_registry
       where enabled and event_domain = v_event.event_domain and event_type = v_event.event_type order by consumer_id
    loop
      perform iu_core.fn_consumer_pass_on(c, array[v_event]);
    end loop;
  end if;
  return jsonb_build_object(
    'enabled', true,
    'event_id', p_event_id,
    'consumers', (select coalesce(jsonb_agg(jsonb_build_object('consumer_id', l.consumer_id, 'outcome', l.outcome, 'job_id', l.job_id)
                                            order by l.consumer_id), '[]')
                    from iu_core.event_dispatch_log l where l.event_id = p_event_id));
end $$;

grant execute on function iu_core.fn_consumer_dispatch(uuid) to dot_executor;
