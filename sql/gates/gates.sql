-- Gates: shared switches with an audit trail, and overrides for a single transaction.

-- Whether the gate is open in this transaction. An override of this transaction takes precedence over the shared row. Writing one has
-- given the transaction an id, so that a transaction without an id has none to look for.
create or replace function iu_core.fn_gate_open(p_gate text) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tx constant xid8 := pg_current_xact_id_if_assigned();
  v_value text;
begin
  if v_tx is not null then
    select o.value into v_value from iu_core.dot_config_override o where o.key = p_gate and o.tx = v_tx;
  end if;
  if v_value is null then
    select c.value into v_value from iu_core.dot_config c where c.key = p_gate;
  end if;
  if v_value is null then
    raise exception using
      errcode = 'SD102',
      message = format('There is no gate called %L', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
  return v_value = 'true';
end $$;

grant execute on function iu_core.fn_gate_open(text) to dot_executor, service_role, vector_worker;

-- Raises unless the gate is open.
create or replace function iu_core.fn_gate_require(p_gate text) returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not iu_core.fn_gate_open(p_gate) then
    raise exception using
      errcode = 'SD101',
      message = format('The gate %s is closed', p_gate),
      hint = format('An administrator opens it with `stagedoor gate open %s`.', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
end $$;

grant execute on function iu_core.fn_gate_require(text) to dot_executor, service_role;

-- Opens or closes a gate for everybody. Administrators only: nobody but the owner may execute it. Returns whether anything
-- changed.
create or replace function iu_core.fn_gate_set(p_gate text, p_open boolean, p_reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old text;
begin
  if p_open is null then
    raise exception using errcode = 'SD001', message = 'p_open must be true or false, not NULL';
  end if;
  -- Not FOR UPDATE: that would wait for every open transaction whose override refers to this row.
  select value into v_old from iu_core.dot_config where key = p_gate for no key update;
  if v_old is null then
    raise exception using
      errcode = 'SD102',
      message = format('There is no gate called %L', p_gate),
      detail = json_build_object('gate', p_gate)::text;
  end if;
  if v_old = p_open::text then
    return false;
  end if;
  perform set_config('stagedoor.gate_reason', coalesce(p_reason, ''), true);
  update iu_core.dot_config
     set value = p_open::text, updated_at = clock_timestamp(), updated_by = iu_core.fn_actor()
   where key = p_gate;
  perform set_config('stagedoor.gate_reason', '', true);
  perform iu_core.fn_event_emit(
    'system', 'gate_changed',
    p_event_subject_ref => p_gate,
    p_safe_payload => jsonb_build_object('gate', p_gate, 'open', p_open));
  return true;
end $$;

-- Opens or closes a gate for the rest of this transaction only. Administrators only. It inserts its own row instead of updating
-- the shared one, so that writers never wait for each other.
create or replace function iu_core.fn_gate_override(p_gate text, p_open boolean, p_reason text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_open is null then
    raise exception using errcode = 'SD001', message = 'p_open must be true or false, not NULL';
  end if;
  -- Raises for a gate that does not exist.
  perform iu_core.fn_gate_open(p_gate);
  insert into iu_core.dot_config_override as o (key, value)
  values (p_gate, p_open::text)
  on conflict (key, tx) do update set value = excluded.value;
  insert into iu_core.dot_config_audit (key, change, new_value, actor, reason)
  values (p_gate, 'override', p_open::text, iu_core.fn_actor(), p_reason);
end $$;

-- Removes an override just before its transaction commits.
create or replace function iu_core.fn_gate_override_end() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.dot_config_override where key = new.key and tx = new.tx;
  return null;
end $$;

drop trigger if exists dot_config_override_ends_with_transaction on iu_core.dot_config_override;
create constraint trigger dot_config_override_ends_with_transaction
  after insert on iu_core.dot_config_override
  deferrable initially deferred
  for each row execute function iu_core.fn_gate_override_end();

-- Removes overrides that outlived their transaction, which is possible only while triggers were disabled.
create or replace function iu_core.fn_gate_override_sweep() returns bigint
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  with swept as (
    delete from iu_core.dot_config_override
     where pg_visible_in_snapshot(tx, pg_current_snapshot()) and tx <> pg_current_xact_id()
    returning 1
  )
  select count(*) from swept
$$;

grant execute on function iu_core.fn_gate_override_sweep() to dot_executor;

-- Writes an audit row for every change of a gate, also for a change by hand.
create or replace function iu_core.fn_dot_config_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.dot_config_audit (key, change, old_value, new_value, actor, reason)
  values (coalesce(new.key, old.key), lower(tg_op), old.value, new.value, iu_core.fn_actor(),
          nullif(current_setting('stagedoor.gate_reason', true), ''));
  return null;
end $$;

create or replace trigger dot_config_is_audited
  after insert or update or delete on iu_core.dot_config
  for each row execute function iu_core.fn_dot_config_audit();
-- Row triggers do not see TRUNCATE.
create or replace trigger dot_config_is_not_truncated
  before truncate on iu_core.dot_config
  for each statement execute function iu_core.fn_refuse_change();

create or replace trigger dot_config_audit_only_grows
  before update or delete on iu_core.dot_config_audit
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger dot_config_audit_is_not_truncated
  before truncate on iu_core.dot_config_audit
  for each statement execute function iu_core.fn_refuse_change();
