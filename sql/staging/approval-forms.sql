-- Forms of requests for approval: the fields that a reviewer fills in, and what was filled in.

-- A form as it is stored: [{"name", "label", "type", "required", "choices", "min", "max"}]; raises for one that nobody could fill in. Internal.
create or replace function iu_core.fn_approval_form(p_form jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field jsonb;
  v_problem text;
  v_fields jsonb := '[]';
begin
  if p_form is null or p_form = 'null' then
    return '[]';
  elsif jsonb_typeof(p_form) <> 'array' or jsonb_array_length(p_form) > 30 then
    raise exception using errcode = 'SD001', message = 'form is a list of at most 30 fields';
  end if;
  for v_field in select f from jsonb_array_elements(p_form) f loop
    v_problem := case
      when jsonb_typeof(v_field) <> 'object' then 'a field is an object'
      when exists (select from jsonb_object_keys(v_field) k where k not in ('name', 'label', 'type', 'required', 'choices', 'min', 'max'))
        then 'a field has name, label, type, required, choices, min and max'
      when coalesce(v_field ->> 'name', '') !~ '^[a-z][a-z0-9_]{0,62}$' then 'the name of a field is small letters, digits and _'
      when v_fields @> jsonb_build_array(jsonb_build_object('name', v_field -> 'name')) then 'two fields have this name'
      when coalesce(v_field ->> 'type', '') not in ('text', 'number', 'boolean', 'choice', 'date') then 'type must be text, number, boolean, choice or date'
      when v_field ? 'label' and (jsonb_typeof(v_field -> 'label') <> 'string' or length(v_field ->> 'label') not between 1 and 200) then 'a label has 1 to 200 characters'
      when v_field ? 'required' and jsonb_typeof(v_field -> 'required') <> 'boolean' then 'required is true or false'
      when v_field ->> 'type' = 'choice' and (jsonb_typeof(v_field -> 'choices') is distinct from 'array'
             or jsonb_array_length(v_field -> 'choices') not between 1 and 100
             or jsonb_path_exists(v_field -> 'choices', '$[*] ? (@.type() != "string")')
             or exists (select from jsonb_array_elements_text(v_field -> 'choices') c where length(c) not between 1 and 200)
             or (select count(distinct c) from jsonb_array_elements(v_field -> 'choices') c) < jsonb_array_length(v_field -> 'choices'))
        then 'a choice needs choices: 1 to 100 different texts'
      when v_field ->> 'type' <> 'choice' and v_field ? 'choices' then 'only a field of the type choice has choices'
      when (v_field ? 'min' or v_field ? 'max') and (v_field ->> 'type' not in ('number', 'text')
             or jsonb_typeof(coalesce(v_field -> 'min', '0')) <> 'number' or jsonb_typeof(coalesce(v_field -> 'max', '0')) <> 'number'
             or (v_field ->> 'min')::numeric > (v_field ->> 'max')::numeric)
        then 'min and max are numbers, of a number or of the length of a text' end;
    if v_problem is not null then
      raise exception using errcode = 'SD001', message = format('form, field %s: %s', coalesce(v_field ->> 'name', (jsonb_array_length(v_fields) + 1)::text), v_problem);
    end if;
    v_fields := v_fields || jsonb_build_array(jsonb_build_object('label', v_field -> 'name', 'required', false) || v_field);
  end loop;
  return v_fields;
end $$;

-- What of the answers does not fit the form: `amount must be at most 100`; empty: everything does. Internal.
create or replace function iu_core.fn_approval_answer_problems(p_form jsonb, p_answers jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select format('%s is not in the form', left(k, 100)) from jsonb_object_keys(p_answers) k where not p_form @> jsonb_build_array(jsonb_build_object('name', k))
    union all
    select x.problem
      from jsonb_array_elements(p_form) with ordinality as f (field, n),
           lateral (select f.field ->> 'name' as name, f.field ->> 'type' as type, p_answers -> (f.field ->> 'name') as value) v,
           lateral (select case
             when v.value is null or v.value = 'null' or v.value = '""' then case when (f.field ->> 'required')::boolean then format('%s is required', v.name) end
             when v.type in ('text', 'choice', 'date') and jsonb_typeof(v.value) <> 'string' then format('%s must be a text', v.name)
             when v.type = 'text' and length(v.value #>> '{}') > least(coalesce((f.field ->> 'max')::numeric, 10000), 10000)
               then format('%s has more than %s characters', v.name, least(coalesce((f.field ->> 'max')::numeric, 10000), 10000))
             when v.type = 'text' and length(v.value #>> '{}') < (f.field ->> 'min')::numeric then format('%s has fewer than %s characters', v.name, f.field ->> 'min')
             when v.type = 'choice' and not f.field -> 'choices' @> jsonb_build_array(v.value)
               then format('%s must be one of %s', v.name, (select string_agg(c, ', ') from jsonb_array_elements_text(f.field -> 'choices') c))
             when v.type = 'date' and not iu_core.fn_json_schema_has_format('date', v.value #>> '{}') then format('%s must be a date such as 2026-12-24', v.name)
             when v.type = 'number' and jsonb_typeof(v.value) <> 'number' then format('%s must be a number', v.name)
             when v.type = 'number' and v.value::text::numeric < (f.field ->> 'min')::numeric then format('%s must be at least %s', v.name, f.field ->> 'min')
             when v.type = 'number' and v.value::text::numeric > (f.field ->> 'max')::numeric then format('%s must be at most %s', v.name, f.field ->> 'max')
             when v.type = 'boolean' and jsonb_typeof(v.value) <> 'boolean' then format('%s must be true or false', v.name) end as problem) x
     where x.problem is not null)
$$;

-- Stores what a reviewer filled in with an approval that was recorded just now; raises if it does not fit the form, or differs from what an
-- earlier approval that stands was given for: two people have not approved the same thing then. Records of other kinds have no form. The
-- answers are those of fn_approval_approve; any other way of approving gives none. Internal: fn_iu_staging_approve.
create or replace function iu_core.fn_approval_store_answers(r iu_core.iu_staging_record, p_actor text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a iu_core.approval;
  v_given jsonb := nullif(current_setting('stagedoor.approval_answers', true), '')::jsonb;
  v_answers jsonb;
  v_problems text[];
  v_other record;
  v_review uuid;
begin
  if r.staging_kind <> 'approval' then
    return;
  end if;
  select * into a from iu_core.approval where staging_record_id = r.staging_record_id;
  v_answers := case when v_given ->> 'record' = r.staging_record_id::text then v_given -> 'answers' end;
  v_answers := coalesce(nullif(v_answers, 'null'), '{}');
  if jsonb_typeof(v_answers) <> 'object' or octet_length(v_answers::text) > 65536 then
    raise exception using errcode = 'SD001', message = 'The answers are one JSON object of at most 64 KiB';
  end if;
  v_problems := iu_core.fn_approval_answer_problems(a.form, v_answers);
  if v_problems <> '{}' then
    raise exception using errcode = 'SD685', message = format('The form is not filled in as it asks: %s', array_to_string(v_problems, '; ')),
      detail = json_build_object('record', r.staging_record_id, 'problems', v_problems)::text;
  end if;
  select jsonb_strip_nulls(v_answers) into v_answers;
  select o.reviewer, w.answers into v_other
    from iu_core.change c
    join iu_core.change_review o on o.change_id = c.change_id and o.verdict = 'approve' and o.dismissed_at is null
    join iu_core.approval_answer w on w.review_id = o.review_id
   where c.kind = 'record' and c.subject_id = r.staging_record_id and w.answers <> v_answers limit 1;
  if found then
    raise exception using errcode = 'SD686', message = format('%s approved this with other answers: %s', v_other.reviewer, v_other.answers),
      detail = json_build_object('record', r.staging_record_id, 'reviewer', v_other.reviewer)::text;
  end if;
  select o.review_id into v_review
    from iu_core.change c join iu_core.change_review o on o.change_id = c.change_id and o.verdict = 'approve' and o.dismissed_at is null
   where c.kind = 'record' and c.subject_id = r.staging_record_id and lower(o.reviewer) = lower(p_actor)
   order by o.review_id desc limit 1;
  insert into iu_core.approval_answer (review_id, staging_record_id, answers) values (v_review, r.staging_record_id, v_answers);
end $$;

create or replace trigger approval_answer_never_changes
  before update on iu_core.approval_answer
  for each row execute function iu_core.fn_refuse_change();
create or replace trigger approval_answer_is_not_truncated
  before truncate on iu_core.approval_answer
  for each statement execute function iu_core.fn_refuse_change();
