-- Arrays that belong together have the same length, and no id twice. Internal.
create or replace function iu_core.fn_job_arrays_check(p_jobs uuid[], p_epochs integer[], p_others integer default null) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_jobs is null or p_epochs is null or cardinality(p_jobs) <> cardinality(p_epochs)
     or p_others is not null and p_others <> cardinality(p_jobs) then
    raise exception using errcode = 'SD001', message = 'Jobs, epochs and what is said of them are arrays of the same length';
  end if;
  if exists (select from unnest(p_jobs) j group by j having count(*) > 1) then
    raise exception using errcode = 'SD001', message = 'A job is named once: only one thing can be said of it';
  end if;
end $$;
