-- Kinds of what programs show for approval: a JSON Schema and a template, for each workspace, without a migration.

-- Creates a kind, or with p_replace its next revision. The same schema, template and description again change nothing. For administrators of
-- the workspace. Returns the current revision.
create or replace function iu_core.fn_approval_kind_set(
  p_workspace_id uuid, p_kind text, p_schema jsonb, p_template text default null, p_description text default null,
  p_replace boolean default false, p_by text default null
) returns iu_core.approval_kind
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
  v_last iu_core.approval_kind;
  v_flaw text;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  perform iu_core.fn_require_workspace(p_workspace_id);
  v_actor := iu_core.fn_actor_for(p_by);
  if p_workspace_id is null then
    raise exception using errcode = 'SD001', message = 'A kind belongs to a workspace: name one';
  elsif p_kind is null or p_kind !~ '^[a-z][a-z0-9_.:-]{0,62}$' then
    raise exception using errcode = 'SD001', message = format('%L cannot name a kind: at most 63 small letters, digits and _ . : -, beginning with a letter', p_kind);
  elsif exists (select from iu_core.iu_staging_kind_policy p where p.staging_kind = p_kind) then
    raise exception using errcode = 'SD001', message = format('%s is a staging kind of Stagedoor: choose another name', p_kind);
  elsif length(p_description) > 2000 or octet_length(p_template) > 65536 then
    raise exception using errcode = 'SD001', message = 'A description has at most 2,000 characters, a template at most 64 KiB';
  end if;
  perform iu_core.fn_json_schema_require(p_schema);
  v_flaw := iu_core.fn_approval_template_flaw(p_template);
  if v_flaw is not null then
    raise exception using errcode = 'SD681', message = format('The template cannot be used: %s', v_flaw),
      detail = json_build_object('reason', v_flaw)::text;
  end if;
  -- Of two that set the same kind the second one sees the revision of the first.
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.approval_kind:' || p_workspace_id || ':' || p_kind, 0));
  select * into v_last from iu_core.approval_kind where workspace_id = p_workspace_id and kind = p_kind order by revision desc limit 1;
  if v_last.deleted_at is null and (v_last.schema, v_last.template, v_last.description) is not distinct from (p_schema, p_template, p_description) then
    return v_last;
  elsif v_last.revision is not null and v_last.deleted_at is null and not coalesce(p_replace, false) then
    raise exception using errcode = 'SD682', message = format('The kind %s exists with another schema, template or description (revision %s)', p_kind, v_last.revision),
      detail = json_build_object('kind', p_kind, 'revision', v_last.revision)::text;
  end if;
  insert into iu_core.approval_kind (workspace_id, kind, revision, description, schema, template, created_by, created_via)
  values (p_workspace_id, p_kind, coalesce(v_last.revision, 0) + 1, p_description, p_schema, p_template, v_actor.actor, v_actor.via)
  returning * into v_last;
  return v_last;
end $$;

grant execute on function iu_core.fn_approval_kind_set(uuid, text, jsonb, text, text, boolean, text) to service_role, stagedoor_reviewer;

-- Deletes a kind: nobody can make a new request of it. Requests that were made keep their revision. For administrators.
create or replace function iu_core.fn_approval_kind_delete(p_workspace_id uuid, p_kind text, p_by text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor record;
begin
  perform iu_core.require_member(p_workspace_id, 'administer');
  v_actor := iu_core.fn_actor_for(p_by);
  perform pg_advisory_xact_lock(hashtextextended('stagedoor.approval_kind:' || p_workspace_id || ':' || p_kind, 0));
  update iu_core.approval_kind k set deleted_at = clock_timestamp(), deleted_by = v_actor.actor
   where k.workspace_id = p_workspace_id and k.kind = p_kind and k.deleted_at is null
     and k.revision = (select max(o.revision) from iu_core.approval_kind o where o.workspace_id = p_workspace_id and o.kind = p_kind);
  if not found then
    perform iu_core.fn_approval_kind_raise_missing(p_workspace_id, p_kind);
  end if;
end $$;

grant execute on function iu_core.fn_approval_kind_delete(uuid, text, text) to service_role, stagedoor_reviewer;

-- A revision keeps its schema and its template; only its deletion is written, once.
create or replace function iu_core.fn_approval_kind_guard() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE' or old.deleted_at is not null
     or (to_jsonb(old) - array['deleted_at', 'deleted_by']) <> (to_jsonb(new) - array['deleted_at', 'deleted_by']) then
    raise exception using errcode = 'SD002', message = 'A revision of a kind does not change: create the next one',
      detail = json_build_object('table', 'approval_kind', 'operation', tg_op)::text;
  end if;
  return new;
end $$;

create or replace trigger approval_kind_keeps_its_revisions
  before update or delete on iu_core.approval_kind
  for each row execute function iu_core.fn_approval_kind_guard();

-- Raises the error for a kind that is not there, with the kinds that are. Internal.
create or replace function iu_core.fn_approval_kind_raise_missing(p_workspace_id uuid, p_kind text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'SD683', message = format('There is no kind %s in this workspace', coalesce(p_kind, 'NULL')),
    detail = json_build_object('kind', p_kind)::text,
    hint = coalesce((select 'There are: ' || string_agg(k.kind, ', ' order by k.kind)
                       from (select distinct on (o.kind) o.kind, o.deleted_at from iu_core.approval_kind o
                              where o.workspace_id = p_workspace_id order by o.kind, o.revision desc) k where k.deleted_at is null),
                    'There is none yet: an administrator creates one with `stagedoor kind create`.');
end $$;

-- What is wrong with a template; NULL: nothing. A template is Markdown with {{path}} and nothing else in braces. Internal.
create or replace function iu_core.fn_approval_template_flaw(p_template text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_template is null then null
    when p_template !~ '\S' then 'it is empty'
    when (select count(*) from regexp_matches(p_template, '\{\{', 'g')) > 200 then 'it has more than 200 placeholders'
    when regexp_replace(p_template, '\{\{\s*[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+){0,20}\s*\}\}', '', 'g') ~ '\{\{|\}\}'
      then format('%s is no placeholder; write {{name}} or {{customer.address.city}}',
                  left(substring(regexp_replace(p_template, '\{\{\s*[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+){0,20}\s*\}\}', '', 'g') from '(?:\{\{|\}\}).{0,40}'), 60))
  end
$$;

-- Shows a payload through a template: each {{path}} is replaced by its value, whose characters mean nothing in Markdown any more; – where there
-- is none. Internal.
create or replace function iu_core.fn_approval_render(p_template text, p_payload jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rest text := p_template;
  v_shown text := '';
  v_found text[];
  v_value jsonb;
begin
  loop
    v_found := regexp_match(v_rest, '^(.*?)\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}(.*)$');
    exit when v_found is null;
    v_value := p_payload #> string_to_array(v_found[2], '.');
    v_shown := v_shown || v_found[1] || case
      when v_value is null or v_value = 'null' then '–'
      -- Every punctuation character may be escaped in Markdown; a line break would begin a new block.
      else regexp_replace(regexp_replace(v_value #>> '{}', '([!-/:-@\[-`{-~])', '\\\1', 'g'), '\s*[\n\r]+\s*', ' ↵ ', 'g') end;
    v_rest := v_found[3];
    if length(v_shown) > 1000000 then
      raise exception using errcode = 'SD684', message = 'What the template shows of this payload has more than 1,000,000 characters',
        detail = json_build_object('problems', json_build_array('/ is shown as more than 1,000,000 characters'))::text;
    end if;
  end loop;
  return v_shown || v_rest;
end $$;

-- The kinds of each workspace with their current revision, without those that were deleted.
create or replace view iu_core.v_approval_kind with (security_invoker = true) as
select k.workspace_id, k.kind, k.revision, k.description, k.schema, k.template, k.created_by, k.created_via, k.created_at
  from (select distinct on (o.workspace_id, o.kind) o.* from iu_core.approval_kind o order by o.workspace_id, o.kind, o.revision desc) k
 where k.deleted_at is null;

grant select on iu_core.v_approval_kind to authenticated, service_role, dot_executor, stagedoor_agent, stagedoor_reviewer;
