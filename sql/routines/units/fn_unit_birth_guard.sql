-- Before a unit is born, by whomever: it comes as a draft, alive, with its first version, a profile without core keys, and topics of
-- the vocabulary. That
-- the fifteen fields are there and well formed is in the constraints.
create or replace function iu_core.fn_unit_birth_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.lifecycle_status <> 'draft' or new.deleted_at is not null then
    raise exception using
      errcode = 'SD905',
      message = format('The unit %s is not born yet and cannot become %s', new.unit_id,
                       case when new.deleted_at is null then new.lifecycle_status else 'deleted' end),
      detail = json_build_object('unit', new.unit_id, 'status', 'not born yet',
                                 'to', case when new.deleted_at is null then new.lifecycle_status else 'deleted' end)::text;
  end if;
  if new.version_no <> 1
     or not exists (select from iu_core.unit_version v
                     where v.unit_version_id = new.current_version_id
                       and (v.unit_id, v.version_no, v.content_hash, v.title, v.unit_kind)
                         = (new.unit_id, 1, new.content_hash, new.title, new.unit_kind)) then
    raise exception using
      errcode = 'SD001',
      message = format('The unit %s is born with its first version, which is written before it and says the same', new.unit_id);
  end if;
  perform iu_core.fn_unit_profile_check(new.content_profile) where new.content_profile <> '{}';
  if new.content_profile ? 'topic_labels' then
    perform iu_core.fn_unit_topics_check(new.workspace_id, null, new.content_profile -> 'topic_labels');
  end if;
  return new;
end $$;

create or replace trigger information_unit_is_born_whole
  before insert on iu_core.information_unit
  for each row execute function iu_core.fn_unit_birth_guard();
