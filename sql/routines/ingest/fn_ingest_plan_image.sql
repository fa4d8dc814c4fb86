-- What a planned row will hold: the object that the plan has, or the one that its texts make. For whoever reads a plan.
create or replace function iu_core.fn_ingest_plan_image(p_columns jsonb, p_row iu_core.ingest_plan_row) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_row.inserted is null then p_row.after else (
    select jsonb_object_agg(c."column", case when v.value is null then 'null'::jsonb
                                             when c.form = 'boolean' then to_jsonb(v.value::boolean)
                                             when c.form = 'number' then to_jsonb(v.value::numeric)
                                             else to_jsonb(v.value) end)
      from rows from (jsonb_to_recordset(p_columns -> p_row.row_type) as ("column" text, form text)) with ordinality as c,
           lateral (select p_row.inserted[c.ordinality]) as v (value)) end
$$;

grant execute on function iu_core.fn_ingest_plan_image(jsonb, iu_core.ingest_plan_row)
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
