-- What a record that is no longer pending means to whoever waited for its approval. Withdrawing is how staging calls the
-- owner's own rejection. Internal.
create or replace function noetl.fn_wait_record_outcome(r iu_core.iu_staging_record) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when r.lifecycle_status = 'rejected' and r.rejected_reason = 'withdrawn' and r.rejected_by = r.owner_actor
              then 'withdrawn' else r.lifecycle_status end
$$;
