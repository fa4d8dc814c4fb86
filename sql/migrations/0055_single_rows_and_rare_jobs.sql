-- What the trigger of a route reads for a statement with one row; it then writes the event by a statement whose plan is kept. NULL: it runs
-- send_sql, whatever the number of rows. Filled by fn_sql_route_refresh at the end of this migrate.
alter table iu_core.iu_sql_event_route_attachment add column row_sql text;

-- Lists of jobs by what few of them have: cancelled ones, and those of a kind that seldom ran. Otherwise the list would read the history from
-- its newest job back to its oldest. A job that completes pays nothing for the first, and next to nothing for the second: a filter of
-- the kinds in each range of blocks, made once the range is full.
create index job_history_cancelled on iu_core.job_history (job_id) where outcome = 'cancelled';
create index job_history_kinds on iu_core.job_history using brin (job_kind text_bloom_ops) with (pages_per_range = 64, autosummarize = on);
