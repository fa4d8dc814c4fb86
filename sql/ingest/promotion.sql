-- Promotion: applies a plan in one transaction, STRICT or LENIENT. Refused if production has changed since the plan.

-- Applies an approved plan in one transaction, exactly as reviewed: all of it, or (LENIENT) without the rows that a table
-- rejects, if the rest reaches the threshold. If production has changed since the plan, nothing is applied.
create or replace function iu_core.fn_ingest_promote(p_upload_id uuid, p_plan_digest text, p_promoted_by text default null)
returns iu_core.ingest_promotion
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; no notice is needed if they do not.
set client_min_messages = 'warning'
as $$
declare
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_plan iu_core.ingest_plan;
  v_approval iu_core.iu_staging_record;
  v_actor record;
  v_run uuid;
  v_type record;
  v_promotion iu_core.ingest_promotion;
  v_written bigint;
  v_at_once boolean;
  v_range jsonb := '{}';
  v_payload jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'operate');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  perform iu_core.fn_ingest_raise_temp_buffers();
  v_actor := iu_core.fn_actor_for(p_promoted_by);
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'promoted');
  v_plan := iu_core.fn_ingest_plan_require_digest(p_upload_id, p_plan_digest);
  if v_plan.refusal is not null then
    perform iu_core.fn_ingest_raise_plan_refused(p_upload_id, v_plan.refusal);
  end if;
  -- The sources of its columns may have changed since the plan; the lock keeps them until we are done.
  select * into v_dataset from iu_core.ingest_dataset where dataset = u.dataset for share;
  if v_dataset.definition_digest <> v_plan.definition_digest then
    raise exception using
      errcode = 'SD606',
      message = format('The dataset %s was registered again after the plan was made', u.dataset),
      hint = 'Discard the upload and upload the file again, so that the current dataset reads it.',
      detail = json_build_object('upload', p_upload_id, 'reason', 'its dataset was registered again since')::text;
  end if;
  perform iu_core.fn_ingest_require_own_dataset(v_dataset, u.workspace_id, u.platform);
  if iu_core.fn_proposal_is_statement(v_dataset.definition) then
    perform iu_core.fn_proposal_require_same_triggers(v_plan, iu_core.fn_proposal_require_open(v_dataset.dataset));
  end if;
  perform iu_core.fn_ingest_require_tables(v_dataset);
  perform iu_core.fn_ingest_require_same_columns(u, v_plan, v_dataset.definition);
  perform iu_core.fn_ingest_require_same_lookups(u, v_dataset.definition);
  v_run := iu_core.fn_command_run_start('ingest.promote', v_plan.digest, u.workspace_id, p_promoted_by);
  -- A review policy may ask for approvals that the dataset does not.
  if v_plan.approval_required or v_dataset.approval_required
     or (iu_core.fn_review_requirement_of(u.workspace_id, 'upload', u.dataset, u.upload_id, false) ->> 'approvals')::integer > 0 then
    v_approval := iu_core.fn_ingest_require_approval(u, v_plan);
    perform iu_core.fn_iu_staging_consume(v_approval.staging_record_id, v_run);
  else
    perform iu_core.fn_review_require_unblocked(u.upload_id, v_plan.review_record_id);
  end if;
  perform iu_core.fn_ingest_lock_tables(v_dataset.definition, u);
  -- Triggers on the target tables find what they call by a plain name in public.
  perform set_config('search_path', 'pg_catalog, public, pg_temp', true);

  insert into iu_core.ingest_promotion (
    upload_id, plan_digest, gate_mode, totals, definition, review_record_id, approved_by, approved_at, promoted_by,
    promoted_via, promoted_at, run_id, undo_until)
  values (u.upload_id, v_plan.digest, v_plan.gate_mode, '{}',
          v_dataset.definition || iu_core.fn_ingest_table_columns(v_dataset.definition), v_approval.staging_record_id,
          v_approval.approved_by, v_approval.approved_at, v_actor.actor, v_actor.via, clock_timestamp(), v_run,
          clock_timestamp() + v_dataset.undo_window);
  -- A constraint that is checked at the end of a transaction must not fail after we said that it worked. At first it is
  -- asked once, after everything, as its table wants it; if it then refuses, all is done again with every row asked at
  -- once, so that the row is known.
  foreach v_at_once in array array[false, true] loop
    begin
      if v_at_once then
        set constraints all immediate;
      end if;
      v_written := 0;
      for v_type in select * from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') loop
        v_written := v_written + iu_core.fn_ingest_promote_type(u.upload_id, v_type, v_plan.gate_mode);
        if v_type.is_leaf then
          v_range := iu_core.fn_ingest_date_range(u, v_dataset.definition, true);
        end if;
      end loop;
      set constraints all immediate;
      for v_type in select * from iu_core.fn_ingest_row_types(v_dataset.definition, u.reading -> 'layout') loop
        perform iu_core.fn_ingest_refresh_after_images(u.upload_id, v_type);
      end loop;
      exit;
    exception when integrity_constraint_violation or raise_exception then
      if v_at_once then
        raise;
      end if;
    end;
  end loop;

  perform iu_core.fn_ingest_require_assertions(u, v_dataset.definition);

  -- Invalid rows were not processed: they keep their own, longer retention.
  update iu_core.ingest_staged_row s
     set processing_action = 'skipped', processed_at = case when s.validation_status = 'skipped' then now() end, updated_at = now()
   where s.upload_id = u.upload_id and s.validation_status in ('invalid', 'skipped') and s.processing_action = 'pending'
     and (s.validation_status <> 'valid' or s.validation_warnings <> '[]');
  if v_plan.gate_mode = 'LENIENT' and exists (
       select from iu_core.ingest_staged_row s
        where s.upload_id = u.upload_id and s.validation_status = 'invalid' and s.processing_action = 'failed'
          and (s.validation_status <> 'valid' or s.validation_warnings <> '[]')) then
    perform iu_core.fn_ingest_recount(u.upload_id, u.reading -> 'layout' ->> 'leaf', u.line_count);
  end if;
  update iu_core.ingest_promotion
     -- LENIENT may have left out rows that were planned.
     set totals = case v_plan.gate_mode when 'LENIENT' then iu_core.fn_ingest_plan_totals(u.upload_id) else v_plan.totals end,
         control = case v_plan.gate_mode when 'LENIENT' then iu_core.fn_ingest_control_totals_promoted(v_plan, v_dataset.definition,
             iu_core.fn_ingest_type_order(v_dataset.definition, u.reading -> 'layout' ->> 'leaf')::smallint) else v_plan.control end
   where upload_id = u.upload_id returning * into v_promotion;
  -- The threshold applies to what is written: tables may have rejected rows that the plan counted as valid.
  if v_plan.gate_mode = 'LENIENT' and v_promotion.totals <> v_plan.totals then
    perform iu_core.fn_ingest_require_threshold(u, v_plan, v_promotion);
  end if;
  update iu_core.ingest_upload set status = 'promoted' where upload_id = u.upload_id;
  delete from iu_core.ingest_plan_line_hash where upload_id = u.upload_id;
  perform iu_core.fn_ingest_notify_uploads_table(u.upload_id, 'completed', v_written);
  perform iu_core.fn_ingest_cursor_advance(u);
  v_payload := jsonb_build_object('upload_id', u.upload_id, 'dataset', u.dataset, 'platform', u.platform,
    'client_id', u.client_id, 'rows', v_written, 'totals', v_promotion.totals) || v_range;
  -- Many measures in many currencies are too long for an event; then they are read from the upload.
  if length((v_payload || jsonb_build_object('control', v_promotion.control))::text) <= 8192 then
    v_payload := v_payload || jsonb_build_object('control', v_promotion.control);
  end if;
  perform iu_core.fn_event_emit('staging', 'ingestion_complete',
    p_event_subject_ref => u.upload_id::text, p_canonical_address => 'client:' || u.client_id, p_workspace_id => u.workspace_id, p_actor => p_promoted_by,
    p_safe_payload => v_payload);
  perform iu_core.fn_ingest_mark_plans(u);
  perform iu_core.fn_command_run_finish(v_run);
  return v_promotion;
end $$;

grant execute on function iu_core.fn_ingest_promote(uuid, text, text)
  to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- Records that a promotion failed: which plan, who tried it, when, and the error with its remedy. The promotion's own transaction
-- was rolled back, so this is another one. Nothing else changes: the plan can be promoted again. A plan that is refused, or that
-- another one has replaced, is not recorded: the upload shows that. For the back end, which leaves out errors that are about
-- the caller.
create or replace function iu_core.fn_ingest_promotion_failed(
  p_upload_id uuid, p_plan_digest text, p_error jsonb, p_tried_by text, p_tried_via text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'operate');
  v_actor := iu_core.fn_actor_for(p_tried_by);
  if jsonb_typeof(p_error) is distinct from 'object' or not p_error ?& array['code', 'message', 'hint'] then
    raise exception using errcode = 'SD001', message = 'The error of a failed promotion has a code, a message and a hint';
  end if;
  -- A connection was lost at the end: the promotion may have been committed, and then it did not fail.
  if p_error ->> 'code' = 'database_unreachable' and exists (
       select from iu_core.ingest_promotion where upload_id = p_upload_id and plan_digest = p_plan_digest) then
    return;
  end if;
  insert into iu_core.ingest_promotion_failure (upload_id, plan_digest, tried_by, tried_via, error)
  select p_upload_id, p.digest, v_actor.actor, p_tried_via,
         -- A trigger may raise a text of any length.
         jsonb_build_object('code', p_error -> 'code', 'message', left(p_error ->> 'message', 2000), 'hint', left(p_error ->> 'hint', 2000))
    from iu_core.ingest_plan p where p.upload_id = p_upload_id and p.digest = p_plan_digest and p.refusal is null;
end $$;

grant execute on function iu_core.fn_ingest_promotion_failed(uuid, text, jsonb, text, text) to service_role;

create or replace trigger ingest_promotion_failure_only_grows
  before update or delete on iu_core.ingest_promotion_failure
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger ingest_promotion_failure_is_not_truncated
  before truncate on iu_core.ingest_promotion_failure
  for each statement execute function iu_core.fn_refuse_change();

-- The approval of a plan. Raises approval_missing if the dataset requires one and there is none. Internal.
create or replace function iu_core.fn_ingest_require_approval(p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan)
returns iu_core.iu_staging_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r iu_core.iu_staging_record;
  v_approver record;
  v_state text;
begin
  select * into r from iu_core.iu_staging_record where staging_record_id = p_plan.review_record_id;
  if r.lifecycle_status = 'approved' and r.expires_at > clock_timestamp() then
    -- Checked here too: the record may have been approved in the staging zone, without a look at the upload.
    select r.approved_by as actor, r.approved_via as via into v_approver;
    perform iu_core.fn_ingest_require_four_eyes(p_upload, r.staging_record_id, v_approver);
    return r;
  end if;
  -- Somebody has decided, or a policy says who must: the error says what is missing.
  if r.lifecycle_status = 'pending' and r.expires_at > clock_timestamp() then
    perform iu_core.fn_review_require(r) from iu_core.change c, lateral (select iu_core.fn_review_standing(c.change_id)) as s (standing)
      where c.kind = 'upload' and c.subject_id = p_upload.upload_id
        and (s.standing -> 'policy' <> 'null' or s.standing -> 'reviews' <> '[]' or s.standing -> 'blocked_by' <> '[]');
  end if;
  v_state := case when p_plan.review_record_id is null then 'the plan was not submitted yet'
                  when r.lifecycle_status = 'approved' then 'the approval has expired'
                  when r.lifecycle_status = 'pending' then 'nobody has decided yet'
                  else 'it was ' || r.lifecycle_status end;
  raise exception using
    errcode = 'SD608',
    message = format('Upload %s needs the approval of a second person: %s', p_upload.upload_id, v_state),
    detail = json_build_object('upload', p_upload.upload_id, 'reason', v_state)::text;
end $$;

-- The current columns of the target tables: {"columns": {target: [column, …]}}. Stored with a promotion, so that a column added
-- later does not count as a change of a row. Internal.
create or replace function iu_core.fn_ingest_table_columns(p_definition jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('columns', coalesce(jsonb_object_agg(t.target, t.columns), '{}'))
    from (select spec ->> 'target' as target, jsonb_agg(a.attname order by a.attnum) as columns
            from jsonb_array_elements(p_definition -> 'rows') spec
            join pg_attribute a on a.attrelid = to_regclass(spec ->> 'target') and a.attnum > 0 and not a.attisdropped
           group by spec ->> 'target', spec ->> 'name') t
$$;

-- Writes one row type of a plan into its table: locks the rows to update in key order, compares all planned rows with the
-- current ones, writes, and stores both images in the ledger. Returns how many rows it wrote. Internal.
create or replace function iu_core.fn_ingest_promote_type(p_upload_id uuid, p_type record, p_gate_mode text) returns bigint
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_planned record;
  v_columns text;
  v_sets text;
  v_match text;
  v_key_match text;
  v_own_match text;
  v_inserts bigint;
  v_updates bigint;
  v_unchanged bigint;
  v_stale bigint;
  v_line integer;
  v_known bigint;
  v_deleted bigint;
  v_hash text := iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*');
  v_exact text := iu_core.fn_ingest_exact_sql(p_type.target, 't');
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_slots text;
  v_settings jsonb := iu_core.fn_ingest_pin_text_settings();
begin
  select string_agg(quote_ident(w."column"), ', '), string_agg('n.' || w.slot, ', '), 
         string_agg(format('%I = n.%I', w."column", w.slot), ', ') filter (where not w.insert_only)
    into v_columns, v_slots, v_sets
    from jsonb_to_recordset(p_type.written) as w ("column" text, slot text, insert_only boolean);
  select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload_id, p_type);
  v_inserts := v_planned.inserts;
  v_updates := v_planned.updates;
  v_unchanged := v_planned.unchanged;
  if v_inserts + v_updates + v_unchanged = 0 then
    perform iu_core.fn_ingest_pin_text_settings(v_settings);
    -- A statement may only delete; a snapshot none of whose lines is left says nothing about what else is there.
    return case when p_type.is_leaf and p_type.spec ->> 'mode' = 'statement' then iu_core.fn_ingest_snapshot_delete(p_upload_id, p_type) else 0 end;
  end if;
  v_match := v_planned.row_match;
  v_key_match := v_planned.key_match;
  v_own_match := v_planned.own_match;

  if v_updates > 0 then
    execute format($sql$
      select count(*) from (select from pg_temp.ingest_now n join %1$s t on %2$s
                             where n."#action" = 'update' order by %3$s for no key update of t) locked
    $sql$, v_target, v_match, (select string_agg(format('t.%I', k), ', ') from unnest(p_type.key_columns) k));
  end if;
  -- A statement of its own: it sees what was committed while we waited for the locks.
  execute format('select count(*), min("#row") from (%s) s', iu_core.fn_ingest_stale_sql(p_type, v_match, v_key_match, 'n."#row"'))
    into v_stale, v_line;
  if v_stale > 0 then
    perform iu_core.fn_ingest_raise_plan_stale(p_upload_id, v_stale, p_type.target_name, v_line);
  end if;

  -- What the JSON of the plan's images does not hold, before it is overwritten.
  v_exact := case when v_updates > 0 then v_exact end;
  if v_exact is not null then
    drop table if exists pg_temp.ingest_exact;
    execute format($sql$
      create temporary table ingest_exact on commit drop as
      select x.* from (select n."#row", %s as exact from pg_temp.ingest_now n join %s t on %s where n."#action" = 'update' offset 0) x where x.exact is not null
    $sql$, v_exact, v_target, v_match);
    analyze pg_temp.ingest_exact;
  end if;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  v_deleted := case when p_type.is_leaf then iu_core.fn_ingest_snapshot_delete(p_upload_id, p_type) else 0 end;
  perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'insert', format($sql$
    insert into %1$s (%2$s) overriding system value select %3$s from pg_temp.ingest_now n
     where n."#action" = 'insert' and n."#row" between $1 and $2
  $sql$, v_target,
     v_columns || case when p_type.id_column is null then '' else format(', %I', p_type.id_column) end,
     v_slots || case when p_type.id_column is null then '' else ', n."#id"' end),
    -- A row of another transaction with the same key, committed while we waited: not one of our own earlier lines.
    format($sql$
      select count(*), min(n."#row") from pg_temp.ingest_now n join %1$s t on %2$s
       where n."#action" = 'insert' and n."#row" between $1 and $2
         and not exists (select from pg_temp.ingest_now o where o."#action" = 'insert' and o."#row" < $1 and %3$s)
    $sql$, v_target, v_key_match, v_own_match));
  if v_updates > 0 then
    perform iu_core.fn_ingest_apply(p_upload_id, p_type, p_gate_mode, 'update', format($sql$
      update %1$s t set %2$s from pg_temp.ingest_now n
       where n."#action" = 'update' and n."#row" between $1 and $2 and %3$s
    $sql$, v_target, v_sets, v_match));
  end if;

  -- Read back, because defaults and triggers may have changed the row.
  perform iu_core.fn_ingest_pin_text_settings();
  execute format($sql$
    insert into iu_core.ingest_ledger (
      upload_id, type_order, row_type, row_number, target, target_id, target_key, action, before, after_hash, exact)
    select %1$L, %2$s, %3$L, n."#row", %4$L, n."#id",
           %7$s, n."#action", n."#before",
           %8$s, %9$s
      from pg_temp.ingest_now n join %5$s t on %6$s%10$s where n."#action" in ('insert', 'update')
  $sql$, p_upload_id, p_type.type_order, p_type.row_type, p_type.target_name, v_target, v_match,
    case when p_type.id_column is not null then 'null'
         else format('jsonb_build_object(%s)', (select string_agg(format('%1$L, t.%1$I', k), ', ') from unnest(p_type.key_columns) k)) end, v_hash,
    case when v_exact is null then 'null' else 'x.exact' end,
    case when v_exact is null then '' else ' left join pg_temp.ingest_exact x on x."#row" = n."#row"' end);
  get diagnostics v_known = row_count;
  -- A row that is not found again would have no lineage and no undo. (LENIENT may have skipped rows.)
  if v_known <> v_inserts + v_updates
     and (p_gate_mode = 'STRICT' or v_known <> (select count(*) from pg_temp.ingest_now where "#action" in ('insert', 'update'))) then
    raise exception using
      errcode = 'SD611',
      message = format('A trigger of %s changed the key of a row, so the row cannot be found again', p_type.target_name),
      detail = json_build_object('target', p_type.target_name, 'line', null, 'reason', 'a trigger changed the key of a row')::text;
  end if;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  perform iu_core.fn_ingest_mark_promoted_rows(p_upload_id, p_type, v_updates + v_unchanged = 0
    and (select case when p_type.is_leaf then u.valid_count = v_known
                     else p.totals -> p_type.row_type = jsonb_build_object('insert', v_known) end
           from iu_core.ingest_upload u join iu_core.ingest_plan p using (upload_id) where upload_id = p_upload_id));
  return v_known + v_deleted;
end $$;

-- Runs one writing statement over all planned rows of a type and action. If the table rejects a row, STRICT raises with its
-- line; LENIENT halves the range until the row is alone, marks it failed with its error and continues with the others. p_sql
-- takes the first and the last line. p_stale_sql takes the same and returns the number of rows that others wrote meanwhile, and
-- the first line of them. Many inserted rows have their foreign keys checked at once where that is permitted (bulk-references.sql); if
-- that fails, all is done again with every row checked by itself. Internal.
create or replace function iu_core.fn_ingest_apply(
  p_upload_id uuid, p_type record, p_gate_mode text, p_action text, p_sql text, p_stale_sql text default null
) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- Ranges that are still to be done, the first line last; at first all that there can be.
  v_ranges int4range[] := array[int4range(0, 2147483647)];
  v_range int4range;
  v_rows bigint;
  v_done bigint;
  v_middle integer;
  v_reason text;
  v_state text;
  v_constraint text;
  v_detail text;
  v_stale bigint;
  v_in_bulk boolean;
begin
  if p_gate_mode = 'LENIENT' then
    perform iu_core.fn_ingest_fail_orphans(p_upload_id, p_type);
  end if;
  while cardinality(v_ranges) > 0 loop
    v_range := v_ranges[cardinality(v_ranges)];
    v_ranges := v_ranges[:cardinality(v_ranges) - 1];
    select count(*) into v_rows from pg_temp.ingest_now where "#action" = p_action and "#row" between lower(v_range) and upper(v_range) - 1;
    continue when v_rows = 0;
    -- For fewer rows it takes as long: with the mode of a session PostgreSQL forgets its prepared plans.
    v_in_bulk := coalesce(v_in_bulk, p_action = 'insert' and v_rows >= 1000 and iu_core.fn_ingest_checks_in_bulk(p_type.target));
    begin
      if v_in_bulk then
        v_done := iu_core.fn_ingest_insert_in_bulk(p_type.target, p_sql, lower(v_range), upper(v_range) - 1);
      else
        execute p_sql using lower(v_range), upper(v_range) - 1;
        get diagnostics v_done = row_count;
      end if;
      continue when v_done = v_rows;
      -- A trigger that returns NULL skips a row silently.
      raise exception using errcode = 'SD611', message = format('A trigger of %s skipped rows', p_type.target_name);
    exception when others then
      get stacked diagnostics v_reason = message_text, v_state = returned_sqlstate, v_constraint = constraint_name, v_detail = pg_exception_detail;
      -- An error that is not about a row (a deadlock, a full disk, a missing right, a broken trigger) is raised.
      if left(v_state, 2) in ('08', '0A', '25', '40', '42', '53', '54', '55', '57', '58', 'XX') then
        raise;
      end if;
    end;
    if v_in_bulk then
      v_in_bulk := false;
      v_ranges := v_ranges || v_range;
      continue;
    end if;
    if v_state = '23503' then
      perform iu_core.fn_ingest_require_referenced_rows(p_upload_id, p_type, p_action, v_constraint);
      v_reason := concat_ws(' ', v_reason, nullif(v_detail, ''));
    end if;
    if v_state = '23505' and p_stale_sql is not null then
      execute p_stale_sql into v_stale, v_middle using lower(v_range), upper(v_range) - 1;
      if v_stale > 0 then
        perform iu_core.fn_ingest_raise_plan_stale(p_upload_id, v_stale, p_type.target_name, v_middle);
      end if;
    end if;
    select percentile_disc(0.5) within group (order by "#row") into v_middle
      from pg_temp.ingest_now where "#action" = p_action and "#row" between lower(v_range) and upper(v_range) - 1;
    -- From now on many small ranges are asked for.
    create index if not exists ingest_now_row on pg_temp.ingest_now ("#row");
    if v_rows > 1 then
      v_ranges := v_ranges || int4range(v_middle + 1, upper(v_range)) || int4range(lower(v_range), v_middle + 1);
    elsif p_gate_mode = 'STRICT' then
      raise exception using
        errcode = 'SD611',
        message = format('The table %s rejected line %s: %s', p_type.target_name, v_middle, v_reason),
        detail = json_build_object('target', p_type.target_name, 'line', v_middle, 'reason', v_reason)::text;
    else
      perform iu_core.fn_ingest_fail_rows(p_upload_id, p_type, array[v_middle], v_reason);
    end if;
  end loop;
end $$;

-- Fails rows whose parent has just failed, without trying each: all rows of one parent type at once. Internal.
create or replace function iu_core.fn_ingest_fail_orphans(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent record;
  v_rows integer[];
begin
  for v_parent in
    -- An array, which is hashed: the planner knows nothing of a plan that was made a moment ago and would join in loops.
    select p.row_type, w.slot, array_agg(coalesce(p.target_id::text, iu_core.fn_ingest_plan_image(l.inserted_columns, p) ->> (s.spec ->> 'id'))) as failed
      from iu_core.ingest_plan_row p
      join iu_core.ingest_plan l using (upload_id)
      join iu_core.ingest_promotion m using (upload_id),
           jsonb_array_elements(m.definition -> 'rows') as s (spec),
           jsonb_to_recordset(p_type.written) as w (slot text, source text)
     where p.upload_id = p_upload_id and p.type_order < p_type.type_order and p.action = 'refused' and p.reason like 'failed: %'
       and w.source = '$' || p.row_type and s.spec ->> 'name' = p.row_type
     group by 1, 2
  loop
    -- As JSON writes them: so the plan has them.
    execute format('select array_agg("#row") from pg_temp.ingest_now where to_jsonb(%I) #>> ''{}'' = any ($1)', v_parent.slot)
      into v_rows using v_parent.failed;
    if v_rows is not null then
      perform iu_core.fn_ingest_fail_rows(p_upload_id, p_type, v_rows, format('its %s failed', v_parent.row_type));
    end if;
  end loop;
end $$;

-- Records rows that their table rejects as invalid, with the reason; promotion continues with the others. Internal.
create or replace function iu_core.fn_ingest_fail_rows(p_upload_id uuid, p_type record, p_row_numbers integer[], p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.ingest_now where "#row" = any (p_row_numbers);
  update iu_core.ingest_plan_row set action = 'refused', reason = 'failed: ' || p_reason
   where upload_id = p_upload_id and type_order = p_type.type_order and row_number = any (p_row_numbers);
  update iu_core.ingest_staged_row s
     set processing_action = 'failed', processed_at = now(), validation_status = 'invalid', validation_errors = coalesce(validation_errors, '[]') || jsonb_build_object(
           'line', s.row_number, 'rule', 'table.refused', 'message', p_reason,
           'suggestion', 'Correct the line and upload it again, or change the table.'),
         updated_at = now()
   where s.upload_id = p_upload_id and s.row_type = p_type.row_type and s.row_number = any (p_row_numbers);
end $$;

-- Marks the staged rows that were written or found unchanged. No index contains the columns set here, so the updates stay in
-- place. p_all_inserted: the plan has every valid row of the type and inserted it; then the promotion says so for all of them. Internal.
create or replace function iu_core.fn_ingest_mark_promoted_rows(p_upload_id uuid, p_type record, p_all_inserted boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The planner does not know how many rows of an upload there are that was staged a moment ago.
set enable_nestloop = off
set enable_indexscan = off
as $$
begin
  if p_all_inserted then
    update iu_core.ingest_promotion
       set inserted_types = inserted_types || p_type.row_type,
           keyed_types = keyed_types || case when p_type.id_column is null then array[p_type.row_type] else '{}' end
     where upload_id = p_upload_id;
    return;
  end if;
  update iu_core.ingest_staged_row s
     set processing_action = n."#action"::public.staging_processing_action,
         processed_at = now(), target_internal_id = n."#id", updated_at = now()
    from pg_temp.ingest_now n
   where s.upload_id = p_upload_id and s.row_type = p_type.row_type and s.id = n."#staged";
end $$;

-- Raises if a LENIENT promotion fell below the threshold of the plan, by lines or by the dataset's amount, because tables
-- rejected rows. The reviewer approved the plan with these lines. Internal.
create or replace function iu_core.fn_ingest_require_threshold(
  p_upload iu_core.ingest_upload, p_plan iu_core.ingest_plan, p_promotion iu_core.ingest_promotion
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first record;
  v_refusal text;
begin
  select min(r.row_number) as line, (array_agg(r.reason order by r.row_number))[1] as reason, count(*) as rows into v_first
    from iu_core.ingest_plan_row r
   where r.upload_id = p_upload.upload_id and r.row_type = p_upload.reading -> 'layout' ->> 'leaf'
     and r.action = 'refused' and r.reason like 'failed: %';
  p_upload.valid_count := p_upload.valid_count - v_first.rows;
  p_upload.invalid_count := p_upload.invalid_count + v_first.rows;
  v_refusal := iu_core.fn_ingest_plan_refusal_reason(p_upload, 'LENIENT', p_plan.threshold, p_promotion.totals, p_promotion.control);
  if v_refusal is not null then
    perform iu_core.fn_ingest_raise_plan_refused(p_upload.upload_id, format('its tables refuse %s %s (line %s: %s); then %s', v_first.rows, case v_first.rows when 1 then 'row' else 'rows' end,
      v_first.line, substr(v_first.reason, length('failed: ') + 1), v_refusal));
  end if;
end $$;

-- Advances the cursor (where the next pull begins) with the promotion. The earlier position is stored for an undo. Internal.
create or replace function iu_core.fn_ingest_cursor_advance(u iu_core.ingest_upload) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if u.cursor_name is null then
    return;
  end if;
  -- (Promotions for one client wait for each other, so it does not move in between.)
  update iu_core.ingest_promotion
     set cursor_before = (
           select jsonb_build_object('upload_id', c.upload_id, 'value', c.cursor_value) from iu_core.ingest_cursor c
            where c.workspace_id = u.workspace_id and c.client_id = u.client_id and c.dataset = u.dataset
              and c.platform = u.platform and c.cursor_name = u.cursor_name)
   where upload_id = u.upload_id;
  insert into iu_core.ingest_cursor as c (workspace_id, client_id, dataset, platform, cursor_name, cursor_value, upload_id)
  values (u.workspace_id, u.client_id, u.dataset, u.platform, u.cursor_name, u.cursor_value, u.upload_id)
  on conflict (workspace_id, client_id, dataset, platform, cursor_name) do update
     set cursor_value = excluded.cursor_value, upload_id = excluded.upload_id, committed_at = clock_timestamp();
end $$;

-- The date range of the promoted rows: of the leaf's date column, if it has one. Of the plan's rows, or (p_now) of the rows
-- just written, from `ingest_now`, which takes a tenth of the time. Internal.
create or replace function iu_core.fn_ingest_date_range(
  p_upload iu_core.ingest_upload, p_definition jsonb, p_now boolean default false
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf text := p_upload.reading -> 'layout' ->> 'leaf';
  v_column text;
  v_written boolean;
  v_slot text;
  v_range jsonb;
begin
  select c.key, p_upload.reading -> 'layout' -> 'fields' ? c.value,
         (select w.slot from iu_core.fn_ingest_row_types(p_definition, p_upload.reading -> 'layout') r,
                 jsonb_to_recordset(r.written) as w ("column" text, slot text) where r.row_type = v_leaf and w."column" = c.key)
    into v_column, v_written, v_slot
    from jsonb_array_elements(p_definition -> 'rows') as spec, jsonb_each_text(spec -> 'columns') as c
   where spec ->> 'name' = v_leaf and spec -> 'key' ? c.key and p_definition -> 'fields' -> c.value ->> 'type' = 'date';
  if v_column is null then
    return '{}';
  end if;
  -- Dates as ISO writes them: their bytes are in order, too.
  if p_now and v_written then
    execute format($sql$
      select jsonb_build_object('date_from', min(day collate "C"), 'date_to', max(day collate "C"))
        from (select distinct w.%1$I as d from pg_temp.ingest_now w where "#action" in ('insert', 'update')) n,
             lateral (select to_jsonb(n.d) #>> '{}') as t (day)
    $sql$, v_slot) into v_range;
    return v_range;
  end if;
  select jsonb_build_object('date_from', min(day collate "C"), 'date_to', max(day collate "C")) into v_range
    from (select coalesce(r.after ->> v_column, r.inserted[c.position]) as day
            from iu_core.ingest_plan_row r
            join iu_core.ingest_plan p using (upload_id)
            left join lateral (select w.ordinality as position
                                 from rows from (jsonb_to_recordset(p.inserted_columns -> v_leaf) as ("column" text)) with ordinality as w
                                where w."column" = v_column) c on true
           where r.upload_id = p_upload.upload_id and r.row_type = v_leaf and r.action in ('insert', 'update') offset 0) d;
  return v_range;
end $$;

-- Updates the after images of the ledger at the end of a promotion. A trigger of one table may have changed rows of another
-- that were written before (a parent's counter). Tables without triggers are skipped. Internal.
create or replace function iu_core.fn_ingest_refresh_after_images(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings jsonb;
  v_match text;
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
begin
  if not exists (
       select from iu_core.ingest_promotion p, jsonb_array_elements(p.definition -> 'rows') spec, pg_trigger g
        where p.upload_id = p_upload_id and g.tgrelid = to_regclass(spec ->> 'target') and not g.tgisinternal) then
    return;
  end if;
  v_settings := iu_core.fn_ingest_pin_text_settings();
  v_match := case when p_type.id_column is not null then format('t.%I = l.target_id', p_type.id_column)
    else (select string_agg(format('t.%1$I is not distinct from (jsonb_populate_record(null::%2$s, l.target_key)).%1$I', k, v_target), ' and ')
            from unnest(p_type.key_columns) k) end;
  execute format($sql$
    update iu_core.ingest_ledger l set after_hash = h.hash
      from %1$s t, lateral (select %3$s as hash) h
     where l.upload_id = $1 and l.type_order = $2 and %2$s and l.after_hash <> h.hash
  $sql$, v_target, v_match, iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*')) using p_upload_id, p_type.type_order;
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
end $$;

-- Pins the settings that affect the text of a row: time zone, date style, digits. A row that is hashed in one session and
-- compared in another must have the same text. The settings are restored before anything is written, because triggers and
-- defaults of the tables may read them, and at the latest at the end of the transaction. Internal.
create or replace function iu_core.fn_ingest_pin_text_settings(p_back_to jsonb default null) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb;
begin
  select jsonb_object_agg(name, current_setting(name)) into v_before
    from unnest(array['timezone', 'datestyle', 'intervalstyle', 'extra_float_digits', 'bytea_output']) as name;
  perform set_config(key, value, true)
    from jsonb_each_text(coalesce(p_back_to,
      '{"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "postgres", "extra_float_digits": "1", "bytea_output": "hex"}'));
  return v_before;
end $$;
