-- Refuses a manifest that could not be cut. Told by its parts: the first is the manifest, the second the text that it divides.
-- p_alone: the manifest is the only part, and its document is given to the cut; until then its form is looked at.
-- Asked when it is staged, so that nobody reviews what cannot be used, and again when it is cut. Internal.
create or replace function iu_core.fn_mark_manifest_require(
  p_manifest jsonb,
  p_source text,
  p_workspace_id uuid,
  p_alone boolean default false
) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problems jsonb;
  v_reason text;
begin
  v_problems := case
    when p_workspace_id is null then '[{"code": "workspace", "message": "Units belong to a workspace, this record to none"}]'
    when p_manifest is null then '[{"code": "schema", "message": "Part 0 is not a JSON part called manifest"}]'
    when p_source is null and p_alone then iu_core.fn_mark_manifest_form(p_manifest)
    when p_source is null then '[{"code": "schema", "message": "Part 1 is not a text part called source"}]'
    else iu_core.fn_mark_manifest_check(p_manifest, p_source, p_workspace_id) end;
  if v_problems = '[]' then
    return;
  end if;
  v_reason := concat_ws(': ', v_problems -> 0 ->> 'piece', v_problems -> 0 ->> 'message')
    || case when jsonb_array_length(v_problems) > 1 then format(', and %s more', jsonb_array_length(v_problems) - 1) else '' end;
  raise exception using
    errcode = 'SD909',
    message = 'The manifest cannot be used: ' || v_reason,
    hint = case when v_problems @> '[{"code": "address_taken"}]'
             then 'If it is that document, mark it under the source_ref that it was cut with (--source-ref); if it is another one, give it an address of its own (--address).'
             else 'docs/reference/mark-manifest.schema.json says what a manifest holds; `stagedoor mark FILE` makes a good one.' end,
    detail = json_build_object('reason', v_reason, 'problems', jsonb_path_query_array(v_problems, '$[0 to 19]'))::text;
end $$;
