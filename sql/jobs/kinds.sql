-- Job kinds: settings and limits, pause and resume, kinds that no worker handles.

-- Changes the settings of a kind; settings that are not given stay. Registers a new kind. A kind is shared by all workspaces.
create or replace function iu_core.fn_job_kind_set(p_kind text, p_settings jsonb) returns iu_core.job_kind
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  k iu_core.job_kind;
  v_unknown text;
  v_before text;
begin
  perform iu_core.require_member_everywhere('administer');
  perform iu_core.fn_job_check(p_kind, null, 'PG_worker', '{}');
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception using errcode = 'SD001', message = 'The settings of a kind must be an object';
  end if;
  select s into v_unknown from jsonb_object_keys(p_settings) s
   where s not in ('description', 'max_attempts', 'max_crashes', 'backoff', 'max_backoff', 'timeout', 'concurrency', 'rate',
                   'rate_period', 'serial_by', 'fair_by', 'key_mode', 'debounce', 'max_debounce', 'key_retention') limit 1;
  if found then
    raise exception using errcode = 'SD001', message = format('A job kind has no setting called %L', v_unknown);
  end if;
  insert into iu_core.job_kind (job_kind) values (p_kind) on conflict do nothing;
  select * into k from iu_core.job_kind where job_kind = p_kind for update;
  v_before := k.fair_by;
  k := jsonb_populate_record(k, p_settings);
  update iu_core.job_kind
     set description = k.description, max_attempts = k.max_attempts, max_crashes = k.max_crashes, backoff = k.backoff,
         max_backoff = k.max_backoff, timeout = k.timeout, concurrency = k.concurrency, rate = k.rate,
         rate_period = k.rate_period, serial_by = k.serial_by, fair_by = k.fair_by, key_mode = k.key_mode,
         debounce = k.debounce, max_debounce = k.max_debounce, key_retention = k.key_retention
   where job_kind = p_kind returning * into k;
  -- Those that wait take turns by the new key. What is enqueued at this moment may not; it has its turn by its age.
  update iu_core.job_queue q set fair_key = iu_core.fn_job_fair_key(k.fair_by, q.source_ref, q.target_ref, q.payload_ref)
   where q.job_kind = p_kind and k.fair_by is distinct from v_before;
  return k;
exception when check_violation or not_null_violation or data_exception then
  raise exception using errcode = 'SD001', message = format('The settings of the kind %s are invalid: %s', p_kind, sqlerrm);
end $$;

grant execute on function iu_core.fn_job_kind_set(text, jsonb) to dot_executor, service_role, stagedoor_reviewer;

-- Pauses a kind: none of its jobs are claimed until it is resumed; running jobs continue. Returns whether it was running
-- before.
create or replace function iu_core.fn_job_pause(p_kind text, p_actor text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
begin
  perform iu_core.require_member_everywhere('operate');
  v_actor := iu_core.fn_actor_for(p_actor);
  update iu_core.job_kind set paused_at = clock_timestamp(), paused_by = v_actor.actor where job_kind = p_kind and paused_at is null;
  if found then
    return true;
  end if;
  perform iu_core.fn_job_kind_require(p_kind);
  return false;
end $$;

grant execute on function iu_core.fn_job_pause(text, text) to dot_executor, service_role, stagedoor_reviewer;

-- Raises for a kind that was never enqueued, registered or run. Internal.
create or replace function iu_core.fn_job_kind_require(p_kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.job_kind where job_kind = p_kind) then
    raise exception using
      errcode = 'SD701',
      message = format('There is no job kind %s', coalesce(p_kind, 'NULL')),
      detail = json_build_object('what', 'job kind ' || coalesce(p_kind, 'NULL'))::text;
  end if;
end $$;

-- Resumes a kind: its jobs are claimed again. Returns whether it was paused before.
create or replace function iu_core.fn_job_resume(p_kind text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member_everywhere('operate');
  update iu_core.job_kind set paused_at = null, paused_by = null where job_kind = p_kind and paused_at is not null;
  if found then
    perform pg_notify('stagedoor', 'jobs ' || p_kind);
    return true;
  end if;
  perform iu_core.fn_job_kind_require(p_kind);
  return false;
end $$;

grant execute on function iu_core.fn_job_resume(text) to dot_executor, service_role, stagedoor_reviewer;

-- Opens an issue for each kind whose jobs have been due for p_after and that no live worker handles. Resolves it when a worker
-- takes the kind, or when none of its jobs is due. Returns how many issues were opened and resolved.
create or replace function iu_core.fn_job_review_unhandled(
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
      case when v_line.job_kind like 'upload\_read:%'
           then format('Uploads wait to be read: no running process can open the store %s, in which their files are', substr(v_line.job_kind, 13))
           else format('No worker handles jobs of the kind %s', v_line.job_kind) end ||
        case when v_line.executor = 'PG_worker' then '' else format(' for the executor %s', v_line.executor) end,
      jsonb_build_object('job_kind', v_line.job_kind, 'executor', v_line.executor,
                         'remedy', case when v_line.job_kind like 'upload\_read:%'
                           then 'Start `stagedoor start` or `stagedoor worker` on the host that received the files, with the same STAGEDOOR_HOME and STAGEDOOR_STORE; or discard the uploads. A store that all hosts share (pvc, s3) avoids this.'
                           else 'Start a worker with a handler of this kind (stagedoor worker --handlers FILE), or cancel its jobs.' end));
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

grant execute on function iu_core.fn_job_review_unhandled(interval) to dot_executor, service_role;
