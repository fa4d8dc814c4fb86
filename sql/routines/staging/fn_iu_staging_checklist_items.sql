-- The items of a checklist's JSON: an array, or an object with items. An item is a text, or an object
-- {"id", "text", "required"} (required unless it says false). Without an id its position is its id.
create or replace function iu_core.fn_iu_staging_checklist_items(p_json jsonb)
returns table (item_id text, label text, required boolean, item_position bigint)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case jsonb_typeof(item) when 'object' then coalesce(item ->> 'id', position::text) else position::text end,
         case jsonb_typeof(item)
           when 'object' then coalesce(item ->> 'text', item ->> 'label', item ->> 'title', item ->> 'id')
           else item #>> '{}' end,
         case jsonb_typeof(item) when 'object' then coalesce(item ->> 'required', 'true') <> 'false' else true end,
         position
    from jsonb_array_elements(case jsonb_typeof(p_json)
           when 'array' then p_json
           when 'object' then case jsonb_typeof(p_json -> 'items') when 'array' then p_json -> 'items' else '[]' end
           else '[]' end) with ordinality as t (item, position)
$$;

grant execute on function iu_core.fn_iu_staging_checklist_items(jsonb) to
  dot_executor, service_role, directus, authenticated, stagedoor_agent, stagedoor_reviewer;
