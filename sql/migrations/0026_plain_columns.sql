-- Tables and columns with plain names. Routines and views follow in their chapters.

-- Units: the name that every other table has for this time.
alter table iu_core.information_unit rename column born_at to created_at;

-- Job kinds: upper limits are max_.
alter table iu_core.job_kind rename column backoff_most to max_backoff;
alter table iu_core.job_kind rename constraint job_kind_backoff_most_more to job_kind_max_backoff_not_less;
alter table iu_core.job_kind rename column debounce_most to max_debounce;
alter table iu_core.job_kind rename constraint job_kind_debounce_most_more to job_kind_max_debounce_not_less;

-- Playbooks: the same limit of a retry, in the definitions that engines load. Their sources stay as people wrote them.
update noetl.catalog
   set payload = replace(payload::text, '"backoff_most_ms":', '"max_backoff_ms":')::jsonb
 where payload::text like '%"backoff_most_ms":%';

-- Jobs that run alone because a worker died under them.
alter table iu_core.job_alone rename to job_isolation;
alter table iu_core.job_isolation rename constraint job_alone_pkey to job_isolation_pkey;
alter policy job_alone_service_reads on iu_core.job_isolation rename to job_isolation_service_reads;

-- Dead letters: when the job failed for good.
alter table iu_core.job_dead_letter rename column died_at to failed_at;

-- Events that ended a wait of an execution.
alter table noetl.wait_heard rename to wait_received_event;
alter table noetl.wait_received_event rename constraint wait_heard_pkey to wait_received_event_pkey;
alter policy wait_heard_service_reads on noetl.wait_received_event rename to wait_received_event_service_reads;
comment on table noetl.wait_received_event is
  'Events that ended a wait of an execution, until the execution has ended: no later wait of the same execution receives them again.';

-- Search: the longest time that an edit waits for the next one, and points that are removed from their store.
alter table iu_core.vector_policy rename column longest_wait to max_wait;
alter table iu_core.search_point drop constraint search_point_state_known;
update iu_core.search_point set state = 'removed' where state = 'gone';
alter table iu_core.search_point add constraint search_point_state_known check (state in ('writing', 'written', 'refused', 'removed'));
drop index iu_core.search_point_gone;
create index search_point_removed on iu_core.search_point (changed_at) where state = 'removed';

-- Rate limit of a consumer: when its current period started.
alter table iu_core.consumer_rate rename column begun_at to period_started_at;
