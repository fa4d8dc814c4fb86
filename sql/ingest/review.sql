-- Review of a plan: submit, approve (by a person who changed nothing in it), reject.

-- Submits a plan for review: creates a review package in the staging zone, with the totals, a sample and the plan's digest.
-- Submitting again returns the same package.
create or replace function iu_core.fn_ingest_submit(p_upload_id uuid, p_plan_digest text, p_submitted_by text default null)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_record record;
  v_deleted bigint;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'stage');
  perform iu_core.fn_review_lock(iu_core.fn_ingest_upload_workspace(p_upload_id));
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'submitted');
  v_plan := iu_core.fn_ingest_plan_require_digest(p_upload_id, p_plan_digest);
  if v_plan.refusal is not null then
    perform iu_core.fn_ingest_raise_plan_refused(p_upload_id, v_plan.refusal);
  end if;
  if v_plan.review_record_id is not null and exists (
       select from iu_core.iu_staging_record
        where staging_record_id = v_plan.review_record_id and lifecycle_status in ('pending', 'approved')
          and expires_at > clock_timestamp()) then
    return v_plan.review_record_id;
  end if;
  -- A statement deletes rows as well, and has no snapshot.
  v_deleted := coalesce((v_plan.snapshot ->> 'deleted')::bigint, (select sum((t.value ->> 'delete')::bigint) from jsonb_each(v_plan.totals) t), 0);
  select * into v_record from iu_core.fn_iu_staging_create(
    'review_package', 'review_bundle',
    format('Promote %s (%s, %s)', u.file_name, u.dataset, u.platform),
    p_new => true, p_parts => array[
      jsonb_build_object('part_name', 'plan', 'payload_kind', 'json', 'payload_json', jsonb_build_object(
        'upload_id', u.upload_id, 'file_name', u.file_name, 'file_hash', u.file_hash, 'dataset', u.dataset,
        'platform', u.platform, 'client_id', u.client_id, 'lines', u.line_count, 'plan_digest', v_plan.digest,
        'gate_mode', v_plan.gate_mode, 'threshold', v_plan.threshold, 'totals', v_plan.totals,
        'control', v_plan.control, 'repeated_keys', v_plan.repeated_keys, 'left_out', u.left_out, 'notes', v_plan.notes)
        || case when v_plan.snapshot is null then '{}' else jsonb_build_object('snapshot', v_plan.snapshot) end
        || case when u.own_totals is null then '{}' else jsonb_build_object('own_totals', u.own_totals) end
        || coalesce((select jsonb_build_object('statement', s.statement) from iu_core.ingest_proposal s where s.upload_id = u.upload_id), '{}')),
      jsonb_build_object('part_name', 'sample', 'payload_kind', 'json',
                         'payload_json', iu_core.fn_ingest_plan_sample(p_upload_id)),
      jsonb_build_object('part_name', 'checklist', 'payload_kind', 'json', 'payload_json', (
        select jsonb_agg(jsonb_build_object('id', id, 'text', text, 'required', true)) from (values
          ('changes', 'I looked at what will change', true),
          ('left_out', 'The lines that are left out may stay out',
           u.invalid_count > 0 or exists (select from iu_core.ingest_plan_row
                                           where upload_id = u.upload_id and action = 'refused')
           -- Totals lines are not lost amounts.
           or u.left_out - iu_core.fn_ingest_totals_rules() <> '{}'),
          ('deleted', format('%s may be deleted', case v_deleted when 1 then '1 row' else v_deleted || ' rows' end), v_deleted > 0),
          ('short_file', format('The file is complete, although it has %s lines and the last ones had %s', v_plan.snapshot ->> 'lines',
                                trim_scale((v_plan.snapshot ->> 'usual_lines')::numeric)),
           coalesce((v_plan.snapshot ->> 'short_file_allowed')::boolean
                    and (v_plan.snapshot ->> 'lines')::numeric < (v_plan.snapshot ->> 'usual_lines')::numeric / 2, false))) as i (id, text, applies)
         where applies))],
    p_workspace_id => u.workspace_id, p_owner_actor => coalesce(p_submitted_by, case when iu_core.fn_caller_is_service() then u.uploaded_by end),
    p_source_ref => 'upload ' || u.upload_id,
    p_metadata => jsonb_build_object('upload_id', u.upload_id, 'plan_digest', v_plan.digest));
  insert into iu_core.ingest_submission values (v_record.staging_record_id, p_upload_id);
  update iu_core.ingest_plan set review_record_id = v_record.staging_record_id where upload_id = p_upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_submitted',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_submitted_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_record.staging_record_id,
                                         'plan_digest', v_plan.digest));
  perform iu_core.fn_review_ask_again(p_upload_id, v_record.staging_record_id);
  perform iu_core.fn_review_settle_submission(p_upload_id, v_record.staging_record_id);
  return v_record.staging_record_id;
end $$;

grant execute on function iu_core.fn_ingest_submit(uuid, text, text)
  to service_role, authenticated, stagedoor_agent, stagedoor_reviewer;

-- A few rows of each row type and action, for the reviewer. Internal.
create or replace function iu_core.fn_ingest_plan_sample(p_upload_id uuid) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'row_type', r.row_type, 'line', r.row_number, 'action', r.action, 'target_key', r.target_key, 'reason', r.reason,
           'changed', (select jsonb_object_agg(c, jsonb_build_array(r.before -> c, r.after -> c)) from unnest(r.changed) as c),
           'values', case r.action when 'insert' then iu_core.fn_ingest_plan_image(p.inserted_columns, r) when 'delete' then r.before end,
           'dependents', r.dependents))
           order by r.type_order, r.action, r.row_number), '[]')
    from (select upload_id, type_order, row_number, row_number() over (partition by type_order, action order by row_number) as place
            from iu_core.ingest_plan_row where upload_id = p_upload_id and action <> 'unchanged') s
    join iu_core.ingest_plan_row r using (upload_id, type_order, row_number)
    join iu_core.ingest_plan p using (upload_id)
   where place <= 5
$$;

-- A second person approves exactly the plan that they saw, and ticks the checklist. The plan is approved when it has all approvals that
-- the review policy asks for (fn_review_requirement says what is missing).
create or replace function iu_core.fn_ingest_approve(
  p_upload_id uuid, p_plan_digest text, p_ticked text[] default '{}', p_approved_by text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_actor record;
  v_stale record;
  v_item text;
  v_open text;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_approved_by);
  perform iu_core.fn_review_lock(iu_core.fn_ingest_upload_workspace(p_upload_id));
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'approved');
  v_plan := iu_core.fn_ingest_plan_require_digest(p_upload_id, p_plan_digest);
  if v_plan.review_record_id is null and v_plan.refusal is not null then
    perform iu_core.fn_ingest_raise_plan_refused(p_upload_id, v_plan.refusal);
  end if;
  if v_plan.review_record_id is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_ingest_require_four_eyes(u, v_plan.review_record_id, v_actor);
  perform iu_core.fn_review_reopen_unmet(v_plan.review_record_id);
  -- Promotion would refuse it too, but the reviewer must know before approving rows that have changed.
  select max(s.total) as total, case count(distinct s.target_table) when 1 then min(s.target_table) else 'several tables' end as target_table,
         (array_agg(s.line order by s.type_order, s.line))[1] as line
    into v_stale from iu_core.fn_ingest_plan_stale(p_upload_id, 1000) s;
  if v_stale.total > 0 then
    perform iu_core.fn_ingest_raise_plan_stale(p_upload_id, v_stale.total, v_stale.target_table, v_stale.line);
  end if;
  foreach v_item in array coalesce(p_ticked, '{}') loop
    perform iu_core.fn_iu_staging_tick_as(v_plan.review_record_id, v_item, true, v_actor.actor, null);
  end loop;
  -- Checked here, because the staging zone does not know how an upload's checklist is ticked.
  select string_agg(c.item_id, ', ') filter (where c.ticked_at is null) into v_open
    from iu_core.fn_iu_staging_checklist(v_plan.review_record_id) c where c.required;
  if v_open is not null then
    raise exception using
      errcode = 'SD509',
      message = format('The checklist of upload %s has open items: %s', p_upload_id, v_open),
      hint = format('Check each item, then tick all of them at once: --tick %s', (
        select string_agg(c.item_id, ',') from iu_core.fn_iu_staging_checklist(v_plan.review_record_id) c where c.required)),
      detail = json_build_object('record', v_plan.review_record_id, 'items', v_open)::text;
  end if;
  perform iu_core.fn_iu_staging_approve(
    v_plan.review_record_id,
    (select content_hash from iu_core.iu_staging_record where staging_record_id = v_plan.review_record_id),
    p_approved_by);
  -- Others may have to approve it, too.
  if not exists (select from iu_core.iu_staging_record where staging_record_id = v_plan.review_record_id and lifecycle_status = 'approved') then
    return;
  end if;
  perform iu_core.fn_event_emit('staging', 'ingestion_approved',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_approved_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_plan.review_record_id,
                                         'plan_digest', v_plan.digest));
end $$;

grant execute on function iu_core.fn_ingest_approve(uuid, text, text[], text) to service_role, stagedoor_reviewer;

-- A reviewer rejects a plan, with a reason. The upload stays planned: it can be repaired and planned again.
create or replace function iu_core.fn_ingest_reject(p_upload_id uuid, p_reason text, p_rejected_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  u iu_core.ingest_upload;
  v_plan iu_core.ingest_plan;
  v_actor record;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_rejected_by);
  if p_reason is null or p_reason !~ '\S' then
    raise exception using errcode = 'SD001', message = 'A rejection needs a reason';
  end if;
  u := iu_core.fn_ingest_lock(p_upload_id, array['planned'], 'rejected');
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if v_plan.review_record_id is null then
    raise exception using
      errcode = 'SD608',
      message = format('The plan of upload %s was not submitted for approval yet', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the plan was not submitted yet')::text;
  end if;
  perform iu_core.fn_iu_staging_set_rejected(v_plan.review_record_id, v_actor.actor, p_reason);
  -- Approvals of the same plan end with it: submitted again it is reviewed again.
  perform iu_core.fn_change_review_end(o.review_id, v_actor.actor, v_actor.via, 'the plan was rejected')
     from iu_core.change_review o join iu_core.change c using (change_id)
    where c.kind = 'upload' and c.subject_id = p_upload_id and o.verdict = 'approve' and o.dismissed_at is null;
  perform iu_core.fn_event_emit('staging', 'ingestion_rejected',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_rejected_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'staging_record_id', v_plan.review_record_id,
                                         'plan_digest', v_plan.digest));
end $$;

grant execute on function iu_core.fn_ingest_reject(uuid, text, text) to service_role, stagedoor_reviewer;

-- The plan of an upload. Raises if its digest is not the one that the caller saw. Internal.
create or replace function iu_core.fn_ingest_plan_require_digest(p_upload_id uuid, p_plan_digest text) returns iu_core.ingest_plan
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan iu_core.ingest_plan;
  v_other uuid;
begin
  select * into v_plan from iu_core.ingest_plan where upload_id = p_upload_id;
  if v_plan.digest = p_plan_digest then
    return v_plan;
  end if;
  if p_plan_digest is null then
    raise exception using errcode = 'SD606', message = 'Give the digest of the plan that you saw',
      detail = json_build_object('upload', p_upload_id, 'reason', 'its digest was not named')::text;
  end if;
  -- If the digest belongs to another upload of the workspace, the error says so; other workspaces are never mentioned.
  select p.upload_id into v_other
    from iu_core.ingest_plan p join iu_core.ingest_upload o using (upload_id)
    join iu_core.ingest_upload u on u.upload_id = p_upload_id and u.workspace_id = o.workspace_id
   where p.digest = p_plan_digest limit 1;
  if v_other is not null then
    raise exception using errcode = 'SD606',
      message = format('This is the digest of the plan of upload %s, not of %s', v_other, p_upload_id),
      hint = format('`stagedoor upload show %s` prints the digest of its own plan.', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'the digest is that of another upload''s plan')::text;
  end if;
  raise exception using
    errcode = 'SD606',
    message = format('The plan of upload %s has another digest', p_upload_id),
    hint = 'If the upload was planned again after you looked, review the current plan and decide on that.',
    detail = json_build_object('upload', p_upload_id, 'reason', 'it has another plan than the one with this digest')::text;
end $$;

-- Four-eyes rule: whoever uploaded the file, corrected a line, or mapped its headers or values cannot approve the plan, whoever
-- submitted it. Internal.
create or replace function iu_core.fn_ingest_require_four_eyes(p_upload iu_core.ingest_upload, p_review_record_id uuid, p_approver record)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The service that acts for a person counts as well as the named person.
  v_changed constant text[] := array(select lower(c) from unnest(p_upload.changed_by) c);
  v_own constant text := case when lower(p_approver.actor) = any (v_changed) then p_approver.actor
                              when lower(p_approver.via) = any (v_changed) then p_approver.via end;
begin
  if (select four_eyes from iu_core.iu_staging_record where staging_record_id = p_review_record_id)
     and v_own is not null then
    raise exception using
      errcode = 'SD508',
      message = format('Upload %s contains changes by %s: another person must decide', p_upload.upload_id, v_own)
                || case when v_own <> p_approver.actor then format(', and not through %s', v_own) else '' end,
      detail = json_build_object('record', p_review_record_id)::text;
  end if;
end $$;

-- Raises plan_refused with the reason. Internal.
create or replace function iu_core.fn_ingest_raise_plan_refused(p_upload_id uuid, p_reason text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reason = 'this is a dry run' then
    raise exception using
      errcode = 'SD607',
      message = format('Upload %s is a dry run, which is never promoted', p_upload_id),
      hint = 'Bring the file in with `stagedoor ingest FILE`.',
      detail = json_build_object('upload', p_upload_id, 'reason', p_reason)::text;
  end if;
  if p_reason like 'the file''s own totals disagree%' then
    raise exception using
      errcode = 'SD607',
      message = format('The plan of upload %s cannot be promoted: %s', p_upload_id, p_reason),
      hint = 'Correct the lines, or the total itself if it is wrong, and plan again; or export the file again. A dataset with ownTotals: warn only warns.',
      detail = json_build_object('upload', p_upload_id, 'reason', p_reason)::text;
  end if;
  raise exception using
    errcode = 'SD607',
    message = format('The plan of upload %s cannot be promoted: %s', p_upload_id, p_reason),
    detail = json_build_object('upload', p_upload_id, 'reason', p_reason)::text;
end $$;
