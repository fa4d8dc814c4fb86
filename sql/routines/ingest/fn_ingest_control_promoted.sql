-- The control totals of a plan less the rows that a table refused while it was promoted (LENIENT); their share of the dataset's
-- amount is lost, too. Internal.
create or replace function iu_core.fn_ingest_control_promoted(p_plan iu_core.ingest_plan, p_definition jsonb, p_leaf_order smallint)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with refused as materialized (
    select p.before, iu_core.fn_ingest_plan_image(p_plan.inserted_columns, p) as image
      from iu_core.ingest_plan_row p
     where p.upload_id = p_plan.upload_id and p.type_order = p_leaf_order and p.action = 'refused'
       and (p.inserted is not null or p.after is not null)
  ), leaf as (
    select spec from jsonb_array_elements(p_definition -> 'rows') as spec
     where spec ->> 'name' = (select row_type from iu_core.ingest_plan_row where upload_id = p_plan.upload_id and type_order = p_leaf_order limit 1)
  ), currency as (
    select c.key as "column", c.value as field from leaf, jsonb_each_text(leaf.spec -> 'columns') as c
     where p_definition -> 'fields' -> c.value ->> 'type' = 'currency' limit 1
  ), planned as materialized (
    -- Lines that a table refused since are invalid by now; the plan took them for valid.
    select s.normalized_payload ->> (select field from currency) as currency, sum(abs((s.normalized_payload ->> (p_definition ->> 'amount'))::numeric)) as size
      from leaf join public.staging_rows s on s.upload_id = p_plan.upload_id and s.row_type = leaf.spec ->> 'name'
                                                and (s.validation_status = 'valid' or s.processing_action = 'failed')
     where exists (select from refused) and p_definition ? 'amount' group by 1
  )
  select case when not exists (select from refused) then p_plan.control else (
    select jsonb_agg(e.entry || jsonb_build_object(
             'valid', trim_scale((e.entry ->> 'valid')::numeric - x.lost)::text,
             'refused', trim_scale((e.entry ->> 'refused')::numeric + x.lost)::text,
             'written', trim_scale((e.entry ->> 'written')::numeric - x.lost)::text,
             'before', trim_scale((e.entry ->> 'before')::numeric - x.stays)::text,
             'after', trim_scale((e.entry ->> 'after')::numeric - x.lost)::text,
             'difference', trim_scale((e.entry ->> 'difference')::numeric - x.lost + x.stays)::text)
             || coalesce((
               select jsonb_build_object('lost_share', trim_scale(round(l.share + x.size * (1 - l.share) / k.size, 9))::text)
                 from planned k, lateral (select (e.entry ->> 'lost_share')::numeric) as l (share)
                where l.share is not null and k.size > 0 and k.currency is not distinct from e.entry ->> 'currency'), '{}') order by e.ordinality)
      from jsonb_array_elements(p_plan.control) with ordinality as e (entry, ordinality),
           lateral (select coalesce(sum(abs(iu_core.fn_ingest_amount(r.image ->> (e.entry ->> 'column'), a.type)))
                                      filter (where e.entry ->> 'currency' is null or r.image ->> c."column" = e.entry ->> 'currency'), 0) as size,
                           coalesce(sum(iu_core.fn_ingest_amount(r.image ->> (e.entry ->> 'column'), a.type))
                                      filter (where e.entry ->> 'currency' is null or r.image ->> c."column" = e.entry ->> 'currency'), 0) as lost,
                           coalesce(sum(iu_core.fn_ingest_amount(r.before ->> (e.entry ->> 'column'), a.type))
                                      filter (where e.entry ->> 'currency' is null or r.before ->> c."column" = e.entry ->> 'currency'), 0) as stays
                      from refused r left join currency c on true
                      cross join (select t.atttypid::regtype as type from leaf, pg_attribute t
                                   where t.attrelid = to_regclass(leaf.spec ->> 'target') and t.attname = e.entry ->> 'column') a) as x) end
$$;
