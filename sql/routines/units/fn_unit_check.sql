-- The checker: looks again where the edges of these units lead, then writes its word on each. Anything found but a drift
-- from the document deviates. Back-end code only: an author does not judge what is theirs.
create or replace function iu_core.fn_unit_check(p_unit_ids uuid[])
returns table (unit_id uuid, conformance text, drift text, findings jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_unknown uuid;
begin
  if p_unit_ids is null or array_position(p_unit_ids, null) is not null or cardinality(p_unit_ids) > 10000 then
    raise exception using errcode = 'SD001', message = 'fn_unit_check takes the ids of at most 10000 units';
  end if;
  select i.id into v_unknown from unnest(p_unit_ids) as i (id)
   where not exists (select from iu_core.information_unit u where u.unit_id = i.id) limit 1;
  if found then
    raise exception using
      errcode = 'SD901',
      message = format('There is no unit %s', v_unknown),
      detail = json_build_object('unit', v_unknown)::text;
  end if;
  perform iu_core.fn_unit_edges_verify(p_unit_ids);
  return query
    with found as materialized (
      select f.unit_id, f.version_no, f.findings,
             case when f.findings @? '$[*] ? (@.code != "drifted")' then 'deviates' else 'conforms' end as conformance,
             case when f.findings @> '[{"code": "drifted"}]' then 'drifted' else 'none' end as drift
        from iu_core.fn_unit_findings(p_unit_ids) f
    ), written as (
      insert into iu_core.unit_check as c (unit_id, conformance, drift, findings, checked_version_no, checked_by)
      select f.unit_id, f.conformance, f.drift, f.findings, f.version_no, iu_core.fn_actor() from found f order by f.unit_id
      on conflict (unit_id) do update
         set conformance = excluded.conformance, drift = excluded.drift, findings = excluded.findings,
             checked_version_no = excluded.checked_version_no, checked_by = excluded.checked_by, checked_at = clock_timestamp()
       -- A checker that was slow does not talk of an older version.
       where c.checked_version_no <= excluded.checked_version_no
    )
    select f.unit_id, f.conformance, f.drift, f.findings from found f order by f.unit_id;
end $$;

grant execute on function iu_core.fn_unit_check(uuid[]) to dot_executor, service_role;
