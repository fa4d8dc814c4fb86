-- The digest of a part's bytes as the database holds them: JSON in its canonical text, or the text. NULL for a blob,
-- whose bytes are elsewhere. Internal. (fn_iu_staging_json_digest makes the same of JSON that has only just come, and
-- looks at it first.)
create or replace function iu_core.fn_iu_staging_payload_hash(p_payload_json jsonb, p_payload_text text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return encode(sha256(convert_to(coalesce(p_payload_json::text, p_payload_text), 'UTF8')), 'hex');
end $$;
