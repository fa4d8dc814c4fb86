-- The history's partitions with the time that each one covers, read back from its bounds.
create or replace view iu_core.v_job_history_partition with (security_invoker = true) as
select c.oid::regclass as partition, bound[1]::timestamptz as from_time, bound[2]::timestamptz as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('([^']+)'\) TO \('([^']+)'\)$re$) as bound
 where i.inhparent = 'iu_core.job_history'::regclass;

grant select on iu_core.v_job_history_partition to dot_executor, service_role;
