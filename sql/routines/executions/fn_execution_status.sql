-- What an execution is at this moment: as projected, brought up to date by the rest of its log and by what it has been told
-- and not yet heard. Internal.
create or replace function noetl.fn_execution_status(p_execution_id bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with known as (
    select (select x.status from noetl.execution x where x.execution_id = p_execution_id) as projected,
           (select case e.event_type when 'execution.paused' then 'PAUSED' when 'execution.resumed' then 'RUNNING'
                                     when 'execution.cancelled' then 'CANCELLED' else upper(split_part(e.event_type, '.', 2)) end
              from noetl.event e
             where e.execution_id = p_execution_id
               and e.seq > coalesce((select x.last_seq from noetl.execution x where x.execution_id = p_execution_id), 0)
               and e.event_type in ('execution.paused', 'execution.resumed', 'execution.cancelled', 'playbook.completed', 'playbook.failed')
             order by e.seq desc limit 1) as logged,
           (select case i.kind when 'pause' then 'PAUSED' else 'RUNNING' end from noetl.inbox i
             where i.execution_id = p_execution_id and i.kind in ('pause', 'resume')
             order by i.inbox_id desc limit 1) as told
  ), settled as (
    select coalesce(logged, projected, 'RUNNING') as status, told from known
  )
  select case when status in ('RUNNING', 'PAUSED') then coalesce(told, status) else status end from settled
$$;
