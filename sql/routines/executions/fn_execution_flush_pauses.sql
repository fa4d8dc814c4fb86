-- Which executions a flush paused or resumed, as {execution_id, paused}. Their commands stay as they are, each with the time
-- of its retry: a claim passes over all of a paused execution, also over what is handed over or freed meanwhile. Internal.
create or replace function noetl.fn_execution_flush_pauses(p_pauses jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update noetl.checkpoint k set paused = p.paused
    from jsonb_to_recordset(p_pauses) as p (execution_id bigint, paused boolean)
   where k.execution_id = p.execution_id and k.paused <> p.paused;
  if jsonb_path_exists(p_pauses, '$[*] ? (@.paused == false)') then
    perform pg_notify('stagedoor_command', '');
  end if;
end $$;
