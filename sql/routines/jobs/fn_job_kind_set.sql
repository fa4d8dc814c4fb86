-- How jobs of a kind are treated; what is not named stays. The kind is registered where it is new.
create or replace function iu_core.fn_job_kind_set(p_kind text, p_settings jsonb) returns iu_core.job_kind
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  k iu_core.job_kind;
  v_unknown text;
  v_before text;
begin
  perform iu_core.fn_job_check(p_kind, null, 'PG_worker', '{}');
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The settings of a kind are an object';
  end if;
  select s into v_unknown from jsonb_object_keys(p_settings) s
   where s not in ('description', 'max_attempts', 'max_crashes', 'backoff', 'backoff_most', 'timeout', 'concurrency', 'rate',
                   'rate_period', 'serial_by', 'fair_by', 'key_mode', 'debounce', 'debounce_most', 'key_retention') limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A job kind has no setting called %L', v_unknown);
  end if;
  insert into iu_core.job_kind (job_kind) values (p_kind) on conflict do nothing;
  select * into k from iu_core.job_kind where job_kind = p_kind for update;
  v_before := k.fair_by;
  k := jsonb_populate_record(k, p_settings);
  update iu_core.job_kind
     set description = k.description, max_attempts = k.max_attempts, max_crashes = k.max_crashes, backoff = k.backoff,
         backoff_most = k.backoff_most, timeout = k.timeout, concurrency = k.concurrency, rate = k.rate,
         rate_period = k.rate_period, serial_by = k.serial_by, fair_by = k.fair_by, key_mode = k.key_mode,
         debounce = k.debounce, debounce_most = k.debounce_most, key_retention = k.key_retention
   where job_kind = p_kind returning * into k;
  -- Those that wait take turns by the new key. What is enqueued at this moment may not; it has its turn by its age.
  update iu_core.job_queue q set fair_key = iu_core.fn_job_fair_key(k.fair_by, q.source_ref, q.target_ref, q.payload_ref)
   where q.job_kind = p_kind and k.fair_by is distinct from v_before;
  return k;
exception when check_violation or not_null_violation or data_exception then
  raise exception using errcode = 'SD001', message = format('The settings of the kind %s do not fit: %s', p_kind, sqlerrm);
end $$;

grant execute on function iu_core.fn_job_kind_set(text, jsonb) to dot_executor, service_role;
