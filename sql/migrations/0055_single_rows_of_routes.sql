-- What the trigger of a route reads for a statement with one row; it then writes the event by a statement whose plan is kept. NULL: it runs
-- send_sql, whatever the number of rows. Filled by fn_sql_route_refresh at the end of this migrate.
alter table iu_core.iu_sql_event_route_attachment add column row_sql text;
