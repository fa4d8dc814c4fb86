-- Lookup of an id, or of its beginning, over all kinds of things.

-- Finds what has an id that begins with p_prefix: for people who type the first characters of an id, and for errors such as
-- "that is a staging record"; `#128` and `128` find the change with that number. The prefix of a uuid is a range of its index; the same holds for execution ids of each possible
-- length. Returns at most ten of each kind. `last` returns the newest of each kind, because ids are ordered by time, and as
-- `real_upload` the newest upload that is no dry run. For our own command line under dot_executor, which may see all of them anyway.
create or replace function iu_core.fn_id_find(p_prefix text) returns table (kind text, id text)
language plpgsql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hex text := lower(replace(p_prefix, '-', ''));
  v_from uuid;
  v_to uuid;
begin
  if p_prefix is null then
    raise exception using errcode = 'SD001', message = 'An id or the beginning of one is needed, not NULL';
  end if;
  -- The number of a change is its upload or record, too.
  if p_prefix ~ '^#?[1-9][0-9]{0,8}$' then
    return query
      select k.kind, k.id::text
        from iu_core.change c,
             lateral (values ('change', c.change_id), (case c.kind when 'upload' then 'upload' else 'record' end, c.subject_id)) as k (kind, id)
       where c.number = ltrim(p_prefix, '#')::integer
       limit 10;
  end if;
  if p_prefix = 'last' then
    return query (select 'change', c.change_id::text from iu_core.change c order by c.change_id desc limit 1);
    return query (select 'upload', u.upload_id::text from iu_core.ingest_upload u order by u.upload_id desc limit 1);
    return query (select 'real_upload', u.upload_id::text from iu_core.ingest_upload u where u.run_mode <> 'FULL_DRY_RUN' order by u.upload_id desc limit 1);
    return query (select 'record', r.staging_record_id::text from iu_core.iu_staging_record r order by r.staging_record_id desc limit 1);
    return query
      (select 'job', j.job_id::text
         from ((select q.job_id from iu_core.job_queue q order by q.job_id desc limit 1)
               union (select d.job_id from iu_core.job_dead_letter d order by d.job_id desc limit 1)
               union (select h.job_id from iu_core.job_history h order by h.job_id desc limit 1)) j
        order by j.job_id desc limit 1);
    return query (select 'event', e.id::text from iu_core.event_outbox e order by e.id desc limit 1);
    return query (select 'execution', x.execution_id::text from noetl.execution x order by x.execution_id desc limit 1);
    return query (select 'issue', i.issue_id::text from iu_core.system_issue i order by i.issue_id desc limit 1);
    return query (select 'outbox', o.outbox_id::text from iu_core.vector_outbox o order by o.outbox_id desc limit 1);
    return;
  end if;
  if p_prefix ~ '^[0-9]{1,19}$' then
    return query
      select 'execution', e.execution_id::text
        from generate_series(length(p_prefix), 19) as l(digits)
        join noetl.execution e
          on e.execution_id between least(rpad(p_prefix, l.digits, '0')::numeric, 9223372036854775807)::bigint
                                and least(rpad(p_prefix, l.digits, '9')::numeric, 9223372036854775807)::bigint
       where e.execution_id::text like p_prefix || '%'
       limit 10;
  end if;
  if v_hex !~ '^[0-9a-f]{4,32}$' then
    return;
  end if;
  v_from := rpad(v_hex, 32, '0')::uuid;
  v_to := rpad(v_hex, 32, 'f')::uuid;
  return query (select 'change', c.change_id::text from iu_core.change c where c.change_id between v_from and v_to limit 10);
  return query (select 'comment', c.comment_id::text from iu_core.change_comment c where c.comment_id between v_from and v_to limit 10);
  return query (select 'upload', u.upload_id::text from iu_core.ingest_upload u where u.upload_id between v_from and v_to limit 10);
  return query (select 'record', r.staging_record_id::text from iu_core.iu_staging_record r where r.staging_record_id between v_from and v_to limit 10);
  return query
    (select 'job', j.job_id::text
       from ((select q.job_id from iu_core.job_queue q where q.job_id between v_from and v_to limit 10)
             union (select d.job_id from iu_core.job_dead_letter d where d.job_id between v_from and v_to limit 10)
             union (select h.job_id from iu_core.job_history h where h.job_id between v_from and v_to limit 10)) j
      limit 10);
  return query (select 'event', e.id::text from iu_core.event_outbox e where e.id between v_from and v_to limit 10);
  return query (select 'unit', u.unit_id::text from iu_core.information_unit u where u.unit_id between v_from and v_to limit 10);
  return query (select 'edge', g.edge_id::text from iu_core.universal_edges g where g.edge_id between v_from and v_to limit 10);
  return query (select 'issue', i.issue_id::text from iu_core.system_issue i where i.issue_id between v_from and v_to limit 10);
  return query (select 'outbox', o.outbox_id::text from iu_core.vector_outbox o where o.outbox_id between v_from and v_to limit 10);
  return query (select 'topic', t.topic_id::text from iu_core.topic_vocabulary t where t.topic_id between v_from and v_to limit 10);
end $$;

revoke all on function iu_core.fn_id_find(text) from public;
grant execute on function iu_core.fn_id_find(text) to dot_executor;
