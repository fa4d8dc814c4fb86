-- Runs at the end of every migrate, as the owner: what must be in place before the first write.
select * from iu_core.fn_event_partitions_maintain();
select * from iu_core.fn_job_history_maintain();
select * from noetl.fn_execution_partitions_maintain();
-- What the triggers of routes run was prepared by the routines as they were.
select iu_core.fn_sql_route_refresh();
