-- What Postgres itself has wrong: units that are said to be in search and are not, or are in it and should not be, and have nobody
-- on the way to them.  missing: no text in search, or that of another version;  left: it was deleted or retired.
-- p_repair has them projected again. For back-end code.
create or replace function iu_core.fn_search_audit_text(p_repair boolean default false, p_limit integer default 1000)
returns table (unit_id uuid, finding text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_found record;
  v_units uuid[] := '{}';
begin
  perform iu_core.require_member(null, 'administer');
  for v_found in
    select u.unit_id, case when x.gone then 'left' else 'missing' end as finding
      from iu_core.information_unit u
      left join iu_core.vector_outbox o on o.unit_id = u.unit_id
     cross join lateral (select u.deleted_at is not null or u.lifecycle_status = 'retired' as gone,
                                (select min(c.content_hash_at_embedding) from iu_core.search_chunk c where c.unit_id = u.unit_id) as hash) as x
     where coalesce(o.status, 'done') = 'done'
       and case when x.gone then x.hash is not null else x.hash is distinct from u.content_hash end
     order by u.unit_id limit p_limit
  loop
    unit_id := v_found.unit_id;
    finding := v_found.finding;
    v_units := v_units || v_found.unit_id;
    return next;
  end loop;
  if coalesce(p_repair, false) then
    perform iu_core.fn_vector_due(v_units);
  end if;
end $$;

grant execute on function iu_core.fn_search_audit_text(boolean, integer) to dot_executor, service_role;
