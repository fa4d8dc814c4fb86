-- Settings of the projection: windows, phases, costs.

-- Sets the quiet window after an edit (120 to 180 seconds) and the delete window (30 to 60 seconds); NULL keeps the current
-- value. It applies to rows enqueued from now on. For back-end code. Returns whether anything changed.
create or replace function iu_core.fn_vector_policy_set(
  p_quiet_window interval default null,
  p_delete_delay interval default null,
  p_reason text default null
) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_changed boolean;
begin
  perform iu_core.require_member(null, 'administer');
  if p_quiet_window not between '120 seconds' and '180 seconds' then
    raise exception using errcode = 'SD001', message = 'The quiet window must be 120 to 180 seconds';
  end if;
  if p_delete_delay not between '30 seconds' and '60 seconds' then
    raise exception using errcode = 'SD001', message = 'The delete window must be 30 to 60 seconds';
  end if;
  perform set_config('stagedoor.policy_reason', coalesce(p_reason, ''), true);
  update iu_core.vector_policy w
     set quiet_window = coalesce(p_quiet_window, w.quiet_window), delete_delay = coalesce(p_delete_delay, w.delete_delay)
   where (w.quiet_window, w.delete_delay) is distinct from (coalesce(p_quiet_window, w.quiet_window), coalesce(p_delete_delay, w.delete_delay));
  v_changed := found;
  perform set_config('stagedoor.policy_reason', '', true);
  return v_changed;
end $$;

grant execute on function iu_core.fn_vector_policy_set(interval, interval, text) to dot_executor, service_role;

-- Writes an audit row for every changed value of the projection policy, also for a change by hand.
create or replace function iu_core.fn_vector_policy_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.dot_config_audit (key, change, old_value, new_value, actor, reason)
  select 'vector_policy.' || o.key, 'update', o.value, n.value, iu_core.fn_actor(),
         nullif(current_setting('stagedoor.policy_reason', true), '')
    from jsonb_each_text(to_jsonb(old)) as o
    join jsonb_each_text(to_jsonb(new)) as n on n.key = o.key
   where n.value is distinct from o.value
   order by o.key;
  return null;
end $$;

create or replace trigger vector_policy_is_audited
  after update on iu_core.vector_policy
  for each row execute function iu_core.fn_vector_policy_audit();
create or replace trigger vector_policy_is_not_deleted
  before delete on iu_core.vector_policy
  for each row execute function iu_core.fn_refuse_change();

-- Opens or closes a phase of the migration from the old knowledge base (1 to 3), in order. For back-end code; it is the gate
-- search.phase_N.enabled, which a database administrator can also set like any other. Returns whether anything changed.
create or replace function iu_core.fn_search_phase_set(p_phase integer, p_open boolean, p_reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(null, 'administer');
  if p_phase is null or p_phase not between 1 and 3 then
    raise exception using errcode = 'SD001', message = 'Search has the phases 1, 2 and 3; phase 0, the mapping, only reads and has no switch';
  end if;
  return iu_core.fn_gate_set(format('search.phase_%s.enabled', p_phase), p_open, p_reason);
end $$;

grant execute on function iu_core.fn_search_phase_set(integer, boolean, text) to dot_executor, service_role;

-- The phases of search are opened in order and closed in reverse order, by whatever way the gate is changed. Phase 3 changes
-- how units are divided: every unit is projected again.
create or replace function iu_core.fn_search_phase_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_form constant text := '^search\.phase_([123])\.enabled$';
  v_phase integer := coalesce(substring(old.key from v_form), substring(new.key from v_form))::integer;
  v_opens boolean := coalesce(new.value = 'true', false);
  v_was_open boolean := coalesce(old.value = 'true', false);
begin
  if v_phase is null then
    return coalesce(new, old);
  end if;
  if tg_op = 'UPDATE' and new.key <> old.key then
    raise exception using errcode = 'SD914', message = 'The gate of a search phase cannot be renamed',
      detail = json_build_object('reason', 'a phase keeps its name')::text;
  end if;
  if v_opens = v_was_open then
    return coalesce(new, old);
  end if;
  if v_opens and v_phase > 1 and not exists (
       select from iu_core.dot_config c
        where c.key = format('search.phase_%s.enabled', v_phase - 1) and c.value = 'true' for share) then
    raise exception using
      errcode = 'SD914',
      message = format('Phase %s of search cannot be opened before phase %s', v_phase, v_phase - 1),
      detail = json_build_object('reason', format('phase %s is closed', v_phase - 1))::text;
  end if;
  if not v_opens and v_phase < 3 and exists (
       select from iu_core.dot_config c
        where c.key = format('search.phase_%s.enabled', v_phase + 1) and c.value = 'true' for share) then
    raise exception using
      errcode = 'SD914',
      message = format('Phase %s of search cannot be closed before phase %s', v_phase, v_phase + 1),
      detail = json_build_object('reason', format('phase %s is open', v_phase + 1))::text;
  end if;
  if v_phase = 3 then
    perform iu_core.fn_vector_enqueue(
      array(select u.unit_id from iu_core.information_unit u
             where u.deleted_at is null and u.lifecycle_status <> 'retired' order by u.unit_id), 'upsert');
  end if;
  perform pg_notify('stagedoor', 'search ');
  return coalesce(new, old);
end $$;

create or replace trigger dot_config_phases_in_order
  before insert or update or delete on iu_core.dot_config
  for each row execute function iu_core.fn_search_phase_guard();

-- Adds the cost of a paid embedder to its day (UTC). Counted when it has answered, whatever happens to the answer.
create or replace function iu_core.fn_search_cost_add(p_embedder text, p_model text, p_requests bigint, p_tokens bigint)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_embedder is null or p_model is null or p_requests is null or p_requests < 0 or p_tokens is null or p_tokens < 0 then
    raise exception using errcode = 'SD001', message = 'A cost entry needs an embedder, a model, and requests and tokens of at least 0';
  end if;
  insert into iu_core.search_cost as c (day, embedder, model, requests, tokens)
  values ((clock_timestamp() at time zone 'UTC')::date, p_embedder, p_model, p_requests, p_tokens)
  on conflict (day, embedder, model)
  do update set requests = c.requests + excluded.requests, tokens = c.tokens + excluded.tokens;
end $$;

grant execute on function iu_core.fn_search_cost_add(text, text, bigint, bigint) to vector_worker, dot_executor, service_role;
