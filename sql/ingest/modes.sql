-- Modes insert and update: a row that exists already, or does not exist yet, is refused on its line.

-- When a planned row `t` is refused because of the mode of its row type, as SQL, and why; NULL: never. Internal.
create or replace function iu_core.fn_ingest_mode_refusal(p_spec jsonb, out refused text, out reason text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case p_spec ->> 'mode' when 'insert' then 't.ctid is not null' when 'update' then 't.ctid is null' end,
         case p_spec ->> 'mode'
           when 'insert' then format('%s has this row already, and the dataset only inserts rows (mode insert)', p_spec ->> 'target')
           when 'update' then format('%s has no such row, and the dataset only updates rows (mode update)', p_spec ->> 'target') end
$$;

-- The same for a table that needs a value that the file does not have: a column that is NOT NULL, has no default and is not written.
-- Existing rows have one. A trigger before the insert may fill it in. Internal.
create or replace function iu_core.fn_ingest_unfilled_refusal(p_type record, out refused text, out reason text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select 't.ctid is null',
         format('new rows of %s need a value for %s, and the file has no column for %s', p_type.target_name,
                string_agg(a.attname, ', ' order by a.attnum), case count(*) when 1 then 'it' else 'them' end)
    into refused, reason
    from pg_attribute a
   where a.attrelid = p_type.target and a.attnum > 0 and not a.attisdropped and a.attnotnull and not a.atthasdef
     and a.attidentity = '' and a.attgenerated = '' and a.attname is distinct from p_type.id_column
     and not exists (select from jsonb_to_recordset(p_type.written) as w ("column" text) where w."column" = a.attname)
     and not exists (select from pg_type t where t.oid = a.atttypid and t.typdefault is not null)
     and not exists (select from pg_trigger g where g.tgrelid = p_type.target and not g.tgisinternal and g.tgtype & 7 = 7)
  having count(*) > 0;
end $$;

-- Refuses the entities of a parent that its mode does not allow, before rows that refer to them are planned: those are refused
-- with them. Internal.
create or replace function iu_core.fn_ingest_plan_mode_entities(p_upload iu_core.ingest_upload, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mode text := p_type.spec ->> 'mode';
  v_reason text := (iu_core.fn_ingest_mode_refusal(p_type.spec)).reason;
begin
  if v_reason is null or p_type.is_leaf then
    return;
  end if;
  update pg_temp.ingest_entity e set ambiguous = true, reason = v_reason
   where e.row_type = p_type.row_type and not e.ambiguous and e.existing = (v_mode = 'insert');
  if not found then
    return;
  end if;
  perform iu_core.fn_ingest_refuse_entities(p_upload, p_type, 'mode.' || v_mode, 'Correct the line, or the mode of the dataset.');
end $$;

-- Stores with the staged rows of a parent that its entity is refused, if they do not have an error yet. Internal.
create or replace function iu_core.fn_ingest_refuse_entities(p_upload iu_core.ingest_upload, p_type record, p_rule text, p_suggestion text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update public.staging_id_resolution r
     set resolution_status = 'unresolved', resolution_action = 'failed'
    from pg_temp.ingest_entity e
   where r.upload_id = p_upload.upload_id and r.entity_type = p_type.row_type and r.external_id = e.external_id
     and e.row_type = p_type.row_type and e.ambiguous;
  update iu_core.ingest_staged_row s
     set validation_status = 'invalid', updated_at = now(),
         validation_errors = s.validation_errors || jsonb_build_object(
           'line', e.row_number, 'rule', p_rule, 'message', e.reason || '.', 'suggestion', p_suggestion)
    from pg_temp.ingest_entity e
   where s.upload_id = p_upload.upload_id and s.row_type = p_type.row_type and s.row_number = e.row_number
     and s.validation_status = 'valid' and e.row_type = p_type.row_type and e.ambiguous;
end $$;

-- Why a row is refused whose parent is: nobody can tell which row it is, its mode does not allow it, or it refers to no row. Internal.
create or replace function iu_core.fn_ingest_parent_reason(p_reason text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_reason ~ '\((mode (insert|update)|foreign key .*)\)$' then 'its parent is refused: ' else 'its parent is ambiguous: ' end || p_reason
$$;
