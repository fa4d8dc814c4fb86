-- Approved plans: which rows the plan wrote that somebody approved, compared with the plan that follows it. Approvals end with a new digest, or
-- stay where the new plan writes nothing else.

-- Approvals fall when the plan of an upload gets another digest. Where the policy keeps approvals, and did so when they were given, those stay
-- whose plan writes the same: every row that the new plan writes was approved with the same old and new values, and every approved row that
-- it does not write any more is in production already. A row that dropped out counts as in production only if nobody has repaired a line or
-- chosen anything since, and nothing is looked up: then what the line asks for is what was approved.
create or replace function iu_core.fn_change_reviews_follow_digest() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keep boolean;
  v_effect text;
  v_review iu_core.change_review;
  v_since jsonb;
  v_because text;
begin
  for v_review in
    select r.* from iu_core.change_review r
     where r.change_id = new.change_id and r.verdict = 'approve' and r.dismissed_at is null and r.stands_for <> new.digest order by r.review_id
  loop
    v_keep := coalesce(v_keep, (iu_core.fn_review_standing(new.change_id) ->> 'keep_approvals_when_unchanged')::boolean);
    v_since := iu_core.fn_review_compare(new.subject_id, v_review.digest);
    v_because := null;
    if v_keep and v_review.effect_digest is not null then
      v_effect := coalesce(v_effect, iu_core.fn_review_effect_digest(new.subject_id));
      if v_review.effect_digest = v_effect then
        v_because := 'the same rows are written';
      elsif v_since @> '{"different": 0, "added": 0, "gone": 0}'
            and (select a.inputs_digest from iu_core.ingest_approved_plan a where a.upload_id = new.subject_id and a.plan_digest = v_review.digest)
                = iu_core.fn_review_inputs_digest(new.subject_id) then
        v_because := 'the other approved rows are in production already';
      end if;
    end if;
    if v_because is not null then
      update iu_core.change_review set stands_for = new.digest where review_id = v_review.review_id;
      perform iu_core.fn_change_log(new.change_id, iu_core.fn_actor(), null, 'review_kept', jsonb_build_object('review_id', v_review.review_id,
        'reviewer', v_review.reviewer, 'from', v_review.stands_for, 'digest', new.digest, 'because', v_because, 'since', v_since));
    else
      perform iu_core.fn_change_review_end(v_review.review_id, iu_core.fn_actor(), null, 'the plan changed',
        jsonb_build_object('digest', new.digest, 'since', v_since));
    end if;
  end loop;
  return null;
end $$;

create or replace trigger change_digest_moves_reviews
  after update of digest on iu_core.change
  for each row when (new.kind = 'upload' and new.digest is not null and new.digest is distinct from old.digest)
  execute function iu_core.fn_change_reviews_follow_digest();

-- What differs between the plan of an upload and the plan with this digest that somebody approved, row by row: same (is written, with the
-- same old and new values), different, added (is written and was not approved), in_production (was approved and is there already: nothing is
-- written), gone (was approved and is neither written nor there). Rows that neither plan writes are not listed. No row at all: the rows of
-- that approval are not stored.
create or replace function iu_core.fn_ingest_plan_since(p_upload_id uuid, p_digest text)
returns table (type_order smallint, row_number integer, how text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  return query select * from iu_core.fn_review_rows_since(p_upload_id, p_digest);
end $$;

grant execute on function iu_core.fn_ingest_plan_since(uuid, text) to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- fn_ingest_plan_since for whoever may know it. Internal.
create or replace function iu_core.fn_review_rows_since(p_upload_id uuid, p_digest text)
returns table (type_order smallint, row_number integer, how text)
language sql stable
set search_path = pg_catalog, pg_temp
-- Nothing may be known yet of the rows of a plan that was made a moment ago.
set enable_nestloop = off
as $$
  select coalesce(n.type_order, a.type_order), coalesce(n.row_number, a.row_number),
         case when a.row_number is null then 'added'
              when n.action in ('insert', 'update', 'delete') then case when n.row_hash = a.row_hash then 'same' else 'different' end
              -- A row that was to be deleted has no line that could be found unchanged.
              when n.action = 'unchanged' and a.row_number >= 0 then 'in_production'
              else 'gone' end
    from (select b.type_order, r.row_number, r.row_hash from iu_core.ingest_approved_block b, unnest(b.row_numbers, b.row_hashes) as r (row_number, row_hash)
           where b.upload_id = p_upload_id and b.plan_digest = p_digest) a
    full join (select p.type_order, p.row_number, p.action, p.row_hash from iu_core.ingest_plan_row p where p.upload_id = p_upload_id) n
      on n.type_order = a.type_order and n.row_number = a.row_number
   where (a.row_number is not null or n.action in ('insert', 'update', 'delete'))
     and exists (select from iu_core.ingest_approved_plan k where k.upload_id = p_upload_id and k.plan_digest = p_digest)
$$;

-- fn_ingest_plan_since in numbers: {"same", "different", "added", "in_production", "gone"}; NULL: the rows of that approval are not stored.
-- Internal.
create or replace function iu_core.fn_review_compare(p_upload_id uuid, p_digest text) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when exists (select from iu_core.ingest_approved_plan k where k.upload_id = p_upload_id and k.plan_digest = p_digest) then
           jsonb_build_object('same', count(*) filter (where s.how = 'same'), 'different', count(*) filter (where s.how = 'different'),
                              'added', count(*) filter (where s.how = 'added'), 'in_production', count(*) filter (where s.how = 'in_production'),
                              'gone', count(*) filter (where s.how = 'gone')) end
    from iu_core.fn_review_rows_since(p_upload_id, p_digest) s
$$;

-- The sha-256 of what a plan writes: its mode, and the rows that are inserted, updated or deleted. Internal.
create or replace function iu_core.fn_review_effect_digest(p_upload_id uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select encode(sha256(convert_to(concat_ws('|', p.gate_mode, trim_scale(p.threshold)), 'UTF8') || coalesce((
           select string_agg(r.row_hash, '' order by r.type_order, r.row_number) from iu_core.ingest_plan_row r
            where r.upload_id = p.upload_id and r.action in ('insert', 'update', 'delete')), '')), 'hex')
    from iu_core.ingest_plan p where p.upload_id = p_upload_id
$$;

-- The sha-256 of what a plan is made from: its mode, the dataset, what people repaired and chose. NULL: the dataset looks values up in
-- other tables, which may lead elsewhere since. Internal.
create or replace function iu_core.fn_review_inputs_digest(p_upload_id uuid) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when coalesce(d.definition -> 'lookups', '{}') = '{}' then encode(sha256(convert_to(concat_ws('|', p.gate_mode, trim_scale(p.threshold),
           p.definition_digest, p.repeated_keys, (select max(r.repair_id) from iu_core.ingest_repair r where r.upload_id = p.upload_id),
           (select 'answer ' || max(a.answer_id) from iu_core.ingest_conflict_answer a where a.upload_id = p.upload_id)), 'UTF8')), 'hex') end
    from iu_core.ingest_plan p
    join iu_core.ingest_upload u using (upload_id)
    join iu_core.ingest_dataset d on d.dataset = u.dataset
   where p.upload_id = p_upload_id
$$;

-- Stores which rows the plan writes that was just approved. Only the last approval of each reviewer keeps its rows. Internal.
create or replace function iu_core.fn_review_store_rows(c iu_core.change) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_digest text := (select p.digest from iu_core.ingest_plan p where p.upload_id = c.subject_id);
begin
  delete from iu_core.ingest_approved_plan a
   where a.upload_id = c.subject_id and a.plan_digest not in (
     select distinct on (lower(r.reviewer)) r.digest from iu_core.change_review r
      where r.change_id = c.change_id and r.verdict = 'approve' order by lower(r.reviewer), r.review_id desc);
  insert into iu_core.ingest_approved_plan (upload_id, plan_digest, inputs_digest)
  values (c.subject_id, v_digest, iu_core.fn_review_inputs_digest(c.subject_id)) on conflict do nothing;
  if not found then
    return;
  end if;
  insert into iu_core.ingest_approved_block (upload_id, plan_digest, type_order, block, row_numbers, row_hashes)
  select c.subject_id, v_digest, r.type_order, r.row_number >> 10, array_agg(r.row_number), array_agg(r.row_hash)
    from iu_core.ingest_plan_row r
   where r.upload_id = c.subject_id and r.action in ('insert', 'update', 'delete')
   group by r.type_order, r.row_number >> 10;
end $$;

-- What was approved is of no use any more when the upload has ended.
create or replace function iu_core.fn_review_delete_rows() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from iu_core.ingest_approved_plan where upload_id = new.upload_id;
  return null;
end $$;

create or replace trigger ingest_upload_ends_approved_rows
  after update of status on iu_core.ingest_upload
  for each row when (old.status <> new.status and new.status in ('promoted', 'undone', 'failed', 'discarded', 'expired'))
  execute function iu_core.fn_review_delete_rows();
