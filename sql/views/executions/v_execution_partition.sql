-- The log's partitions with the ids and the time that each one covers, read back from its bounds.
create or replace view noetl.v_execution_partition with (security_invoker = true) as
select c.oid::regclass as partition,
       bound[1]::bigint as from_id,
       bound[2]::bigint as to_id,
       noetl.fn_snowflake_time(bound[1]::bigint) as from_time,
       noetl.fn_snowflake_time(bound[2]::bigint) as to_time
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
 cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(\d+)'\) TO \('(\d+)'\)$re$) as bound
 where i.inhparent = 'noetl.event'::regclass;

grant select on noetl.v_execution_partition to dot_executor, service_role;
