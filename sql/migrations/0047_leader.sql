-- Work that one process of all does: who leads it, and until when. Lost in a crash of the server; the processes settle it anew.
create unlogged table iu_core.leader (
  name text primary key constraint leader_name_known check (name ~ '^[a-z][a-z.]{0,62}$'),
  holder uuid not null,
  process text not null,
  epoch bigint not null default 1,
  since timestamptz not null default clock_timestamp(),
  leased_until timestamptz not null
) with (fillfactor = 50);
alter table iu_core.leader enable row level security;
create policy leader_service_reads on iu_core.leader for select to service_role, dot_executor using (true);
grant select on iu_core.leader to service_role, dot_executor;

-- An engine that only runs commands makes no ids, so it takes none of the 1,023 node numbers.
alter table noetl.engine alter column node_number drop not null;
alter table noetl.engine add constraint engine_driver_has_node check (node_number is not null or not drives);
