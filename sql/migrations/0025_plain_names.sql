-- Triggers with plain names. Their functions keep theirs, so that no routine drops them: renamed where an earlier version made them,
-- and made under the new name by the routines of a new database.
do $$
declare
  v_trigger record;
begin
  for v_trigger in
    select t.tgrelid::regclass as relation, t.tgname, renamed.new_name
      from (values
              ('information_unit_keeps_its_word', 'information_unit_is_guarded'),
              ('unit_check_is_the_checkers', 'unit_check_is_written_by_checker'),
              ('search_collection_of_the_old_stays', 'search_collection_legacy_is_read_only'),
              ('kb_document_of_the_old_stays', 'kb_document_legacy_is_read_only')) as renamed (old_name, new_name)
      join pg_catalog.pg_trigger t on t.tgname = renamed.old_name
      join pg_catalog.pg_class c on c.oid = t.tgrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'iu_core'
  loop
    execute format('alter trigger %I on %s rename to %I', v_trigger.tgname, v_trigger.relation, v_trigger.new_name);
  end loop;
end $$;
