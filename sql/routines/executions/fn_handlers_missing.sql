-- Looks for commands that wait for handlers which no running process has: most often its only process is being restarted, and
-- they wait for it. After p_issue_after an issue says so, which is resolved by itself when a process has them again. With
-- p_grace they fail for good after that long; null: they wait for ever. Answers how many commands failed.
--
-- The time counts from when the handlers were first missed, not from when a command was due: one that queued for an hour behind
-- others waits as long as everybody else. One session looks at a time, the others go on.
create or replace function noetl.fn_handlers_missing(p_issue_after interval default '1 minute', p_grace interval default null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_missing noetl.missing_handler;
  v_names text;
  v_waiting record;
  v_failed integer := 0;
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('noetl.missing_handler', 0)) then
    return 0;
  end if;
  insert into noetl.missing_handler (needs, since)
  select distinct c.needs, v_now from noetl.command c
   where c.needs is not null and c.leased_by is null and c.process_after <= v_now
     and not exists (select from noetl.engine e where e.runs and e.leased_until > v_now and c.needs <@ e.handlers)
  on conflict do nothing;
  for v_missing in select * from noetl.missing_handler order by needs for update loop
    v_names := array_to_string(v_missing.needs, ', ');
    select count(*) as commands, count(distinct c.execution_id) as executions, min(c.process_after) as oldest,
           (array_agg(distinct c.execution_id::text))[1:10] as examples
      into v_waiting from noetl.command c where c.needs = v_missing.needs and c.leased_by is null and c.process_after <= v_now;
    if v_waiting.commands = 0
       or exists (select from noetl.engine e where e.runs and e.leased_until > v_now and v_missing.needs <@ e.handlers) then
      delete from noetl.missing_handler where needs = v_missing.needs;
      if exists (select from iu_core.system_issue where issue_id = v_missing.issue_id and resolved_at is null) then
        perform iu_core.fn_system_issue_resolve(
          v_missing.issue_id,
          case when v_waiting.commands = 0 then 'Nothing waits for it any more' else 'A running process has it again' end);
      end if;
      continue;
    end if;
    if p_grace is not null and v_missing.since <= v_now - p_grace then
      with free as materialized (
        select command_id from noetl.command
         where needs = v_missing.needs and leased_by is null and process_after <= v_now order by command_id for update skip locked
      ), gone as (
        delete from noetl.command c using free f where c.command_id = f.command_id
        returning c.execution_id, c.shard_id, c.command_id, c.node_id, c.loop_id, c.item_index, c.attempt
      ), told as (
        insert into noetl.inbox (execution_id, shard_id, kind, body)
        select g.execution_id, g.shard_id, 'command_ended', jsonb_build_object(
                 'command_id', g.command_id, 'node_id', g.node_id, 'loop_id', g.loop_id::text, 'index', g.item_index,
                 'attempt', g.attempt, 'status', 'failed', 'retryable', false,
                 'error', format('No running process has had the handler %s for %s. Give its file with --handlers to stagedoor run, start or worker', v_names, p_grace))
          from gone g
        returning shard_id
      )
      select count(*), string_agg(distinct shard_id::text, ',') into v_count, v_names from told;
      v_failed := v_failed + v_count;
      if v_names is not null then
        perform pg_notify('stagedoor_inbox', v_names);
      end if;
    elsif v_missing.issue_id is null and v_missing.since <= v_now - p_issue_after then
      update noetl.missing_handler set issue_id = iu_core.fn_system_issue_open(
               'handler_missing', 'error', 'handler:' || left(v_names, 480),
               format('No running process has the handler %s; %s step(s) of %s execution(s) wait for it', v_names, v_waiting.commands, v_waiting.executions),
               jsonb_build_object('handlers', v_missing.needs, 'commands', v_waiting.commands, 'executions', v_waiting.executions,
                                  'examples', v_waiting.examples, 'since', v_missing.since,
                                  'remedy', 'Start a process with its file: stagedoor worker --handlers FILE'))
       where needs = v_missing.needs;
    end if;
  end loop;
  return v_failed;
end $$;

grant execute on function noetl.fn_handlers_missing(interval, interval) to dot_executor;
