-- The topics that a unit shall have: a list of distinct labels of the vocabulary, its workspace's or everybody's. One that was
-- retired stays where it is, but is not given any more. Internal: the triggers of information_unit call it, so that it holds
-- for everybody.
create or replace function iu_core.fn_unit_topics_check(p_workspace_id uuid, p_old jsonb, p_new jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text[];
begin
  if p_new is null then
    return;
  end if;
  if jsonb_typeof(p_new) <> 'array' or p_new @? '$[*] ? (@.type() != "string")' then
    raise exception using errcode = 'SD001', message = 'topic_labels is a JSON array of strings';
  end if;
  v_unknown := array(
    select n.label from jsonb_array_elements_text(p_new) with ordinality as n (label, position)
     where not coalesce(p_old ? n.label, false)
       and not exists (select from iu_core.topic_vocabulary t
                        where t.topic_label = n.label and t.retired_at is null
                          and (t.workspace_id = p_workspace_id or t.workspace_id is null))
     order by n.position limit 20);
  if v_unknown <> '{}' then
    raise exception using
      errcode = 'SD907',
      message = 'Not in the topic vocabulary, or retired: ' || array_to_string(v_unknown, ', '),
      detail = json_build_object('topics', array_to_string(v_unknown, ', '))::text;
  end if;
  if (select count(distinct label) <> count(*) from jsonb_array_elements_text(p_new) label) then
    raise exception using errcode = 'SD001', message = 'topic_labels names a topic twice';
  end if;
end $$;
