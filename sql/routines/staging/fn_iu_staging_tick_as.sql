-- Ticks an item of a pending record's checklist, or takes the tick away, in somebody's name: whoever calls has asked whether
-- they may. Internal.
create or replace function iu_core.fn_iu_staging_tick_as(
  p_staging_record_id uuid, p_item_id text, p_ticked boolean, p_by text, p_note text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
begin
  -- Locked, so that no tick slips in behind a decision.
  select * into r from iu_core.iu_staging_record
    where staging_record_id = p_staging_record_id and lifecycle_status = 'pending' and expires_at > clock_timestamp()
    for update;
  if not found then
    perform iu_core.fn_iu_staging_refuse(p_staging_record_id, 'ticked');
  end if;
  -- A tick says that a second person has looked.
  perform iu_core.fn_iu_staging_four_eyes(r, p_by);
  if not exists (select from iu_core.fn_iu_staging_checklist(p_staging_record_id) c where c.item_id = p_item_id) then
    raise exception using
      errcode = 'SD001',
      message = format('The checklist has no item %L', p_item_id),
      hint = coalesce((select 'It has: ' || string_agg(c.item_id, ', ') from iu_core.fn_iu_staging_checklist(p_staging_record_id) c),
                      'The record has no part named checklist.');
  end if;
  if p_ticked then
    insert into iu_core.iu_staging_check as c (staging_record_id, item_id, ticked_by, note)
    values (p_staging_record_id, p_item_id, p_by, p_note)
    -- The first stamp stays: who ticked it first has looked. An owner's, from before owners were refused, counts for nothing and gives way.
    on conflict (staging_record_id, item_id) do update
       set ticked_by = excluded.ticked_by, ticked_at = excluded.ticked_at, note = excluded.note
     where r.four_eyes and lower(c.ticked_by) in (lower(r.owner_actor), lower(r.owner_via));
  else
    delete from iu_core.iu_staging_check where staging_record_id = p_staging_record_id and item_id = p_item_id;
  end if;
end $$;
