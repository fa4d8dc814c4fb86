-- Undo of a promotion: the preview, and the undo itself.

-- Previews an undo: how many rows of each type would be reversed, kept or refused, a sample of the rows that stay, and a digest
-- of all decisions. Changes nothing.
create or replace function iu_core.fn_ingest_undo_plan(
  p_upload_id uuid, out totals jsonb, out stays jsonb, out digest text, out undo_until timestamptz
)
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
  v_promotion iu_core.ingest_promotion;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'read');
  v_promotion := iu_core.fn_ingest_undo_require(p_upload_id);
  perform iu_core.fn_ingest_undo_decide(v_promotion, false);
  select * into totals, stays, digest from iu_core.fn_ingest_undo_summary(p_upload_id);
  undo_until := v_promotion.undo_until;
end $$;

grant execute on function iu_core.fn_ingest_undo_plan(uuid) to service_role, dot_executor, authenticated, stagedoor_reviewer;

-- The promotion of an upload that can still be undone. Raises the reason if there is none. Internal.
create or replace function iu_core.fn_ingest_undo_require(p_upload_id uuid) returns iu_core.ingest_promotion
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_promotion iu_core.ingest_promotion;
  v_status text;
begin
  select status into v_status from iu_core.ingest_upload where upload_id = p_upload_id;
  if v_status <> 'promoted' then
    raise exception using
      errcode = 'SD602',
      message = case v_status when 'undone' then format('Upload %s is already undone', p_upload_id)
                     else format('Upload %s is %s and was never promoted: there is nothing to undo', p_upload_id, v_status) end,
      detail = json_build_object('upload', p_upload_id, 'status', v_status, 'action', 'undone')::text;
  end if;
  select * into v_promotion from iu_core.ingest_promotion where upload_id = p_upload_id;
  if v_promotion.undo_until <= clock_timestamp() or v_promotion.images_dropped_at is not null then
    raise exception using
      errcode = 'SD609',
      message = format('Upload %s could be undone only until %s', p_upload_id, v_promotion.undo_until),
      detail = json_build_object('upload', p_upload_id, 'until', v_promotion.undo_until)::text;
  end if;
  return v_promotion;
end $$;

-- Decides for every row of a promotion, in the temporary table `ingest_undo`: reversed, kept (it has changed since) or refused
-- (other rows depend on it). With p_lock the rows are locked first, so that the decisions still hold when they are applied.
-- Internal.
create or replace function iu_core.fn_ingest_undo_decide(p_promotion iu_core.ingest_promotion, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type record;
  v_refused bigint;
begin
  drop table if exists pg_temp.ingest_undo;
  create temporary table ingest_undo (
    type_order smallint, row_type text, row_number integer, action text, target regclass, target_key jsonb, before jsonb,
    row_table oid, row_tid tid, outcome text, reason text, exact jsonb) on commit drop;
  for v_type in select * from iu_core.fn_ingest_undo_types(p_promotion) loop
    perform iu_core.fn_ingest_undo_decide_type(p_promotion.upload_id, v_type, p_lock);
  end loop;
  analyze pg_temp.ingest_undo;
  -- A row that stays keeps the rows it refers to: children before parents, repeated while another row has to stay,
  -- because rows of one table may refer to each other, and tables in a circle.
  loop
    v_refused := 0;
    for v_type in select * from iu_core.fn_ingest_undo_types(p_promotion) where target is not null loop
      v_refused := v_refused + iu_core.fn_ingest_undo_dependents(v_type);
    end loop;
    exit when v_refused = 0;
  end loop;
  perform iu_core.fn_ingest_snapshot_undo_decide(p_promotion, p_lock);
end $$;

-- The row types that a promotion wrote, children first, as declared at that time. Internal.
create or replace function iu_core.fn_ingest_undo_types(p_promotion iu_core.ingest_promotion)
returns table (
  type_order smallint, row_type text, spec jsonb, target regclass, id_column text,
  -- Those that the table had when it was promoted; NULL: not known.
  columns text[]
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select t.ordinality::smallint, t.spec ->> 'name', t.spec, to_regclass(t.spec ->> 'target'),
         -- Rows whose id is not a uuid are in the ledger by their key.
         case when exists (select from iu_core.ingest_ledger l
                            where l.upload_id = p_promotion.upload_id and l.type_order = t.ordinality and l.target_id is not null)
              then t.spec ->> 'id' end,
         (select array_agg(c) from jsonb_array_elements_text(p_promotion.definition -> 'columns' -> (t.spec ->> 'target')) c)
    from jsonb_array_elements(p_promotion.definition -> 'rows') with ordinality as t (spec, ordinality)
   where exists (select from iu_core.ingest_ledger l
                  where l.upload_id = p_promotion.upload_id and l.type_order = t.ordinality)
   order by t.ordinality desc
$$;

-- Decides which rows of one row type are unchanged since the promotion. A column that was added later does not count. Internal.
create or replace function iu_core.fn_ingest_undo_decide_type(p_upload_id uuid, p_type record, p_lock boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_match text;
  v_key text;
  v_image text := 't.*';
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
begin
  v_match := case when p_type.target is not null then iu_core.fn_ingest_undo_rows(p_upload_id, p_type) end;
  if v_match is null then
    insert into pg_temp.ingest_undo (type_order, row_type, row_number, action, target, target_key, outcome, reason)
    select type_order, row_type, row_number, action, p_type.target, target_key, 'kept',
           case when p_type.target is null then 'its table no longer exists' else 'its table has lost a column since' end
      from iu_core.ingest_ledger
     where upload_id = p_upload_id and type_order = p_type.type_order and action <> 'delete';
    return;
  end if;
  if exists (select from pg_attribute where attrelid = p_type.target and attnum > 0 and not attisdropped
                and attname <> all (p_type.columns)) then
    v_image := format('row(%s)', (select string_agg(format('t.%I', c), ', ' order by position)
                                    from unnest(p_type.columns) with ordinality as s (c, position)));
  end if;
  v_key := format('jsonb_build_object(%s)', (
    select string_agg(format('%1$L, t.%1$I', k), ', ') from jsonb_array_elements_text(p_type.spec -> 'key') k
      join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped));
  if p_lock then
    execute format($sql$
      select count(*) from (select from pg_temp.ingest_now n join %1$s t on %2$s order by %3$s for update of t) locked
    $sql$, v_target, v_match,
      (select string_agg(format('t.%I', k), ', ') from jsonb_array_elements_text(p_type.spec -> 'key') k
         join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped));
  end if;
  execute format($sql$
    insert into pg_temp.ingest_undo
    select %1$s, %2$L, n."#row", n."#action", %3$L::regclass,
           coalesce(n."#key", case when not h.same and t.ctid is not null then %6$s end), n."#before", t.tableoid, t.ctid,
           case when h.same then 'reversed' else 'kept' end,
           case when t.ctid is null then 'it was deleted since'
                -- If a later upload wrote the row, that upload is named: undoing it first restores our row.
                when not h.same then coalesce((
                  select format('upload %%s (%%s) changed it since: undo that first', o.upload_id, o.file_name)
                    from iu_core.ingest_ledger l
                    join iu_core.ingest_promotion p on p.upload_id = l.upload_id and p.undone_at is null
                    join iu_core.ingest_upload o on o.upload_id = l.upload_id
                    join iu_core.ingest_promotion m on m.upload_id = %8$L and m.promoted_at < p.promoted_at
                    join iu_core.ingest_upload u on u.upload_id = m.upload_id and u.workspace_id = o.workspace_id
                   where (l.target_id = n."#id"
                          or (l.target_id is null and l.target = %9$L and l.target_key = n."#key"))
                     and l.after_hash = h.hash
                   order by p.promoted_at desc limit 1), 'somebody changed it since') end, n."#exact"
      from pg_temp.ingest_now n left join %4$s t on %5$s,
           lateral (select case when t.ctid is not null then %7$s end as hash) as s,
           lateral (select s.hash, coalesce(s.hash = n."#after", false) as same) as h
  $sql$, p_type.type_order, p_type.row_type, v_target, v_target, v_match, v_key,
    -- What was promoted before rows were hashed by themselves has the sha-256 of its text.
    format('case octet_length(n."#after") when 32 then sha256(convert_to((%s)::text, ''UTF8'')) else %s end', v_image,
           iu_core.fn_ingest_row_hash_sql(p_type.target, v_image, p_type.columns)),
    p_upload_id, p_type.spec ->> 'target');
end $$;

-- Puts the ledger's rows of one row type into the typed temporary table `ingest_now`, as in promotion: the planner must know
-- their number. Returns the condition that finds the row `t` of a ledger row `n`; NULL: the table no longer has the identifying
-- columns. Internal.
create or replace function iu_core.fn_ingest_undo_rows(p_upload_id uuid, p_type record) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text[] := case when p_type.id_column is null then array(select jsonb_array_elements_text(p_type.spec -> 'key'))
                       else array[p_type.id_column] end;
  v_record text;
  v_slots text;
  v_match text;
  v_found bigint;
begin
  -- In `ingest_now` key columns are c1, c2, …: their own names could meet those of ours.
  select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '),
         string_agg(format('x.%I as c%s', a.attname, a.attnum), ', '),
         string_agg(format(case when a.attnotnull then 't.%I = n.c%s' else 't.%I is not distinct from n.c%s' end, a.attname, a.attnum), ' and '),
         count(*)
    into v_record, v_slots, v_match, v_found
    from unnest(v_key) k
    join pg_attribute a on a.attrelid = p_type.target and a.attname = k and not a.attisdropped;
  if v_found < cardinality(v_key)
     or exists (select from unnest(p_type.columns) c
                 where not exists (select from pg_attribute a
                                    where a.attrelid = p_type.target and a.attname = c and not a.attisdropped)) then
    return null;
  end if;
  if p_type.id_column is not null then
    v_match := format('t.%I = n."#id"', p_type.id_column);
    v_record := 'none text';
    v_slots := 'x.none as "#none"';
  end if;
  drop table if exists pg_temp.ingest_now;
  execute format($sql$
    create temporary table ingest_now on commit drop as
    select l.row_number as "#row", l.action as "#action", l.target_id as "#id", l.target_key as "#key", l.before as "#before",
           l.after_hash as "#after", l.exact as "#exact", %s
      from iu_core.ingest_ledger l, jsonb_to_record(coalesce(l.target_key, '{}')) as x (%s)
     where l.upload_id = %L and l.type_order = %s and l.action <> 'delete'
  $sql$, v_slots, v_record, p_upload_id, p_type.type_order);
  analyze pg_temp.ingest_now;
  return v_match;
end $$;

-- Refuses to delete rows of one row type that other rows refer to, and returns how many it refused. Checks every foreign key to
-- the table, also cascading ones, which would silently delete rows of others. Internal.
create or replace function iu_core.fn_ingest_undo_dependents(p_type record) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reference record;
  v_refused bigint := 0;
  v_count bigint;
begin
  for v_reference in
    select c.conrelid::regclass as child,
           string_agg(format('f.%I = t.%I', fa.attname, ta.attname), ' and ') as on_key,
           has_table_privilege(c.conrelid, 'select') and not row_security_active(c.conrelid) as visible
      from pg_constraint c, unnest(c.conkey, c.confkey) as k (child_column, parent_column),
           pg_attribute fa, pg_attribute ta
     where c.contype = 'f' and c.conparentid = 0
       -- A key may point at the table, at the partitioned one that it belongs to, or at one of its partitions.
       and (c.confrelid = p_type.target
            or c.confrelid in (select relid from pg_partition_tree(p_type.target))
            or c.confrelid in (select relid from pg_partition_ancestors(p_type.target)))
       and fa.attrelid = c.conrelid and fa.attnum = k.child_column
       and ta.attrelid = c.confrelid and ta.attnum = k.parent_column
     group by c.oid, c.conrelid
  loop
    -- References that we may not read cannot be excluded.
    execute format($sql$
      update pg_temp.ingest_undo u
         set outcome = 'refused', reason = %1$L
        from %2$s t
       where u.type_order = %3$s and u.outcome = 'reversed' and u.action = 'insert'
         and t.tableoid = u.row_table and t.ctid = u.row_tid and %4$s
    $sql$,
      case when v_reference.visible then format('rows of %s depend on it', v_reference.child)
           else format('rows of %s may depend on it, and Stagedoor may not look', v_reference.child) end,
      iu_core.fn_ingest_table_sql(p_type.target), p_type.type_order,
      case when v_reference.visible then format($sql$
        exists (select from %1$s f where %2$s
                   and not exists (select from pg_temp.ingest_undo g
                                    where g.row_table = f.tableoid and g.row_tid = f.ctid and g.outcome = 'reversed'
                                      -- A row that is restored may have referred to another one before.
                                      and (g.action = 'insert' or not exists (
                                             select from jsonb_populate_record(null::%1$s, g.before) as f where %2$s))))
      $sql$, iu_core.fn_ingest_table_sql(v_reference.child), v_reference.on_key) else 'true' end);
    get diagnostics v_count = row_count;
    v_refused := v_refused + v_count;
  end loop;
  return v_refused;
end $$;

-- Totals, a sample of the rows that stay, and the digest of the decisions in `ingest_undo`. Internal.
create or replace function iu_core.fn_ingest_undo_summary(p_upload_id uuid, out totals jsonb, out stays jsonb, out digest text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  select coalesce(jsonb_object_agg(t.row_type, t.outcomes), '{}') into totals
    from (select row_type, jsonb_object_agg(outcome, rows) as outcomes
            from (select row_type, outcome, count(*) as rows from pg_temp.ingest_undo group by 1, 2) c group by 1) t;
  select coalesce(jsonb_agg(jsonb_build_object('row_type', s.row_type, 'line', s.row_number, 'target', s.target::text,
           'target_key', s.target_key, 'outcome', s.outcome, 'reason', s.reason) order by s.type_order, s.row_number), '[]')
    into stays
    from (select * from pg_temp.ingest_undo where outcome <> 'reversed' order by type_order, row_number limit 200) s;
  select encode(sha256(convert_to(p_upload_id::text || coalesce(
           string_agg(concat_ws(':', type_order, row_number, outcome), ',' order by type_order, row_number), ''), 'UTF8')), 'hex')
    into digest from pg_temp.ingest_undo;
end $$;

-- Undoes a promotion in one transaction: unchanged rows are restored or deleted, the others are kept and reported. With a
-- digest, only if the decisions are those of the preview. The reason is kept with the promotion; the event does not carry it.
create or replace function iu_core.fn_ingest_undo(
  p_upload_id uuid, p_digest text default null, p_undone_by text default null, p_reason text default null
)
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
  v_promotion iu_core.ingest_promotion;
  v_actor record;
  v_run uuid;
  v_summary record;
  v_type record;
  v_settings jsonb;
begin
  perform iu_core.require_member(iu_core.fn_ingest_upload_workspace(p_upload_id), 'review');
  perform iu_core.fn_gate_require('iu_core.staging_writes_enabled');
  v_actor := iu_core.fn_actor_for(p_undone_by);
  if length(p_reason) > 2000 then
    raise exception using errcode = 'SD001', message = 'The reason of an undo has at most 2,000 characters';
  end if;
  u := iu_core.fn_ingest_lock(p_upload_id, array['promoted'], 'undone');
  v_promotion := iu_core.fn_ingest_undo_require(p_upload_id);
  perform iu_core.fn_ingest_lock_tables(v_promotion.definition, u);
  v_settings := iu_core.fn_ingest_pin_text_settings();
  perform iu_core.fn_ingest_undo_decide(v_promotion, true);
  perform iu_core.fn_ingest_pin_text_settings(v_settings);
  select * into v_summary from iu_core.fn_ingest_undo_summary(p_upload_id);
  if p_digest is not null and p_digest <> v_summary.digest then
    raise exception using
      errcode = 'SD606',
      message = 'The undo differs from its preview: rows have changed since',
      hint = format('Look at the new preview, which `stagedoor upload undo %s` shows, and decide again.', p_upload_id),
      detail = json_build_object('upload', p_upload_id, 'reason', 'rows have changed since you looked at the undo')::text;
  end if;
  v_run := iu_core.fn_command_run_start('ingest.undo', v_summary.digest, u.workspace_id, p_undone_by);
  perform set_config('search_path', 'pg_catalog, public, pg_temp', true);
  for v_type in select * from iu_core.fn_ingest_undo_types(v_promotion) where target is not null loop
    perform iu_core.fn_ingest_undo_type(p_upload_id, v_type);
    perform iu_core.fn_ingest_snapshot_undo(p_upload_id, v_type);
  end loop;
  set constraints all immediate;
  update iu_core.ingest_ledger l set undo_outcome = d.outcome, undo_reason = d.reason
    from pg_temp.ingest_undo d
   where l.upload_id = p_upload_id and l.type_order = d.type_order and l.row_number = d.row_number;
  update iu_core.ingest_promotion
     set undone_by = v_actor.actor, undone_at = clock_timestamp(), undo_run_id = v_run, undo_totals = v_summary.totals,
         undo_reason = nullif(btrim(p_reason), '')
   where upload_id = p_upload_id returning * into v_promotion;
  update iu_core.ingest_upload set status = 'undone', ended_at = clock_timestamp() where upload_id = p_upload_id;
  perform iu_core.fn_ingest_cursor_restore(p_upload_id);
  -- Staged rows whose production row was reverted no longer refer to it. The upload still counts the rows that stay. What the promotion
  -- said of all rows of a type is true of some of them only.
  update iu_core.ingest_staged_row s
     set processing_action = case when d.outcome = 'reversed' then 'skipped'
                                  when i.all_inserted then 'insert' else s.processing_action end::public.staging_processing_action,
         target_internal_id = case when d.outcome = 'reversed' or d.row_type = any (v_promotion.keyed_types) then null
                                   when i.all_inserted then s.id else s.target_internal_id end,
         processed_at = coalesce(s.processed_at, v_promotion.promoted_at), updated_at = now()
    from pg_temp.ingest_undo d, lateral (select d.row_type = any (v_promotion.inserted_types)) as i (all_inserted)
   where s.upload_id = p_upload_id and s.row_type = d.row_type and s.row_number = d.row_number and (d.outcome = 'reversed' or i.all_inserted);
  update iu_core.ingest_promotion set inserted_types = '{}' where upload_id = p_upload_id returning * into v_promotion;
  perform iu_core.fn_ingest_notify_uploads_table(p_upload_id, 'undone',
    (select count(*) from pg_temp.ingest_undo where outcome <> 'reversed'));
  perform iu_core.fn_event_emit('staging', 'ingestion_undone',
    p_event_subject_ref => p_upload_id::text, p_canonical_address => 'client:' || u.client_id, p_workspace_id => u.workspace_id, p_actor => p_undone_by,
    p_safe_payload => jsonb_build_object('upload_id', p_upload_id, 'dataset', u.dataset, 'platform', u.platform,
      'client_id', u.client_id, 'totals', v_summary.totals)
      || iu_core.fn_ingest_date_range(u, v_promotion.definition));
  perform iu_core.fn_ingest_mark_plans(u);
  perform iu_core.fn_command_run_finish(v_run);
  return v_promotion;
end $$;

grant execute on function iu_core.fn_ingest_undo(uuid, text, text, text) to service_role, stagedoor_reviewer;

-- Restores updated rows and deletes inserted rows of one row type, as decided. If a trigger of the table skips a row, or a
-- constraint no longer allows the old row, the whole undo fails. Internal.
create or replace function iu_core.fn_ingest_undo_type(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  v_sets text;
  v_target text := iu_core.fn_ingest_table_sql(p_type.target);
  v_decided bigint;
  v_deleted bigint;
  v_restored bigint;
  v_reason text := 'a trigger left rows out';
  v_restores_first boolean;
  v_step text;
begin
  select count(*) into v_decided from pg_temp.ingest_undo where type_order = p_type.type_order and outcome = 'reversed' and action in ('insert', 'update');
  if v_decided = 0 then
    return;
  end if;
  -- Only what the image holds: a column that was added since keeps its value.
  -- Promotions of earlier versions stored no exact values: there a value that the image does not hold exactly (the text of a json,
  -- the null of a jsonb, the bounds of an array) stays if the promotion did not change it.
  select string_agg(format(case when atttypid = any (array['bool', 'int2', 'int4', 'int8', 'numeric', 'uuid', 'date', 'timestamp',
                                                            'timestamptz', 'bytea', 'text', 'varchar']::regtype[]) then '%1$I = %2$s'
           else '%1$I = case when not coalesce(u.exact ? %1$L, false) and coalesce(to_jsonb(t.%1$I), ''null'') = coalesce(u.before -> %1$L, ''null'') then t.%1$I else %2$s end' end,
         attname, iu_core.fn_ingest_image_value_sql(a, 'b', 'u.exact')), ', ') into v_sets
    from pg_attribute a
   where attrelid = p_type.target and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a'
     and (p_type.columns is null or attname = any (p_type.columns));
  -- The reverse of promotion, which inserts first: a row that was there may refer to a row that was inserted. Only where a unique
  -- value must be free before (a deferrable constraint) is what was inserted deleted first.
  foreach v_restores_first in array array[true, false] loop
    begin
      foreach v_step in array case when v_restores_first then array['update', 'insert'] else array['insert', 'update'] end loop
        perform iu_core.fn_ingest_undo_find_again(p_upload_id, p_type);
        if v_step = 'update' then
          execute format($sql$
            update %1$s t set %2$s
              from pg_temp.ingest_undo u, %3$s as b
             where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'update'
               and t.tableoid = u.row_table and t.ctid = u.row_tid
          $sql$, v_target, v_sets, iu_core.fn_ingest_image_sql(p_type.target, 'u.before', 'u.exact')) using p_type.type_order;
          get diagnostics v_restored = row_count;
        else
          execute format($sql$
            delete from %s t using pg_temp.ingest_undo u
             where u.type_order = $1 and u.outcome = 'reversed' and u.action = 'insert'
               and t.tableoid = u.row_table and t.ctid = u.row_tid
          $sql$, v_target) using p_type.type_order;
          get diagnostics v_deleted = row_count;
        end if;
      end loop;
      if v_deleted + v_restored = v_decided then
        return;
      end if;
      -- Rolls this attempt back.
      raise exception using errcode = 'raise_exception', message = v_reason;
    exception
      when unique_violation or exclusion_violation then
        get stacked diagnostics v_reason = message_text;
      when integrity_constraint_violation or data_exception or raise_exception then
        get stacked diagnostics v_reason = message_text;
        exit;
    end;
  end loop;
  raise exception using
    errcode = 'SD611',
    message = format('The table %s rejected the undo: %s', p_type.target, v_reason),
    detail = json_build_object('target', p_type.target::text, 'line', null, 'reason', v_reason)::text;
end $$;

-- Finds the rows of one row type again: triggers of what was undone before may have moved them (a parent's counter). Tables
-- without triggers are skipped. Internal.
create or replace function iu_core.fn_ingest_undo_find_again(p_upload_id uuid, p_type record) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_match text;
begin
  if not exists (select from pg_temp.ingest_undo u join pg_trigger g on g.tgrelid = u.target and not g.tgisinternal) then
    return;
  end if;
  v_match := iu_core.fn_ingest_undo_rows(p_upload_id, p_type);
  execute format($sql$
    update pg_temp.ingest_undo u set row_table = t.tableoid, row_tid = t.ctid
      from pg_temp.ingest_now n join %s t on %s
     where u.type_order = $1 and u.row_number = n."#row" and u.outcome = 'reversed'
  $sql$, iu_core.fn_ingest_table_sql(p_type.target), v_match) using p_type.type_order;
end $$;

-- Restores the cursor to the position before the promotion, so that the next pull fetches the removed rows again. If a later
-- pull has moved it since, it stays. Pulls that were undone meanwhile are skipped. Internal.
create or replace function iu_core.fn_ingest_cursor_restore(p_upload_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before jsonb;
  v_promotion iu_core.ingest_promotion;
begin
  perform from iu_core.ingest_cursor where upload_id = p_upload_id for update;
  if not found then
    return;
  end if;
  select cursor_before into v_before from iu_core.ingest_promotion where upload_id = p_upload_id;
  loop
    select * into v_promotion from iu_core.ingest_promotion where upload_id = (v_before ->> 'upload_id')::uuid;
    exit when v_before is null or v_promotion.undone_at is null;
    v_before := v_promotion.cursor_before;
  end loop;
  if v_before is null then
    delete from iu_core.ingest_cursor where upload_id = p_upload_id;
  else
    update iu_core.ingest_cursor
       set cursor_value = v_before -> 'value', upload_id = (v_before ->> 'upload_id')::uuid, committed_at = clock_timestamp()
     where upload_id = p_upload_id;
  end if;
end $$;
