-- The sha-256 of a plan: every row of it, in order, how it is to be promoted, and what a person who decides is shown of the
-- whole (its control totals). Internal.
create or replace function iu_core.fn_ingest_plan_digest(p_upload_id uuid, p_gate_mode text, p_threshold numeric, p_shown jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
-- In the order of the key by the key's own index: gathered first and then sorted it takes twice as long.
set enable_bitmapscan = off
set enable_seqscan = off
set enable_sort = off
as $$
  select encode(sha256(convert_to(concat_ws('|', p_upload_id, p_gate_mode, trim_scale(p_threshold), p_shown), 'UTF8')
                       || coalesce(string_agg(row_hash, ''), '')), 'hex')
    from (select row_hash from iu_core.ingest_plan_row where upload_id = p_upload_id order by type_order, row_number) r
$$;
