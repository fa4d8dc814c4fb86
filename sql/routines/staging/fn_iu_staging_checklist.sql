-- The items of a record's checklist (its JSON part named checklist), ticked or not.
create or replace function iu_core.fn_iu_staging_checklist(p_staging_record_id uuid)
returns table (item_id text, label text, required boolean, ticked_by text, ticked_at timestamptz, note text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from iu_core.iu_staging_record r where r.staging_record_id = p_staging_record_id) then
    raise exception using
      errcode = 'SD501',
      message = format('There is no staging record %s', coalesce(p_staging_record_id::text, 'NULL')),
      detail = json_build_object('record', p_staging_record_id)::text;
  end if;
  return query
  select i.item_id, i.label, i.required, c.ticked_by, c.ticked_at, c.note
    from iu_core.iu_staging_payload p
   cross join lateral iu_core.fn_iu_staging_checklist_items(p.payload_json) as i
    left join iu_core.iu_staging_check c
      on c.staging_record_id = p.staging_record_id and c.item_id = i.item_id
   where p.staging_record_id = p_staging_record_id and p.part_name = 'checklist' and p.payload_kind = 'json'
   order by p.part_index, i.item_position;
end $$;

grant execute on function iu_core.fn_iu_staging_checklist(uuid) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
