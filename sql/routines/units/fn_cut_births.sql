-- The units of a plan that are not there yet: new pieces, and drafts beside a unit that is locked or gone. Internal.
create or replace function iu_core.fn_cut_births(
  p_workspace_id uuid,
  p_document jsonb,
  p_source bytea,
  p_plan jsonb,
  p_actor text
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
begin
  perform from iu_core.fn_unit_birth(p_workspace_id, (
    select coalesce(jsonb_agg(jsonb_build_object(
             'unit_id', p.unit_id, 'canonical_address', p.unit_address, 'unit_kind', p.kind, 'title', p.title,
             'body', convert_from(substr(p_source, p."from" + 1, p."to" - p."from"), 'UTF8'),
             'language', p_document ->> 'language', 'source_ref', p_document ->> 'source_ref',
             'container_id', p.container_id, 'position', p.number,
             'profile', case when p.topics = '[]' then '{}' else jsonb_build_object('topic_labels', p.topics) end,
             'supersedes', p.replaces_id) order by p."position"), '[]')
      from iu_core.fn_cut_planned(p_plan) p
     where p.what in ('born', 'successor')), p_actor);
end $$;
