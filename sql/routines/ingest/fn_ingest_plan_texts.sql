-- The columns that a row type writes, if all of them are of types whose text is all there is to know: then a plan holds
-- the texts of what it inserts. NULL if one is not. Internal.
create or replace function iu_core.fn_ingest_plan_texts(p_written jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when bool_and(f.form is not null) then
           jsonb_agg(jsonb_build_object('column', w."column", 'form', f.form) order by w.ordinality) end
    from rows from (jsonb_to_recordset(p_written) as ("column" text, type text)) with ordinality as w,
         lateral (select case when t.typtype = 'e' or t.typcategory = 'S' and t.typtype = 'b' and t.typname <> 'bpchar' or t.typname in ('uuid', 'date') then 'text'
                              when t.typname in ('int2', 'int4', 'int8', 'numeric') then 'number'
                              when t.typname = 'bool' then 'boolean' end as form
                    from pg_type t where t.oid = w.type::regtype) as f
$$;
