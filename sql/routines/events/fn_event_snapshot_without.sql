-- The snapshot, with the groups of events that somebody has not seen counted as in progress (fn_events_restored).
create or replace function iu_core.fn_event_snapshot_without(p_snapshot pg_snapshot, p_groups jsonb, p_who text) returns pg_snapshot
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('%s:%s:%s', coalesce(min(x), pg_snapshot_xmax(p_snapshot)), pg_snapshot_xmax(p_snapshot),
                string_agg(x::text, ',' order by x))::pg_snapshot
    from (select (g ->> 'tx')::xid8 from jsonb_array_elements(p_groups) g where g -> 'unseen_by' ? p_who
          union
          select pg_snapshot_xip(p_snapshot)) as unseen (x)
$$;
