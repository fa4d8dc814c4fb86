-- Who is behind each entry of a mapping after a change: whoever acts for what they changed, added or took out, and for the rest who it
-- was before. Internal.
create or replace function iu_core.fn_ingest_mapping_by(p_by jsonb, p_old jsonb, p_new jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_by || coalesce(jsonb_object_agg(k, iu_core.fn_actor()), '{}')
    from (select jsonb_object_keys(p_old) union select jsonb_object_keys(coalesce(p_new, '{}'))) as keys (k)
   where (p_old -> k) is distinct from (p_new -> k)
$$;
