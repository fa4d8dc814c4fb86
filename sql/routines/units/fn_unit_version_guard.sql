-- Before a version is written, by whomever: its hash is computed, and its unit must be a draft that waits for exactly this number.
-- A unit that is not there yet gets its first version; the foreign key holds it to being born in the same transaction.
create or replace function iu_core.fn_unit_version_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_deleted_at timestamptz;
  v_version_no integer;
begin
  new.content_hash := encode(sha256(convert_to(new.body, 'UTF8')), 'hex');
  -- Shared with nobody who enacts or deletes it at this moment.
  select lifecycle_status, deleted_at, version_no into v_status, v_deleted_at, v_version_no
    from iu_core.information_unit where unit_id = new.unit_id for share;
  if v_status <> 'draft' or v_deleted_at is not null then
    perform iu_core.fn_unit_refuse_locked(u) from iu_core.information_unit u where u.unit_id = new.unit_id;
  end if;
  if new.version_no is distinct from coalesce(v_version_no, 0) + 1 then
    raise exception using
      errcode = 'SD001',
      message = format('The next version of the unit %s is %s, not %s', new.unit_id, coalesce(v_version_no, 0) + 1, new.version_no);
  end if;
  return new;
end $$;

create or replace trigger unit_version_comes_in_order
  before insert on iu_core.unit_version
  for each row execute function iu_core.fn_unit_version_guard();

-- A version is for good.
create or replace trigger unit_version_only_grows
  before update or delete on iu_core.unit_version
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger unit_version_is_not_truncated
  before truncate on iu_core.unit_version
  for each statement execute function iu_core.fn_refuse_change();
