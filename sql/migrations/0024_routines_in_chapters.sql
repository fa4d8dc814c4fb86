-- A file of routines holds several of them, so the file no longer identifies one.
alter table iu_core.schema_routine
  drop constraint schema_routine_pkey,
  drop constraint schema_routine_one_file_each,
  add constraint schema_routine_pkey primary key (kind, schema_name, object_name);
