-- The dataset of an upload, kept from being registered anew until the end of the transaction, if it still is what the lines
-- were read and checked by. Settled by what it says, not by clocks. Internal.
create or replace function iu_core.fn_ingest_as_read(p_upload iu_core.ingest_upload) returns iu_core.ingest_dataset
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dataset iu_core.ingest_dataset;
begin
  select * into v_dataset from iu_core.ingest_dataset where dataset = p_upload.dataset for share;
  if v_dataset.definition_digest is distinct from p_upload.reading ->> 'definition_digest' then
    raise exception using
      errcode = 'SD606',
      message = format('The dataset %s was registered anew since this file was read', p_upload.dataset),
      hint = 'Discard the upload and upload the file again: it is then read by the dataset as it is now.',
      detail = json_build_object('upload', p_upload.upload_id, 'reason', 'its dataset was registered anew since the file was read')::text;
  end if;
  return v_dataset;
end $$;
