-- Is the checklist of these parts one that a person can tick? Where the policy requires one, the owner cannot leave it
-- out: exactly one JSON part named checklist, with something that must be ticked. Raises, or returns nothing. Internal.
create or replace function iu_core.fn_iu_staging_checklist_check(p_parts jsonb[], p_required boolean) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
  v_list jsonb;
  v_found integer := 0;
  v_must integer := 0;
  v_problem text;
begin
  foreach v_part in array p_parts loop
    continue when v_part ->> 'part_name' <> 'checklist' or v_part ->> 'payload_kind' <> 'json';
    v_found := v_found + 1;
    v_list := case jsonb_typeof(v_part -> 'payload_json')
      when 'object' then v_part -> 'payload_json' -> 'items' else v_part -> 'payload_json' end;
    -- Asked before anything is unfolded: a few megabytes would be millions of items.
    if jsonb_typeof(v_list) = 'array' and jsonb_array_length(v_list) > 500 then
      v_problem := format('%s items; at most 500', jsonb_array_length(v_list));
    else
      select count(*) filter (where i.required),
             case when bool_or(i.item_id !~ '\S') then 'an item with a blank id'
                  when bool_or(length(i.item_id) > 200) then 'an id of more than 200 characters'
                  when count(*) > count(distinct i.item_id) then 'two items with the same id' end
        into v_must, v_problem
        from iu_core.fn_iu_staging_checklist_items(v_part -> 'payload_json') i;
    end if;
    if v_problem is not null then
      raise exception using errcode = 'SD506', message = 'The checklist has ' || v_problem;
    end if;
  end loop;
  if p_required and (v_found <> 1 or v_must = 0) then
    raise exception using
      errcode = 'SD506',
      message = 'This kind needs a checklist: one JSON part named checklist with at least one required item',
      hint = 'For example {"part_name": "checklist", "payload_kind": "json", "payload_json": ["the figures match"]}.';
  end if;
end $$;
