-- Mappings: what headers and values of the next files mean, entry by entry. fn_ingest_mapping_set replaces all of them.

-- Adds, changes and deletes entries of what a workspace remembers of a dataset's files; all other entries stay. Header → field, or null
-- (ignore the column); field → {value in the file → value to use}. p_forget_values: field → [value in the file].
create or replace function iu_core.fn_ingest_mapping_update(
  p_workspace_id uuid, p_dataset text, p_platform text, p_headers jsonb default '{}', p_field_values jsonb default '{}',
  p_forget_headers text[] default '{}', p_forget_values jsonb default '{}'
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb;
  v_values jsonb;
  v_field text;
begin
  perform iu_core.require_member(p_workspace_id, 'operate');
  if jsonb_typeof(coalesce(p_headers, '{}')) <> 'object' or jsonb_typeof(coalesce(p_field_values, '{}')) <> 'object'
     or jsonb_typeof(coalesce(p_forget_values, '{}')) <> 'object'
     or exists (select from jsonb_each(coalesce(p_headers, '{}')) where jsonb_typeof(value) not in ('string', 'null'))
     or exists (select from jsonb_each(coalesce(p_field_values, '{}')) where jsonb_typeof(value) <> 'object')
     or exists (select from jsonb_each(coalesce(p_forget_values, '{}')) where jsonb_typeof(value) <> 'array') then
    raise exception using errcode = 'SD001',
      message = 'A mapping is {header: field or null} and {field: {value: value or null}}; values to forget are {field: [value]}';
  end if;
  perform iu_core.fn_ingest_mapping_lock(p_workspace_id, p_dataset, p_platform);
  select m.headers, m.field_values into v_headers, v_values
    from iu_core.ingest_mapping m
   where (m.workspace_id, m.dataset, m.platform) = (p_workspace_id, p_dataset, p_platform);
  v_headers := coalesce(v_headers, '{}') - coalesce(p_forget_headers, '{}') || coalesce(p_headers, '{}');
  v_values := coalesce(v_values, '{}');
  for v_field in
    select k from (select jsonb_object_keys(coalesce(p_field_values, '{}')) union select jsonb_object_keys(coalesce(p_forget_values, '{}'))) f (k)
  loop
    v_values := jsonb_set(v_values, array[v_field],
      coalesce(v_values -> v_field, '{}')
        - array(select jsonb_array_elements_text(coalesce(p_forget_values -> v_field, '[]')))
        || coalesce(p_field_values -> v_field, '{}'));
    if v_values -> v_field = '{}' then
      v_values := v_values - v_field;
    end if;
  end loop;
  if (select count(*) from jsonb_object_keys(v_headers)) > 10000
     or (select count(*) from jsonb_each(v_values) f, jsonb_object_keys(f.value)) > 50000 then
    raise exception using errcode = 'SD001',
      message = 'A workspace remembers at most 10,000 headers and 50,000 values of a dataset and platform',
      hint = 'Declare the values in the dataset, or delete entries that no file has any more.';
  end if;
  perform iu_core.fn_ingest_mapping_set(p_workspace_id, p_dataset, p_platform, v_headers, v_values);
end $$;

grant execute on function iu_core.fn_ingest_mapping_update(uuid, text, text, jsonb, jsonb, text[], jsonb)
  to service_role, authenticated, stagedoor_reviewer;

-- Which of these values the table of a looked-up field does not have, each with the three that are most alike, as a plan would say it:
-- for a file that is not uploaded yet. Values that several rows have are known.
create or replace function iu_core.fn_ingest_lookup_unknown(p_workspace_id uuid, p_dataset text, p_field text, p_values text[])
returns table (value text, near text[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_dataset iu_core.ingest_dataset;
  v_lookup text;
begin
  perform iu_core.require_member(p_workspace_id, 'stage');
  select * into v_dataset from iu_core.ingest_dataset d where d.dataset = p_dataset;
  if not found then
    raise exception using errcode = 'SD604', message = format('There is no dataset %L', p_dataset),
      detail = json_build_object('dataset', p_dataset, 'platform', null)::text;
  end if;
  perform iu_core.fn_ingest_require_own_dataset(v_dataset, p_workspace_id, null);
  if p_values = '{}' then
    return;
  end if;
  v_lookup := v_dataset.definition -> 'fields' -> p_field ->> 'lookup';
  if v_lookup is null or p_values is null or cardinality(p_values) > 2000 then
    raise exception using errcode = 'SD001',
      message = format('%s is no field of %s that is looked up, or there are more than 2,000 values', p_field, p_dataset);
  end if;
  -- Of another call or a plan of the same transaction.
  drop table if exists pg_temp.ingest_lookup;
  create temporary table ingest_lookup (
    lookup text, value text, castable boolean default true, matches bigint default 0, found text, own boolean default false, near text[]) on commit drop;
  insert into pg_temp.ingest_lookup (lookup, value)
  select distinct v_lookup, v from unnest(p_values) v where v is not null;
  perform iu_core.fn_ingest_resolve_lookups(v_dataset.definition);
  perform iu_core.fn_ingest_suggest_lookups(v_dataset.definition);
  return query select k.value, coalesce(k.near, '{}') from pg_temp.ingest_lookup k where k.matches = 0 order by k.value;
  drop table pg_temp.ingest_lookup;
end $$;

grant execute on function iu_core.fn_ingest_lookup_unknown(uuid, text, text, text[])
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;
