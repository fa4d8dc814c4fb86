-- Which plans are outdated, as lists say it. Comparing a plan with its tables reads all its rows, so lists use what is known: promotions and
-- undos mark the plans whose rows they wrote, and every comparison leaves what it found. outdated: a row of the plan moved. maybe_outdated:
-- a promotion wrote its table and nobody has compared the rows. Nothing says that a plan is up to date: others may write the tables, too.

-- What is known of these uploads, one row for each plan that is outdated or maybe outdated. Shows what the caller may see.
create or replace function iu_core.fn_ingest_outdated(p_upload_ids uuid[]) returns table (upload_id uuid, outdated text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with open as materialized (
    select u.upload_id, u.workspace_id, u.dataset from iu_core.ingest_upload u where u.upload_id = any (p_upload_ids) and u.status = 'planned'
  ), mark as materialized (
    select m.* from iu_core.ingest_plan_mark m where m.upload_id in (select o.upload_id from open o)
  ), known as (
    select m.upload_id, bool_or(m.kind in ('seen', 'moved') and m.row_count > 0) as moved, bool_or(m.kind = 'unknown') as unknown
      from mark m group by 1
  ), missed as (
    -- A promotion that ran beside the plan: neither saw what the other wrote. (The times only find it quickly.)
    select distinct s.upload_id
      from mark s
      join open o on o.upload_id = s.upload_id
      join iu_core.ingest_dataset d on d.dataset = o.dataset
     cross join lateral (select distinct spec ->> 'target' as target from jsonb_array_elements(d.definition -> 'rows') spec) t
      join iu_core.ingest_plan_mark w on w.kind = 'written' and w.target = t.target
       and w.marked_at between s.marked_at - interval '15 minutes' and s.marked_at + interval '15 minutes'
       and not pg_visible_in_snapshot(w.xid, s.snapshot) and not pg_visible_in_snapshot(s.xid, w.snapshot)
      join iu_core.ingest_upload b on b.upload_id = w.upload_id and b.workspace_id = o.workspace_id
     where s.kind = 'seen' and w.upload_id <> s.upload_id
  )
  select o.upload_id, case when k.moved then 'outdated' else 'maybe_outdated' end
    from open o
    left join known k on k.upload_id = o.upload_id
    left join missed x on x.upload_id = o.upload_id
   where k.moved or k.unknown or x.upload_id is not null
$$;

grant execute on function iu_core.fn_ingest_outdated(uuid[])
  to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- Marks the other plans of the workspace that have rows which a promotion or an undo has just written, from its ledger, as the last step of
-- it. New rows with ids of ours cannot be found among new rows of others without a look at their tables: that is unknown. Internal.
create or replace function iu_core.fn_ingest_mark_plans(p_upload iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into iu_core.ingest_plan_mark (upload_id, kind, target, snapshot)
  select p_upload.upload_id, 'written', t.target, pg_current_snapshot()
    from (select distinct l.target from iu_core.ingest_ledger l where l.upload_id = p_upload.upload_id and l.undo_outcome is distinct from 'kept') t;
  if not found then
    return;
  end if;
  with wrote as materialized (
    -- (A part of the key that the file does not have is NULL in the table and missing in the plan.)
    select l.target, l.target_id, jsonb_strip_nulls(l.target_key) as target_key, l.action from iu_core.ingest_ledger l
     where l.upload_id = p_upload.upload_id and (l.undo_outcome is null or l.undo_outcome = 'reversed')
  ), open as materialized (
    select u.upload_id, r.ordinality::smallint as type_order, r.spec ->> 'target' as target, p.totals -> (r.spec ->> 'name') ? 'insert' as inserts
      from iu_core.ingest_upload u
      join iu_core.ingest_plan p using (upload_id)
      join iu_core.ingest_dataset d on d.dataset = u.dataset
     cross join jsonb_array_elements(d.definition -> 'rows') with ordinality as r (spec, ordinality)
     where u.status = 'planned' and u.workspace_id = p_upload.workspace_id and u.upload_id <> p_upload.upload_id
       and r.spec ->> 'target' in (select w.target from wrote w)
  ), planned as materialized (
    select o.upload_id, o.target, r.target_id, jsonb_strip_nulls(r.target_key) as target_key
      from open o join iu_core.ingest_plan_row r on r.upload_id = o.upload_id and r.type_order = o.type_order
     where r.action in ('insert', 'update', 'unchanged', 'delete')
  ), moved as (
    select x.upload_id, count(*) as rows
      from (select p.upload_id from planned p join wrote w on w.target_id = p.target_id
            union all
            select p.upload_id from planned p join wrote w on w.target_id is null and w.target = p.target and w.target_key = p.target_key
             where p.target_id is null) x
     group by 1
  )
  insert into iu_core.ingest_plan_mark (upload_id, kind, by_upload_id, row_count)
  select m.upload_id, 'moved', p_upload.upload_id, m.rows from moved m
  union all
  select o.upload_id, 'unknown', p_upload.upload_id, 0
    from open o
   where o.inserts and exists (select from wrote w where w.target = o.target and w.action = 'insert' and w.target_id is not null)
     and o.upload_id not in (select m.upload_id from moved m)
   group by o.upload_id;
end $$;

-- Notes that somebody compared a plan with its tables, if that changes what lists say. Internal.
create or replace function iu_core.fn_ingest_mark_compared(p_upload_id uuid, p_snapshot pg_snapshot, p_moved bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select o.outdated from iu_core.fn_ingest_outdated(array[p_upload_id]) o)
     is distinct from (case when p_moved > 0 then 'outdated' end) then
    perform iu_core.fn_ingest_mark_seen(p_upload_id, p_snapshot, p_moved);
  end if;
end $$;

-- A plan, or a comparison with it, looked at production: what was marked before that is answered by it. What others wrote since
-- p_snapshot stays marked. Internal.
create or replace function iu_core.fn_ingest_mark_seen(p_upload_id uuid, p_snapshot pg_snapshot, p_moved bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.ingest_plan_mark m
   using (select x.mark_id from iu_core.ingest_plan_mark x
           where x.upload_id = p_upload_id and x.kind <> 'written'
             and (pg_visible_in_snapshot(x.xid, p_snapshot) or x.xid = pg_current_xact_id())
           order by x.mark_id for update) d
   where m.mark_id = d.mark_id;
  insert into iu_core.ingest_plan_mark (upload_id, kind, row_count, snapshot) values (p_upload_id, 'seen', p_moved, p_snapshot);
end $$;

-- What planning again needs is of no use any more when the upload has ended. What it wrote stays for plans that are made beside it.
create or replace function iu_core.fn_ingest_plan_marks_end() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.fn_ingest_base_delete(new.upload_id);
  delete from iu_core.ingest_kept_cell where upload_id = new.upload_id;
  delete from iu_core.ingest_plan_mark where upload_id = new.upload_id and kind <> 'written';
  return null;
end $$;

create or replace trigger ingest_upload_ends_plan_marks
  after update of status on iu_core.ingest_upload
  for each row when (old.status <> new.status and new.status in ('promoted', 'undone', 'failed', 'discarded', 'expired'))
  execute function iu_core.fn_ingest_plan_marks_end();
