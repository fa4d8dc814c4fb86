-- The items of a record's checklist, ticked or not. A checklist is a JSON part named checklist: an array, or an
-- object with items; an item is a text, or an object {"id", "text", "required"} (required unless it says false).
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
   cross join lateral (
     select case jsonb_typeof(item) when 'object' then coalesce(item ->> 'id', position::text) else position::text end as item_id,
            case jsonb_typeof(item)
              when 'object' then coalesce(item ->> 'text', item ->> 'label', item ->> 'title', item ->> 'id')
              else item #>> '{}' end as label,
            case jsonb_typeof(item) when 'object' then coalesce(item ->> 'required', 'true') <> 'false' else true end as required,
            position
       from jsonb_array_elements(case jsonb_typeof(p.payload_json)
              when 'array' then p.payload_json
              when 'object' then case jsonb_typeof(p.payload_json -> 'items') when 'array' then p.payload_json -> 'items' else '[]' end
              else '[]' end) with ordinality as t (item, position)) as i
    left join iu_core.iu_staging_check c
      on c.staging_record_id = p.staging_record_id and c.item_id = i.item_id
   where p.staging_record_id = p_staging_record_id and p.part_name = 'checklist' and p.payload_kind = 'json'
   order by p.part_index, i.position;
end $$;

grant execute on function iu_core.fn_iu_staging_checklist(uuid) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
