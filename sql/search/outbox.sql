-- The vector outbox: what must be projected, claims and outcomes.

-- fn_vector_enqueue for one unit whose hash the caller knows: the same row by the same rules (a test compares them), without
-- lookup, sorting and staggering (creating a unit: 690 → 575 µs of server time). Internal.
create or replace function iu_core.fn_vector_enqueue_unit(p_unit_id uuid, p_content_hash text, p_operation text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_policy iu_core.vector_policy;
  v_delay interval;
  v_longest interval;
begin
  if p_unit_id is null or p_operation is null or p_operation not in ('upsert', 'patch', 'delete') then
    raise exception using errcode = 'SD001', message = format('%L is not one of upsert, patch, delete, or the unit is missing', p_operation);
  end if;
  select * into v_policy from iu_core.vector_policy;
  v_delay := case p_operation when 'delete' then v_policy.delete_delay else v_policy.quiet_window end;
  -- A delete has no longest wait: least() ignores NULL.
  v_longest := case when p_operation <> 'delete' then v_policy.max_wait end;
  insert into iu_core.vector_outbox as o (unit_id, operation, content_hash, first_enqueued_at, earliest_run_at, changed_at)
  values (p_unit_id, p_operation, case when p_operation <> 'delete' then p_content_hash end, v_now,
          least(v_now + v_delay, v_now + v_longest), v_now)
  on conflict (unit_id) where unit_id is not null do update
     set operation = case when excluded.operation = 'patch' and o.status <> 'done' then o.operation else excluded.operation end,
         content_hash = case when excluded.operation = 'patch' and o.status <> 'done' and o.operation = 'delete' then null
                             else excluded.content_hash end,
         generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end,
         earliest_run_at = least(excluded.earliest_run_at,
                                 case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end + v_longest),
         retry_count = 0,
         last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = v_now;
  if p_operation = 'upsert' then
    perform iu_core.fn_search_pending_put(array[p_unit_id]);
  elsif p_operation = 'delete' then
    perform iu_core.fn_search_pending_delete(array[p_unit_id]);
  end if;
end $$;

-- Enqueues units for projection into search, in the transaction of the change: one row for each unit, so that three edits are
-- one embedding. Internal: the callers hold the units' rows, so that the last commit wins.
--   upsert  the text is new, or was restored;   patch  only metadata changed;   delete  remove it.
-- Pending work is not replaced by a patch; of the others the newest counts. A worker that has the row keeps it, and sees by the
-- generation that it has not finished. An edit postpones the row to the end of the quiet window, at most by max_wait. Many
-- rows at once are staggered.
create or replace function iu_core.fn_vector_enqueue(p_unit_ids uuid[], p_operation text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Planned again for each array it takes three times as long.
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_policy iu_core.vector_policy;
  v_delay interval;
  v_longest interval;
begin
  if p_unit_ids is null or p_operation is null or p_operation not in ('upsert', 'patch', 'delete') then
    raise exception using errcode = 'SD001', message = format('%L is not one of upsert, patch, delete, or the units are missing', p_operation);
  end if;
  select * into v_policy from iu_core.vector_policy;
  v_delay := case p_operation when 'delete' then v_policy.delete_delay else v_policy.quiet_window end;
  -- A delete has no longest wait: least() ignores NULL.
  v_longest := case when p_operation <> 'delete' then v_policy.max_wait end;
  insert into iu_core.vector_outbox as o (unit_id, operation, content_hash, first_enqueued_at, earliest_run_at, changed_at)
  select u.unit_id, p_operation, case when p_operation <> 'delete' then u.content_hash end, v_now,
         least(v_now + v_delay + (g.position - 1) * v_policy.stagger, v_now + v_longest), v_now
    from unnest(p_unit_ids) with ordinality as g (unit_id, position)
   cross join lateral (select x.unit_id, x.content_hash from iu_core.information_unit x where x.unit_id = g.unit_id offset 0) u
   -- Every session that locks many of these rows uses this order.
   order by u.unit_id
  on conflict (unit_id) where unit_id is not null do update
     set operation = case when excluded.operation = 'patch' and o.status <> 'done' then o.operation else excluded.operation end,
         content_hash = case when excluded.operation = 'patch' and o.status <> 'done' and o.operation = 'delete' then null
                             else excluded.content_hash end,
         generation = o.generation + 1,
         status = case o.status when 'processing' then 'processing' else 'pending' end,
         first_enqueued_at = case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end,
         earliest_run_at = least(excluded.earliest_run_at,
                                 case when o.status in ('done', 'dead_letter') then v_now else o.first_enqueued_at end + v_longest),
         retry_count = 0,
         last_error = null,
         worker_id = case o.status when 'processing' then o.worker_id end,
         changed_at = v_now;
  if p_operation = 'upsert' then
    perform iu_core.fn_search_pending_put(p_unit_ids);
  elsif p_operation = 'delete' then
    perform iu_core.fn_search_pending_delete(p_unit_ids);
  end if;
end $$;

-- Makes postponed rows due now: those of these units (of one workspace), or all of a workspace. Notifies workers. Returns how
-- many rows.
create or replace function iu_core.fn_vector_flush(p_unit_ids uuid[] default null, p_workspace_id uuid default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
  v_count integer;
begin
  perform iu_core.require_member(coalesce(p_workspace_id, iu_core.fn_unit_workspace(p_unit_ids[1])), 'operate');
  v_workspace := coalesce(p_workspace_id, iu_core.fn_unit_workspace(p_unit_ids[1]));
  if p_unit_ids is null then
    while iu_core.fn_search_rows_collect(true) > 0 loop end loop;
  end if;
  update iu_core.vector_outbox o
     set earliest_run_at = clock_timestamp()
   where o.status in ('pending', 'processing') and o.retry_count = 0 and o.earliest_run_at > clock_timestamp()
     and case when p_unit_ids is null
              then o.unit_id in (select u.unit_id from iu_core.information_unit u where u.workspace_id = v_workspace)
                   or o.document_id in (select d.document_id from iu_core.kb_document d where d.workspace_id = v_workspace)
                   or o.row_id in (select r.row_id from iu_core.search_row r where r.workspace_id = v_workspace)
              else o.unit_id in (select u.unit_id from iu_core.information_unit u
                                  where u.unit_id = any (p_unit_ids) and u.workspace_id = v_workspace) end;
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform pg_notify('stagedoor', 'search ');
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_flush(uuid[], uuid) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- Claims due rows for a worker: one row for each unit, document or row of a table, oldest first, also those whose worker's lease has expired.
-- Claims nothing unless the gate that excludes staging is open, and no unit before phase 1; deletions are claimed in every
-- phase.
create or replace function iu_core.fn_vector_claim(
  p_worker uuid,
  p_limit integer default 50,
  p_lease interval default '2 minutes'
) returns table (outbox_id uuid, unit_id uuid, document_id uuid, row_id uuid, operation text, generation bigint, retry_count integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_units boolean;
begin
  if p_worker is null or p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'SD001', message = 'A claim needs a worker and a limit from 1 to 1000';
  end if;
  -- Tombstones are kept as long as this: a later worker could restore deleted points.
  if p_lease is null or p_lease <= '0 seconds' or p_lease > '10 minutes' then
    raise exception using errcode = 'SD001', message = 'A lease must be longer than 0 and at most 10 minutes';
  end if;
  if not exists (select from iu_core.dot_config where key = 'iu_core.no_vector_staging_excluded' and value = 'true') then
    return;
  end if;
  v_units := exists (select from iu_core.dot_config where key = 'search.phase_1.enabled' and value = 'true');
  return query
    with due as (
      select o.outbox_id from iu_core.vector_outbox o
       where o.status in ('pending', 'processing') and o.earliest_run_at <= v_now
         and (o.status = 'pending' or o.leased_until < v_now)
         and (v_units or o.unit_id is null or o.operation = 'delete')
       order by o.earliest_run_at, o.outbox_id
       limit p_limit
         for update skip locked
    )
    update iu_core.vector_outbox o
       set status = 'processing', worker_id = p_worker, leased_until = v_now + p_lease, changed_at = v_now
      from due d where o.outbox_id = d.outbox_id
    returning o.outbox_id, o.unit_id, o.document_id, o.row_id, o.operation, o.generation, o.retry_count;
end $$;

grant execute on function iu_core.fn_vector_claim(uuid, integer, interval) to vector_worker;

-- The text stage of a worker's rows and the plan of their vectors, in one transaction. p_sources is an array of
--   {outbox_id, generation, unit_version_id (of a unit), content_hash, updated_at (of a document), chunks: [{from, to}]}
-- and of a row of a table with its text and filter values (body, filters): only the worker may read the table. If the row has changed
-- since, its outbox row was enqueued again, or will be as soon as that change is collected.
-- Without chunks the source is removed from search. Rows that the worker no longer has, or that were enqueued again, are
-- skipped: their next worker reads PostgreSQL again. One such transaction at a time in a workspace, so that the newest text
-- wins. Returns the remaining work in the stores, by row:
--   kept    the row is still the worker's, and its text is in search
--   embed   this chunk, by its index in the array, has no vector in that collection, and is recorded as being written
--   remove  this point has no chunk any more
create or replace function iu_core.fn_vector_put(p_worker uuid, p_sources jsonb)
returns table (outbox_id uuid, action text, collection text, chunk_id uuid, "position" smallint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- By key, whatever the planner knows of tables that are being filled: it read all chunks for every batch.
set enable_seqscan = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_held uuid[];
  v_puts jsonb;
  v_gone uuid[];
begin
  if p_worker is null or jsonb_typeof(p_sources) is distinct from 'array' then
    raise exception using errcode = 'SD001', message = 'The text stage needs a worker and an array of sources';
  end if;
  -- Always in this order, so that two workers cannot wait for each other. Before the look at whose the rows are: who comes next
  -- has waited here.
  perform iu_core.fn_search_lock(w.workspace_id)
     from (select distinct coalesce(u.workspace_id, d.workspace_id, r.workspace_id) as workspace_id
             from jsonb_to_recordset(p_sources) as s (outbox_id uuid)
             join iu_core.vector_outbox o on o.outbox_id = s.outbox_id
             left join iu_core.information_unit u on u.unit_id = o.unit_id
             left join iu_core.kb_document d on d.document_id = o.document_id
             left join iu_core.search_row r on r.row_id = o.row_id
            order by 1) as w;
  with held as materialized (
    select o.outbox_id, o.unit_id, o.document_id, o.row_id, s.unit_version_id, s.content_hash, s.chunks, s.body
      from jsonb_to_recordset(p_sources) as s (outbox_id uuid, generation bigint, unit_version_id uuid, content_hash text, chunks jsonb, body text)
      join iu_core.vector_outbox o on o.outbox_id = s.outbox_id and o.generation = s.generation
       and o.worker_id = p_worker and o.status = 'processing' and o.leased_until > clock_timestamp()
  )
  select array_agg(h.outbox_id),
         jsonb_agg(jsonb_build_object('unit_id', h.unit_id, 'document_id', h.document_id, 'row_id', h.row_id, 'version', h.unit_version_id,
                                      'hash', h.content_hash, 'chunks', h.chunks, 'body', h.body)),
         array_agg(h.document_id) filter (where h.document_id is not null and coalesce(jsonb_typeof(h.chunks), 'null') = 'null')
    into v_held, v_puts, v_gone
    from held h;
  if v_held is null then
    return;
  end if;
  perform iu_core.fn_search_text_put(v_puts);
  delete from iu_core.search_document_sync y where y.document_id = any (v_gone);
  insert into iu_core.search_document_sync as y (document_id, document_updated_at, content_hash)
  select o.document_id, s.updated_at, s.content_hash
    from jsonb_to_recordset(p_sources) as s (outbox_id uuid, content_hash text, updated_at timestamptz, chunks jsonb)
    join iu_core.vector_outbox o on o.outbox_id = s.outbox_id
   where o.outbox_id = any (v_held) and o.document_id is not null and coalesce(jsonb_typeof(s.chunks), 'null') <> 'null'
   order by o.document_id
  on conflict (document_id) do update
     set document_updated_at = excluded.document_updated_at, content_hash = excluded.content_hash, synced_at = clock_timestamp();
  update iu_core.search_row r
     set content_hash = case jsonb_typeof(s.chunks) when 'array' then s.content_hash end, filters = coalesce(s.filters, '{}')
    from jsonb_to_recordset(p_sources) as s (outbox_id uuid, content_hash text, filters jsonb, chunks jsonb)
    join iu_core.vector_outbox o on o.outbox_id = s.outbox_id
   where o.outbox_id = any (v_held) and r.row_id = o.row_id;
  -- A session that activates another collection waits for us, or we see its change.
  perform from iu_core.search_collection c where c.state in ('active', 'building') order by c.collection for share;
  return query
    with live as materialized (
      select c.collection from iu_core.search_collection c
       where c.state in ('active', 'building') and c.source_kind = 'information_unit'
    ), held as materialized (
      select o.outbox_id, o.unit_id, o.row_id, o.generation from iu_core.vector_outbox o where o.outbox_id = any (v_held)
    ), recorded as materialized (
      select h.outbox_id, h.generation, x.collection, x.chunk_id
        from held h
       cross join lateral (select p.collection, p.chunk_id from iu_core.search_point p where p.unit_id = h.unit_id
                            union all
                           select p.collection, p.chunk_id from iu_core.search_point p where p.row_id = h.row_id offset 0) as x
    ), removed as (
      update iu_core.search_point p
         set state = 'removed', vector = null, generation = h.generation, tx = pg_current_xact_id(),
             changed_at = case p.state when 'removed' then p.changed_at else clock_timestamp() end
        from recorded h
       where (p.collection, p.chunk_id) = (h.collection, h.chunk_id)
         and not exists (select from iu_core.search_chunk c where c.chunk_id = p.chunk_id)
      returning h.outbox_id, p.collection, p.chunk_id
    ), writing as (
      insert into iu_core.search_point as p (collection, chunk_id, unit_id, row_id, text_hash, generation, state)
      select l.collection, c.chunk_id, c.unit_id, c.row_id, c.text_hash, h.generation, 'writing'
        from held h
       cross join lateral (select x.chunk_id, x.unit_id, x.row_id, x.text_hash from iu_core.search_chunk x where x.unit_id = h.unit_id
                            union all
                           select x.chunk_id, x.unit_id, x.row_id, x.text_hash from iu_core.search_chunk x where x.row_id = h.row_id offset 0) as c
       cross join live l
       order by l.collection, c.chunk_id
      on conflict (collection, chunk_id) do update
         set state = 'writing', vector = null, generation = excluded.generation, tx = pg_current_xact_id(), changed_at = clock_timestamp()
       where p.state <> 'written'
      returning p.collection, p.chunk_id
    )
    select h.outbox_id, 'kept', null::text, null::uuid, null::smallint from held h
    union all
    -- A retired collection is deleted as a whole.
    select g.outbox_id, 'remove', g.collection, g.chunk_id, null from removed g join live using (collection)
    union all
    select h.outbox_id, 'embed', w.collection, w.chunk_id, c.position
      from writing w
      join iu_core.search_chunk c on c.chunk_id = w.chunk_id
      join held h on coalesce(h.unit_id, h.row_id) = coalesce(c.unit_id, c.row_id);
end $$;

grant execute on function iu_core.fn_vector_put(uuid, jsonb) to vector_worker;

-- Completes rows of a worker. A row is done only if it was not enqueued again, its current text is in search, and every chunk
-- has its vector in the active collection; otherwise it is due again. Records what was embedded last. Returns the status of
-- each row; rows that the worker no longer has are left out.
create or replace function iu_core.fn_vector_complete(p_worker uuid, p_outbox uuid[], p_generation bigint[])
returns table (outbox_id uuid, status text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
-- By key, as fn_vector_put: with a look at all points for each row it took a sixth of the time of indexing.
set enable_seqscan = off
set enable_mergejoin = off
set enable_material = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  -- Of a row whose columns say nothing: it has no chunk.
  v_empty constant text := encode(sha256(''), 'hex');
  v_collection text;
begin
  if p_worker is null or p_outbox is null or p_generation is null or cardinality(p_outbox) <> cardinality(p_generation) then
    raise exception using errcode = 'SD001', message = 'A worker is needed, and one generation for each row';
  end if;
  select c.collection into v_collection from iu_core.search_collection c
   where c.state = 'active' and c.source_kind = 'information_unit' for share;
  perform from iu_core.vector_outbox o
    where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing'
    order by o.unit_id, o.document_id, o.row_id for no key update;
  -- Of several versions it is the one that the chunks were taken from, not the newest.
  insert into iu_core.unit_vector as v (unit_id, unit_version_id, content_hash_at_embedding, collection)
  select k.unit_id, min(k.unit_version_id::text)::uuid, min(k.content_hash_at_embedding), v_collection
    from iu_core.vector_outbox o
    join iu_core.search_chunk k on k.unit_id = o.unit_id
    left join iu_core.search_point p on p.collection = v_collection and p.chunk_id = k.chunk_id and p.state = 'written'
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing'
   group by k.unit_id
  having count(*) = count(p.chunk_id)
   order by k.unit_id
  on conflict (unit_id) do update
     set unit_version_id = excluded.unit_version_id, content_hash_at_embedding = excluded.content_hash_at_embedding,
         collection = excluded.collection, embedded_at = v_now
   where (v.unit_version_id, v.content_hash_at_embedding, v.collection)
         is distinct from (excluded.unit_version_id, excluded.content_hash_at_embedding, excluded.collection);
  delete from iu_core.unit_vector v
   using iu_core.vector_outbox o
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing' and v.unit_id = o.unit_id
     and not exists (select from iu_core.search_chunk k where k.unit_id = o.unit_id);
  return query
    -- Once for each row: what it says is asked three times below.
    with outcome as materialized (
      select o.outbox_id,
             o.generation = g.generation as newest,
             case when o.row_id is not null
                    then case when r.content_hash is null or r.content_hash = v_empty
                              then not exists (select from iu_core.search_chunk k where k.row_id = o.row_id)
                              else exists (select from iu_core.search_chunk k
                                            where k.row_id = o.row_id and k.content_hash_at_embedding = r.content_hash)
                                   and not exists (select from iu_core.search_chunk k
                                                    where k.row_id = o.row_id
                                                      and not exists (select from iu_core.search_point p
                                                                       where p.collection = v_collection and p.chunk_id = k.chunk_id
                                                                         and p.state = 'written')) end
                  when o.unit_id is null
                    then d.deleted_at is not null or d.origin = 'cut'
                         or coalesce(y.content_hash = d.content_hash, false)
                            and exists (select from iu_core.search_chunk k
                                         where k.document_id = o.document_id and k.content_hash_at_embedding = d.content_hash)
                  when u.deleted_at is not null or u.lifecycle_status = 'retired'
                    then not exists (select from iu_core.search_chunk k where k.unit_id = o.unit_id)
                  else exists (select from iu_core.search_chunk k
                                where k.unit_id = o.unit_id and k.content_hash_at_embedding = u.content_hash)
                       and not exists (select from iu_core.search_chunk k
                                        where k.unit_id = o.unit_id
                                          and not exists (select from iu_core.search_point p
                                                           where p.collection = v_collection and p.chunk_id = k.chunk_id
                                                             and p.state = 'written')) end as complete
        from unnest(p_outbox, p_generation) as g (outbox_id, generation)
        join iu_core.vector_outbox o on o.outbox_id = g.outbox_id
        left join iu_core.information_unit u on u.unit_id = o.unit_id
        left join iu_core.kb_document d on d.document_id = o.document_id
        left join iu_core.search_document_sync y on y.document_id = o.document_id
        left join iu_core.search_row r on r.row_id = o.row_id
       where o.worker_id = p_worker and o.status = 'processing'
    )
    update iu_core.vector_outbox o
       set status = case when t.newest and t.complete then 'done' else 'pending' end,
           worker_id = null, leased_until = null, changed_at = v_now,
           last_error = null,
           retry_count = case when t.newest and t.complete then 0 else o.retry_count end,
           -- The lease expired, or another collection became active: retried soon, but not at once.
           earliest_run_at = case when t.newest and not t.complete then v_now + interval '1 second' else o.earliest_run_at end
      from outcome t where o.outbox_id = t.outbox_id
    returning o.outbox_id, o.status;
  perform iu_core.fn_vector_resolve_issues(p_outbox);
end $$;

grant execute on function iu_core.fn_vector_complete(uuid, uuid[], bigint[]) to vector_worker;

-- Resolves the issues of former dead letters that are in search now. Internal.
create or replace function iu_core.fn_vector_resolve_issues(p_outbox uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_issue iu_core.system_issue;
begin
  for v_issue in
    update iu_core.system_issue i
       set resolved_at = clock_timestamp(), resolved_by = iu_core.fn_actor(), resolution = 'It was projected into search.'
      from iu_core.vector_outbox o
     where o.outbox_id = any (p_outbox) and o.status = 'done'
       and i.code = 'vector_dead_letter' and i.subject_ref = o.outbox_id::text and i.resolved_at is null
    returning i.*
  loop
    perform iu_core.fn_event_emit(
      'system', 'issue_resolved',
      p_event_subject_ref => v_issue.issue_id::text,
      p_canonical_address => 'stagedoor://issues/' || v_issue.issue_id,
      p_workspace_id => v_issue.workspace_id,
      p_safe_payload => jsonb_build_object('issue_id', v_issue.issue_id, 'code', v_issue.code, 'severity', v_issue.severity));
  end loop;
end $$;

-- Fails rows by their own fault: each is retried with a growing delay, and after max_retries retries it is a dead letter with
-- an issue. A row that was enqueued again meanwhile starts from the first attempt. Returns the status of each row.
create or replace function iu_core.fn_vector_fail(p_worker uuid, p_outbox uuid[], p_generation bigint[], p_errors text[])
returns table (outbox_id uuid, status text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_most integer := (select w.max_retries from iu_core.vector_policy w);
  f record;
begin
  if p_worker is null or p_outbox is null or p_generation is null or p_errors is null
     or cardinality(p_outbox) <> cardinality(p_generation) or cardinality(p_outbox) <> cardinality(p_errors) then
    raise exception using errcode = 'SD001', message = 'A worker is needed, and one generation and one error for each row';
  end if;
  for f in
    update iu_core.vector_outbox o
       set status = case when o.generation = g.generation and o.retry_count >= v_most then 'dead_letter' else 'pending' end,
           retry_count = case when o.generation = g.generation then least(o.retry_count + 1, v_most) else o.retry_count end,
           earliest_run_at = case when o.generation = g.generation
                                  then v_now + interval '10 seconds' * power(2, least(o.retry_count, 10)) * (0.75 + random() / 2)
                                  else o.earliest_run_at end,
           last_error = left(g.error, 500),
           worker_id = null, leased_until = null, changed_at = v_now
      from (select * from unnest(p_outbox, p_generation, p_errors) as u (outbox_id, generation, error)) as g
     where o.outbox_id = g.outbox_id and o.worker_id = p_worker and o.status = 'processing'
    returning o.*
  loop
    outbox_id := f.outbox_id;
    status := f.status;
    return next;
    if f.status = 'dead_letter' then
      perform iu_core.fn_system_issue_open(
        'vector_dead_letter', 'error', f.outbox_id::text,
        format('%s cannot be put into search', case when f.row_id is not null then 'A row of a table' when f.unit_id is null then 'A document' else 'A unit' end),
        jsonb_strip_nulls(jsonb_build_object('outbox_id', f.outbox_id, 'unit_id', f.unit_id, 'document_id', f.document_id, 'row_id', f.row_id,
                                             'tries', f.retry_count + 1, 'error', f.last_error)),
        coalesce((select u.workspace_id from iu_core.information_unit u where u.unit_id = f.unit_id),
                 (select d.workspace_id from iu_core.kb_document d where d.document_id = f.document_id),
                 (select r.workspace_id from iu_core.search_row r where r.row_id = f.row_id)));
    end if;
  end loop;
end $$;

grant execute on function iu_core.fn_vector_fail(uuid, uuid[], bigint[], text[]) to vector_worker;

-- Releases rows that failed by no fault of theirs: the embedder or the store is unavailable, or the worker stops. No attempt is
-- used; they are due again after p_after, or after an edit.
create or replace function iu_core.fn_vector_release(
  p_worker uuid,
  p_outbox uuid[],
  p_after interval default '0 seconds',
  p_reason text default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if p_worker is null or p_outbox is null or p_after is null or p_after not between '0 seconds' and '1 hour' then
    raise exception using errcode = 'SD001', message = 'A worker, its rows and a delay of at most an hour are needed';
  end if;
  update iu_core.vector_outbox o
     set status = 'pending', worker_id = null, leased_until = null, changed_at = clock_timestamp(),
         earliest_run_at = clock_timestamp() + p_after, last_error = left(p_reason, 500)
   where o.outbox_id = any (p_outbox) and o.worker_id = p_worker and o.status = 'processing';
  get diagnostics v_count = row_count;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_release(uuid, uuid[], interval, text) to vector_worker;

-- Retries dead letters of search at once, with all their attempts: the given ones, or all of a workspace, or for the back end
-- all. Returns how many.
create or replace function iu_core.fn_vector_replay(p_workspace_id uuid default null, p_outbox uuid[] default null) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  if cardinality(p_outbox) = 1 then
    perform iu_core.fn_vector_workspace(p_outbox[1]);
  end if;
  update iu_core.vector_outbox o
     set status = 'pending', retry_count = 0, generation = o.generation + 1,
         first_enqueued_at = clock_timestamp(), earliest_run_at = clock_timestamp(), changed_at = clock_timestamp()
   where o.status = 'dead_letter' and (p_outbox is null or o.outbox_id = any (p_outbox))
     and (p_workspace_id is null
          or o.unit_id in (select u.unit_id from iu_core.information_unit u where u.workspace_id = p_workspace_id)
          or o.document_id in (select d.document_id from iu_core.kb_document d where d.workspace_id = p_workspace_id)
          or o.row_id in (select r.row_id from iu_core.search_row r where r.workspace_id = p_workspace_id));
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform pg_notify('stagedoor', 'search ');
  end if;
  return v_count;
end $$;

grant execute on function iu_core.fn_vector_replay(uuid, uuid[]) to dot_executor, service_role, authenticated, stagedoor_reviewer;

-- The workspace of an outbox row that the caller may see; another workspace's row gives the same error as a missing one.
-- Internal: definer functions pass the result to require_member.
create or replace function iu_core.fn_vector_workspace(p_outbox_id uuid) returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace uuid;
begin
  select coalesce(u.workspace_id, d.workspace_id, r.workspace_id) into v_workspace
    from iu_core.vector_outbox o
    left join iu_core.information_unit u on u.unit_id = o.unit_id
    left join iu_core.kb_document d on d.document_id = o.document_id
    left join iu_core.search_row r on r.row_id = o.row_id
   where o.outbox_id = p_outbox_id;
  if not found or not iu_core.fn_workspace_is_visible(v_workspace) then
    raise exception using
      errcode = 'SD917',
      message = format('There is no projection %s', coalesce(p_outbox_id::text, 'NULL')),
      detail = json_build_object('projection', p_outbox_id)::text;
  end if;
  return v_workspace;
end $$;

-- Enqueues units for projection without the quiet window. Internal.
create or replace function iu_core.fn_vector_enqueue_now(p_unit_ids uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_unit_ids), 0) = 0 then
    return;
  end if;
  -- The projection of a live unit is missing or wrong: it is not current until that is repaired.
  perform iu_core.fn_vector_enqueue(array_agg(u.unit_id), case when u.is_there then 'upsert' else 'patch' end)
     from (select x.unit_id, x.deleted_at is null and x.lifecycle_status <> 'retired' as is_there
             from iu_core.information_unit x where x.unit_id = any (p_unit_ids)) as u
    group by u.is_there;
  update iu_core.vector_outbox o set earliest_run_at = clock_timestamp()
   where o.unit_id = any (p_unit_ids) and o.status in ('pending', 'processing');
  perform pg_notify('stagedoor', 'search ');
end $$;
