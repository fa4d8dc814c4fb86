-- The overview counts what is open, what failed and what ended lately. Each of these is found by an index whose size follows what is open,
-- not what ever was.
create index change_not_ended on iu_core.change (status, change_id) where status in ('draft', 'open', 'changes_requested', 'approved');
create index ingest_upload_not_ended on iu_core.ingest_upload (upload_id) where status in ('reading', 'staged', 'planned');
create index ingest_promotion_promoted_at on iu_core.ingest_promotion (promoted_at);
create index ingest_promotion_undoable on iu_core.ingest_promotion (undo_until) where undone_at is null;
create index unit_check_needs_a_person on iu_core.unit_check (unit_id) where conformance = 'deviates' or drift = 'drifted';
create index unit_vector_embedded_at on iu_core.unit_vector (embedded_at);
create index vector_outbox_failed on iu_core.vector_outbox (changed_at) where status = 'dead_letter';
create index execution_not_ended on noetl.execution (created_at) where status in ('RUNNING', 'PAUSED');
create index execution_failed on noetl.execution (created_at) where status = 'FAILED';
-- A history is written in the order of its time, so that a few bytes for each range of blocks are enough and a job pays nothing for it.
create index job_history_finished_at on iu_core.job_history using brin (finished_at) with (pages_per_range = 4, autosummarize = on);
