-- The commands of a flush: those that nobody waits for any more go, also from whoever runs them; then the new ones come, so
-- that a loop that ends and is entered again does not take its own away. Internal.
--
-- handed_over: a command that its owner cannot run itself. The owner may say so again, when it has forgotten or is another
-- one: that counts only while the command is not out. Nobody but the owner adds commands, or takes ends out of the inbox.
--
-- The notice says which handlers are needed, so that engines without them sleep on: a list of lists, empty for anybody.
create or replace function noetl.fn_execution_flush_commands(p_batch jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due boolean;
  v_needs text;
begin
  -- Locked in the order of their ids, as by those who end them.
  delete from noetl.command where command_id = any (array(
    select c.command_id from noetl.command c
      join jsonb_to_recordset(p_batch -> 'commands_gone') as g (execution_id bigint, loop_id bigint)
        on c.execution_id = g.execution_id and (g.loop_id is null or c.loop_id = g.loop_id)
     order by c.command_id for update of c));
  with written as (
    insert into noetl.command (command_id, execution_id, shard_id, catalog_id, loop_id, node_id, node_name, item_index, item, needs,
                               scope, attempt, process_after)
    select n.command_id, n.execution_id, noetl.fn_shard_of(n.execution_id), n.catalog_id, n.loop_id, n.node_id, n.node_name, n.item_index,
           n.item, nullif(n.needs, '{}'), n.scope, coalesce(n.attempt, 1), coalesce(n.process_after, clock_timestamp())
      from jsonb_to_recordset(p_batch -> 'commands') as n (
        command_id text, execution_id bigint, catalog_id bigint, loop_id bigint, node_id text, node_name text, item_index integer,
        item jsonb, needs text[], scope jsonb, attempt smallint, process_after timestamptz, handed_over boolean)
     where n.handed_over is not true or not noetl.fn_command_is_out(n.execution_id, n.command_id)
    returning process_after, needs
  )
  select bool_or(w.due), case when bool_and(w.needs is not null) then json_agg(w.needs)::text end into v_due, v_needs
    from (select needs, bool_or(process_after <= clock_timestamp()) as due from written group by 1) w where w.due;
  if v_due then
    perform pg_notify('stagedoor_command', case when octet_length(v_needs) < 8000 then v_needs else '' end);
  end if;
end $$;
