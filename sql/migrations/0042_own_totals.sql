-- What a file's own totals say, compared with the sums of its lines.

alter table iu_core.ingest_upload add column own_totals jsonb
  constraint ingest_upload_own_totals_form check (jsonb_typeof(own_totals) = 'object');
comment on column iu_core.ingest_upload.own_totals is
  'lines of the file that sum up others, compared with the lines (fn_ingest_own_totals); NULL: there are none, or they are not compared yet';
