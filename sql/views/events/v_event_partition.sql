-- The outbox's partitions with the time that each one covers, read back from its bounds.
create or replace view iu_core.v_event_partition with (security_invoker = true) as
select c.oid::regclass as partition,
       to_timestamp(('x' || left(replace(bound[1], '-', ''), 12))::bit(48)::bigint / 1000.0) as from_time,
       to_timestamp(('x' || left(replace(bound[2], '-', ''), 12))::bit(48)::bigint / 1000.0) as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('([^']+)'\) TO \('([^']+)'\)$re$) as bound
 where i.inhparent = 'iu_core.event_outbox'::regclass;

grant select on iu_core.v_event_partition to dot_executor, service_role;
