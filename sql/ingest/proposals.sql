-- Pull requests for SQL: what one statement would change becomes the plan of an upload. The statement itself runs elsewhere, as the login
-- stagedoor_proposer in a transaction that is rolled back (src/ingest/proposals/); what comes here are the old and new rows that it gave.

-- The tables on which a member may propose statements, and who proposes: {"actor", "tables": [{"relid", "target", "dataset", "operations",
-- "columns", "key", "referenced", "maxRows", "names"}]}. referenced: columns that foreign keys of other tables follow when they change.
-- names: all columns, in the table's order. The first step of a proposal, under the caller's rights.
create or replace function iu_core.fn_proposal_admit(p_workspace_id uuid, p_proposed_by text default null) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
begin
  perform iu_core.require_member(p_workspace_id, 'stage');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_proposed_by);
  return jsonb_build_object('actor', v_actor.actor, 'tables', coalesce((
    select jsonb_agg(jsonb_build_object(
             'relid', x.oid::oid::bigint, 'target', t.target, 'dataset', t.dataset, 'operations', t.operations, 'columns', t.columns,
             'key', iu_core.fn_ingest_unique_key(x.oid), 'maxRows', t.max_rows, 'isReady', has_table_privilege('stagedoor_proposer', x.oid, 'select'),
             'triggers', array(select g.name from iu_core.fn_proposal_triggers(x.oid, t.operations) g order by 1), 'triggersAllowed', t.triggers_allowed,
             'names', (select jsonb_agg(jsonb_build_object('name', a.attname, 'number', a.attnum, 'type', format_type(a.atttypid, a.atttypmod),
                         'hasDefault', a.attgenerated = '' and (a.atthasdef or a.attidentity <> '')) order by a.attnum)
                         from pg_attribute a where a.attrelid = x.oid and a.attnum > 0 and not a.attisdropped),
             'referenced', array(select distinct a.attname::text
                                   from pg_constraint f, unnest(f.confkey) k join pg_attribute a on a.attnum = k
                                  where f.contype = 'f' and f.confrelid = x.oid and f.confupdtype in ('c', 'n', 'd') and a.attrelid = x.oid))
             order by t.target)
      from iu_core.ingest_proposal_table t
     cross join lateral (select iu_core.fn_ingest_table(t.target)) as x (oid)
     where t.workspace_id = p_workspace_id and t.closed_at is null and x.oid is not null), '[]'));
end $$;

grant execute on function iu_core.fn_proposal_admit(uuid, text) to service_role, dot_executor, authenticated, stagedoor_agent, stagedoor_reviewer;

-- The plan of a proposal, from the rows that its statement gave: reading → planned. p_proposal: {"statement", "operation", "took_ms",
-- "locked_ms", "defaults": [columns that defaults filled]}. p_actions: insert, update or delete; p_old and p_new: the row before and after
-- as PostgreSQL writes a row, NULL where there is none. Rows to delete must still be as they were. What is stored is what promotion
-- writes: every value as its text, so that nothing is lost in JSON. For the back end.
create or replace function iu_core.fn_proposal_plan(
  p_upload_id uuid, p_token uuid, p_proposal jsonb, p_actions text[], p_old text[], p_new text[], p_planned_by text default null
) returns iu_core.ingest_plan
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set work_mem = '64MB'
set default_statistics_target = 10
-- Temporary tables are dropped if they exist; no notice is needed if they do not.
set client_min_messages = 'warning'
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
set intervalstyle = 'postgres'
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
  v_started timestamptz := clock_timestamp();
  u iu_core.ingest_upload;
  v_dataset iu_core.ingest_dataset;
  v_open iu_core.ingest_proposal_table;
  v_actor record;
  v_type record;
  v_layout jsonb;
  v_row text;
  v_lines integer := cardinality(p_actions);
  v_notes jsonb;
  v_refusal text;
  v_totals jsonb;
  v_plan iu_core.ingest_plan;
  v_looked constant pg_snapshot := pg_current_snapshot();
begin
  perform iu_core.fn_ingest_raise_temp_buffers();
  v_actor := iu_core.fn_actor_for(p_planned_by);
  u := iu_core.fn_ingest_lock_for_reader(p_upload_id, p_token);
  select * into v_dataset from iu_core.ingest_dataset where dataset = u.dataset for share;
  v_open := iu_core.fn_proposal_require_open(u.dataset);
  if v_lines is null or v_lines = 0 or v_lines > v_open.max_rows or cardinality(p_old) <> v_lines or cardinality(p_new) <> v_lines then
    raise exception using errcode = 'SD662',
      message = format('A proposal on %s has 1 to %s rows', v_open.target, v_open.max_rows),
      detail = json_build_object('table', v_open.target, 'rows', v_lines, 'limit', v_open.max_rows)::text;
  end if;
  perform iu_core.fn_ingest_require_tables(v_dataset);
  v_layout := jsonb_build_object('fields', v_dataset.definition -> 'field_order', 'leaf', v_dataset.definition #> '{rows,0,name}',
                                 'row_types', jsonb_build_array(v_dataset.definition #> '{rows,0,name}'));
  perform iu_core.fn_ingest_complete_reading(p_upload_id, p_token, jsonb_build_object('layout', v_layout, 'lines', v_lines), '[]', false);
  insert into iu_core.ingest_proposal (upload_id, statement, operation, target, took_ms, locked_ms)
  values (p_upload_id, p_proposal ->> 'statement', p_proposal ->> 'operation', v_open.target,
          (p_proposal ->> 'took_ms')::numeric, (p_proposal ->> 'locked_ms')::numeric);
  select * into u from iu_core.ingest_upload where upload_id = p_upload_id;

  select t.* into v_type from iu_core.fn_ingest_row_types(v_dataset.definition, v_layout) t;
  v_row := iu_core.fn_ingest_table_sql(v_type.target);
  drop table if exists pg_temp.ingest_image;
  execute format($sql$
    create temporary table ingest_image on commit drop as
    select i.ordinality::integer as place, i.action, i.old::%1$s as old_row, i.new::%1$s as new_row
      from unnest($1, $2, $3) with ordinality as i (action, old, new)
  $sql$, v_row) using p_actions, p_old, p_new;
  analyze pg_temp.ingest_image;
  perform iu_core.fn_proposal_plan_rows(p_upload_id, v_type);
  v_refusal := iu_core.fn_proposal_plan_deletes(p_upload_id, v_type);
  v_notes := iu_core.fn_proposal_notes(v_type.target, v_open, p_proposal -> 'defaults');

  v_totals := iu_core.fn_ingest_plan_totals(p_upload_id);
  insert into iu_core.ingest_plan (
    upload_id, digest, gate_mode, threshold, totals, control, control_parts, repeated_keys, notes, inserted_columns, written, refusal,
    definition_digest, approval_required, planned_by, took_ms, row_blocks, row_digests, steps)
  select p_upload_id,
         iu_core.fn_ingest_plan_digest(p_upload_id, 'STRICT', 1, jsonb_build_object('statement', p_proposal ->> 'statement', 'notes', v_notes), r.blocks, r.digests),
         'STRICT', 1, v_totals, '[]', '[]', 'refuse', v_notes,
         jsonb_build_object(v_type.row_type, (select jsonb_agg(jsonb_build_object('column', w.value ->> 'column', 'form', 'text') order by w.ordinality)
                                                from jsonb_array_elements(v_type.written) with ordinality as w)),
         iu_core.fn_ingest_written_columns(v_dataset.definition, v_layout),
         case when u.run_mode = 'FULL_DRY_RUN' then 'this is a dry run' else v_refusal end,
         v_dataset.definition_digest, v_dataset.approval_required, v_actor.actor,
         (p_proposal ->> 'took_ms')::numeric + extract(epoch from clock_timestamp() - v_started) * 1000, r.blocks, r.digests,
         jsonb_build_array(jsonb_build_object('step', 'statement', 'ms', p_proposal -> 'took_ms'), jsonb_build_object('step', 'locks_held', 'ms', p_proposal -> 'locked_ms'),
                           iu_core.fn_ingest_step('compare', v_started))
    from iu_core.fn_ingest_plan_row_digests(p_upload_id) as r
  returning * into v_plan;
  v_plan := iu_core.fn_ingest_plan_assertions(u, v_dataset.definition, v_plan);
  v_plan := iu_core.fn_review_plan(u, v_plan);
  perform iu_core.fn_ingest_mark_seen(p_upload_id, v_looked, 0);
  update iu_core.ingest_upload set status = 'planned', error = null where upload_id = p_upload_id;
  perform iu_core.fn_event_emit('staging', 'ingestion_planned',
    p_event_subject_ref => p_upload_id::text, p_workspace_id => u.workspace_id, p_actor => p_planned_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'plan_digest', v_plan.digest, 'totals', v_plan.totals));
  return v_plan;
end $$;

grant execute on function iu_core.fn_proposal_plan(uuid, uuid, jsonb, text[], text[], text[], text) to service_role;

-- The open table of a dataset. Raises proposal_table_closed. Internal.
create or replace function iu_core.fn_proposal_require_open(p_dataset text) returns iu_core.ingest_proposal_table
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_open iu_core.ingest_proposal_table;
begin
  select * into v_open from iu_core.ingest_proposal_table where dataset = p_dataset;
  if v_open.dataset is null or v_open.closed_at is not null then
    perform iu_core.fn_proposal_raise_closed(coalesce(v_open.target, p_dataset));
  end if;
  return v_open;
end $$;

-- Raises upload_fixed if the rows of an upload came from a statement: they are what the statement gave, and nothing else can be made of them.
-- Internal.
create or replace function iu_core.fn_proposal_refuse_replan(p_upload iu_core.ingest_upload) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from iu_core.ingest_proposal where upload_id = p_upload.upload_id) then
    raise exception using errcode = 'SD664',
      message = format('Upload %s is a proposal in SQL: its plan is what the statement gave', p_upload.upload_id),
      hint = iu_core.fn_ingest_plan_again_hint(p_upload.upload_id),
      detail = json_build_object('upload', p_upload.upload_id)::text;
  end if;
end $$;

-- Plans the rows of `ingest_image` that are inserted or updated. A row is compared by its texts: 1.0 and 1.00 differ, and so do two JSON
-- documents of the same meaning. The object of an update, which people see, has the key and what changes. Internal.
create or replace function iu_core.fn_proposal_plan_rows(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old_text text;
  v_new_text text;
  v_changed text;
  v_key text;
  v_columns text[];
begin
  -- As its type writes it: a cast to text could be another function.
  select string_agg(format('case when num_nulls((i.old_row).%1$I) = 0 then format(''%%s'', (i.old_row).%1$I) end', w."column"), ', '),
         string_agg(format('case when num_nulls((i.new_row).%1$I) = 0 then format(''%%s'', (i.new_row).%1$I) end', w."column"), ', '),
         string_agg(format('case when x.old_texts[%s] is distinct from x.new_texts[%1$s] then %L end', w.ordinality, w."column"), ', '),
         string_agg(format('%L, (coalesce(i.new_row, i.old_row)).%I', w."column", w."column"), ', ') filter (where w."column" = any (p_type.key_columns)),
         array_agg(w."column")
    into v_old_text, v_new_text, v_changed, v_key, v_columns
    from rows from (jsonb_to_recordset(p_type.written) as ("column" text)) with ordinality as w;
  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, staging_row_id, action, target_key, before, before_hash, inserted, after, changed, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.line, r.action, r.inserted, coalesce(r.after, r.target_key), r.before_hash), 'UTF8'))
      from (select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, row_number() over (order by i.place)::integer as line, iu_core.fn_time_uuid() as id,
                   a.action, jsonb_build_object(%4$s) as target_key,
                   case when a.action = 'update' then to_jsonb(i.old_row) end as before,
                   case when a.action <> 'insert' then %5$s end as before_hash,
                   case when a.action <> 'unchanged' then x.new_texts end as inserted,
                   case when a.action <> 'unchanged' then (select jsonb_object_agg(m.key, m.value) from jsonb_each(to_jsonb(i.new_row)) m
                                                                  where m.key = any (case a.action when 'update' then c.changed || %10$L::text[] else %6$L::text[] end)) end as after,
                   case when a.action = 'update' then c.changed end as changed
              from pg_temp.ingest_image i,
                   lateral (select array[%7$s]::text[] as old_texts, array[%8$s]::text[] as new_texts) as x,
                   lateral (select array_remove(array[%9$s]::text[], null) as changed) as c,
                   lateral (select case when i.action = 'update' and c.changed = '{}' then 'unchanged' else i.action end as action) as a
             where i.action in ('insert', 'update')
            offset 0) r
  $sql$, p_upload_id, p_type.type_order, p_type.row_type, v_key, iu_core.fn_ingest_row_hash_sql(p_type.target, 'i.old_row'), v_columns,
     v_old_text, v_new_text, v_changed, p_type.key_columns);
end $$;

-- Plans the rows of `ingest_image` that are deleted, with what foreign keys do to others then, as the deletes of a snapshot. Returns why they
-- cannot be deleted; NULL if they can. Internal.
create or replace function iu_core.fn_proposal_plan_deletes(p_upload_id uuid, p_type record) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_deletes bigint := (select count(*) from pg_temp.ingest_image where action = 'delete');
  v_found bigint;
  v_planned record;
  v_unknown text;
begin
  drop table if exists pg_temp.ingest_gone, pg_temp.ingest_dependent;
  if v_deletes = 0 then
    return null;
  end if;
  execute format($sql$
    create temporary table ingest_gone on commit drop as
    select (row_number() over (order by i.place) - 1 - count(*) over ())::integer as position, t.tableoid as row_table, t.ctid as row_tid
      from pg_temp.ingest_image i join %1$s t on %2$s
     where i.action = 'delete' and %3$s = %4$s
  $sql$, v_target, (select string_agg(format('t.%1$I = (i.old_row).%1$I', k), ' and ') from unnest(p_type.key_columns) k),
     iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), iu_core.fn_ingest_row_hash_sql(p_type.target, 'i.old_row'));
  get diagnostics v_found = row_count;
  if v_found <> v_deletes then
    raise exception using errcode = 'SD665',
      message = format('%s of %s rows to delete changed while the statement was worked out', v_deletes - v_found, v_deletes),
      detail = json_build_object('reason', 'rows changed while the statement was worked out')::text;
  end if;
  analyze pg_temp.ingest_gone;
  select * into v_planned from iu_core.fn_ingest_planned_rows(p_upload_id, p_type);
  v_unknown := coalesce(iu_core.fn_ingest_snapshot_dependents(p_type.target, false), iu_core.fn_ingest_snapshot_blocked(p_type, coalesce(v_planned.row_match, 'false')));
  execute format($sql$
    insert into iu_core.ingest_plan_row (
      upload_id, type_order, row_type, row_number, action, target_key, before, before_hash, dependents, dependents_hash, reason, row_hash)
    select r.*, sha256(convert_to(concat_ws('|', r.row_type, r.position, r.action, r.target_key, r.before_hash, r.dependents_hash), 'UTF8'))
      from (select %1$L::uuid, %2$s::smallint, %3$L::text as row_type, g.position, 'delete' as action,
                   jsonb_build_object(%4$s) as target_key, to_jsonb(t.*) as before, %5$s as before_hash, d.dependents, d.dependents_hash, d.reason
              from pg_temp.ingest_gone g
              join %6$s t on t.tableoid = g.row_table and t.ctid = g.row_tid
              left join iu_core.fn_ingest_snapshot_dependents_by_row() d on d.root = g.position
            offset 0) r
  $sql$, p_upload_id, p_type.type_order, p_type.row_type, (select string_agg(format('%1$L, t.%1$I', k), ', ') from unnest(p_type.key_columns) k),
     iu_core.fn_ingest_row_hash_sql(p_type.target, 't.*'), v_target);
  return v_unknown;
end $$;

-- What a reviewer must know besides the rows: foreign keys that follow, triggers that run again, values that defaults gave. Internal.
create or replace function iu_core.fn_proposal_notes(p_target regclass, p_open iu_core.ingest_proposal_table, p_defaults jsonb) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_notes jsonb := '[]';
begin
  if to_regclass('pg_temp.ingest_dependent') is not null then
    select coalesce(jsonb_agg(jsonb_build_object('rule', 'proposal.cascade', 'count', d.rows, 'message',
             format('%s %s of %s %s with the deleted rows (on delete %s).', d.rows, case d.rows when 1 then 'row' else 'rows' end, d.name,
                    case when d.effect = 'delete' then case d.rows when 1 then 'is deleted' else 'are deleted' end
                         else case d.rows when 1 then 'loses its reference' else 'lose their reference' end end,
                    case d.effect when 'delete' then 'cascade' else d.effect end)) order by d.name, d.effect), '[]') into v_notes
      from (select iu_core.fn_ingest_table_sql(x.target) as name, x.effect, count(*) as rows
              from pg_temp.ingest_dependent x where x.level > 0 and x.effect <> 'restrict' group by 1, 2) d;
  end if;
  v_notes := v_notes || coalesce((
    select jsonb_agg(n order by n ->> 'message')
      from iu_core.fn_proposal_trigger_notes(p_target, array(select distinct action from pg_temp.ingest_image)) n), '[]');
  if jsonb_array_length(coalesce(p_defaults, '[]')) > 0 then
    v_notes := v_notes || jsonb_build_array(jsonb_build_object('rule', 'proposal.default', 'message',
      format('Defaults filled %s when the statement was worked out: exactly these values are written, and numbers of a proposal that is not promoted are lost.',
             (select string_agg(c, ', ') from jsonb_array_elements_text(p_defaults) c))));
  end if;
  return v_notes;
end $$;

-- A note for each trigger and function that runs with these operations. Internal.
create or replace function iu_core.fn_proposal_trigger_notes(p_target regclass, p_operations text[]) returns setof jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('rule', 'proposal.trigger', 'message',
           case when g.timing in ('default', 'check', 'policy', 'cast') then
             format('The %s calls %s, which ran while the statement was worked out. What it writes elsewhere is not part of the plan, and an undo leaves it.', g.name, g.function)
           else
             format('The trigger %s (%s, %s) ran while the statement was worked out and runs again with the promotion. What it writes into other tables is not part of the plan, and an undo leaves it.',
                    g.name, g.timing, g.function)
           end)
    from iu_core.fn_proposal_triggers(p_target, p_operations) g
$$;

-- Raises plan_stale if a trigger or function would run with the promotion that the plan does not name: whoever approved it has not seen its
-- effects. Internal.
create or replace function iu_core.fn_proposal_require_same_triggers(p_plan iu_core.ingest_plan, p_open iu_core.ingest_proposal_table) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_new text := (select string_agg(n ->> 'message', ' ')
                   from iu_core.fn_proposal_trigger_notes(iu_core.fn_ingest_table(p_open.target),
                          array(select distinct r.action from iu_core.ingest_plan_row r where r.upload_id = p_plan.upload_id)) n
                  where not p_plan.notes @> jsonb_build_array(n));
begin
  if v_new is not null then
    raise exception using
      errcode = 'SD606',
      message = format('A trigger or function of %s came after the plan was made', p_open.target),
      hint = iu_core.fn_ingest_plan_again_hint(p_plan.upload_id) || ' Whoever approves it then sees what runs.',
      detail = json_build_object('upload', p_plan.upload_id, 'reason', 'a trigger or function came since')::text;
  end if;
end $$;
