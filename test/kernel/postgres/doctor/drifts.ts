/** One of every kind of drift, as a statement that makes it, with what doctor must say of it and nothing more. */
import { expect } from 'vitest'
import type { Finding } from '../../../../src/kernel/postgres/doctor/doctor.ts'

type Drift = [what: string, statement: string, kind: Finding['kind'], object: string, problem: RegExp]

/** The partitions' names tell the month. */
const named = (pattern: RegExp) => expect.stringMatching(pattern) as unknown as string

export const DRIFTS: Drift[] = [
  // Missing
  [
    'a missing column',
    'alter table iu_core.event_outbox drop column actor_via',
    'missing',
    'column actor_via of table iu_core.event_outbox',
    /does not exist/,
  ],
  [
    'a missing constraint',
    'alter table iu_core.app_role drop constraint app_role_rights_known',
    'missing',
    'constraint app_role_rights_known of table iu_core.app_role',
    /does not exist/,
  ],
  [
    'a missing index, on a partitioned table too',
    'drop index iu_core.event_outbox_tx_seq',
    'missing',
    'index iu_core.event_outbox_tx_seq of table iu_core.event_outbox',
    /does not exist/,
  ],
  [
    'a missing policy',
    'drop policy event_outbox_member_reads on iu_core.event_outbox',
    'missing',
    'policy event_outbox_member_reads of table iu_core.event_outbox',
    /does not exist/,
  ],
  [
    'a missing trigger',
    'drop trigger dot_config_is_audited on iu_core.dot_config',
    'missing',
    'trigger dot_config_is_audited of table iu_core.dot_config',
    /does not exist/,
  ],
  [
    'a missing function',
    'drop function iu_core.fn_gate_set(text, boolean, text)',
    'missing',
    'function iu_core.fn_gate_set(text,boolean,text)',
    /does not exist/,
  ],
  [
    'a missing view',
    'drop view iu_core.v_event_partition',
    'missing',
    'view iu_core.v_event_partition',
    /does not exist/,
  ],
  // Drifted
  [
    'a function with another body',
    `create or replace function iu_core.fn_refuse_change() returns trigger language plpgsql
     set search_path = pg_catalog, pg_temp as 'begin return new; end'`,
    'drifted',
    'function iu_core.fn_refuse_change()',
    /another body/,
  ],
  [
    'a function whose settings changed',
    'alter function iu_core.require_member(uuid, text) reset search_path',
    'drifted',
    'function iu_core.require_member(uuid,text)',
    /settings nothing instead of search_path=pg_catalog, pg_temp/,
  ],
  [
    'a function that is no definer any more',
    'alter function iu_core.require_member(uuid, text) security invoker',
    'drifted',
    'function iu_core.require_member(uuid,text)',
    /definer nothing instead of true/,
  ],
  [
    'a view that shows something else under the same columns',
    `create or replace view iu_core.v_event_partition with (security_invoker = true) as
     select null::regclass as partition, now() as from_time, now() + interval '90 days' as to_time`,
    'drifted',
    'view iu_core.v_event_partition',
    /changed in the database after it had been applied/,
  ],
  [
    'a view that sees with the rights of its owner',
    'alter view iu_core.v_event_partition reset (security_invoker)',
    'drifted',
    'view iu_core.v_event_partition',
    /options nothing instead of security_invoker=true/,
  ],
  [
    'a column of another type',
    'alter table iu_core.event_reader alter column events_read type numeric',
    'drifted',
    'column events_read of table iu_core.event_reader',
    /type numeric instead of bigint/,
  ],
  [
    'a column that may be null',
    'alter table iu_core.event_outbox alter column actor drop not null',
    'drifted',
    'column actor of table iu_core.event_outbox',
    /not null nothing instead of true/,
  ],
  [
    'a column with another default',
    'alter table iu_core.event_outbox alter column created_at set default now()',
    'drifted',
    'column created_at of table iu_core.event_outbox',
    /default now\(\) instead of clock_timestamp\(\)/,
  ],
  [
    'a constraint that allows more',
    `alter table iu_core.dot_config drop constraint dot_config_value_boolean,
     add constraint dot_config_value_boolean check (true)`,
    'drifted',
    'constraint dot_config_value_boolean of table iu_core.dot_config',
    /CHECK \(true\) instead of CHECK/,
  ],
  [
    'a foreign key that is switched off',
    'alter table iu_core.job_rate disable trigger all',
    'drifted',
    'constraint job_rate_job_kind_fkey of table iu_core.job_rate',
    /switched off/,
  ],
  [
    'an index over other columns',
    `drop index public.workspace_members_user_id;
   create index workspace_members_user_id on public.workspace_members (role)`,
    'drifted',
    'index public.workspace_members_user_id of table public.workspace_members',
    /\(role\) instead of/,
  ],
  [
    'a policy that shows everything',
    'alter policy event_outbox_member_reads on iu_core.event_outbox using (true)',
    'drifted',
    'policy event_outbox_member_reads of table iu_core.event_outbox',
    /using true instead of/,
  ],
  [
    'a trigger that is switched off',
    'alter table iu_core.dot_config_audit disable trigger dot_config_audit_only_grows',
    'drifted',
    'trigger dot_config_audit_only_grows of table iu_core.dot_config_audit',
    /fires never/,
  ],
  [
    'a table that a crash would empty',
    'alter table iu_core.event_reader set unlogged',
    'drifted',
    'table iu_core.event_reader',
    /unlogged true instead of nothing/,
  ],
  // Owner
  [
    'a table of another owner',
    'alter table iu_core.event_reader owner to postgres',
    'owner',
    'table iu_core.event_reader',
    /belongs to postgres instead of workflow_admin/,
  ],
  [
    'a function of another owner',
    'alter function iu_core.fn_my_workspaces() owner to postgres',
    'owner',
    'function iu_core.fn_my_workspaces()',
    /belongs to postgres/,
  ],
  [
    'a schema of another owner',
    'alter schema noetl owner to postgres',
    'owner',
    'schema noetl',
    /belongs to postgres/,
  ],
  [
    'a view of another owner',
    'alter view iu_core.v_event_partition owner to postgres',
    'owner',
    'view iu_core.v_event_partition',
    /belongs to postgres/,
  ],
  // Grants
  [
    'a missing grant on a table',
    'revoke select on iu_core.event_outbox from authenticated',
    'grant',
    'table iu_core.event_outbox',
    /lacks SELECT for authenticated/,
  ],
  [
    'a missing grant on a function',
    'revoke execute on function iu_core.fn_actor() from authenticated',
    'grant',
    'function iu_core.fn_actor()',
    /lacks EXECUTE for authenticated/,
  ],
  [
    'a missing grant on a schema',
    'revoke usage on schema iu_core from service_role',
    'grant',
    'schema iu_core',
    /lacks USAGE for service_role/,
  ],
  [
    'a function that everybody may execute',
    'grant execute on function iu_core.fn_member_role(uuid, text) to public',
    'grant',
    'function iu_core.fn_member_role(uuid,text)',
    /gives EXECUTE to public/,
  ],
  [
    'a right to write where there should be one to read',
    'grant insert, delete on iu_core.event_outbox to authenticated',
    'grant',
    'table iu_core.event_outbox',
    /gives DELETE, INSERT to authenticated/,
  ],
  [
    'a right on one column',
    'grant update (value) on iu_core.dot_config to stagedoor_agent',
    'grant',
    'table iu_core.dot_config',
    /gives UPDATE \(value\) to stagedoor_agent/,
  ],
  [
    'a right that may be passed on',
    'grant select on iu_core.event_reader to service_role with grant option',
    'grant',
    'table iu_core.event_reader',
    /lacks SELECT for service_role and gives SELECT with grant option to service_role/,
  ],
  [
    'a right of the API login by itself',
    'grant select on public.workspaces to stagedoor_api',
    'grant',
    'table public.workspaces',
    /gives SELECT to stagedoor_api/,
  ],
  [
    'a right of anybody on a partition',
    `do $$ begin execute format('grant select on %s to authenticated',
     (select partition from iu_core.v_event_partition order by from_time limit 1)); end $$`,
    'grant',
    named(/^partition iu_core\.event_outbox_y\d{4}m\d\d$/),
    /gives SELECT to authenticated, past the policies/,
  ],
  // Row level security
  [
    'row level security that is off',
    'alter table iu_core.event_outbox disable row level security',
    'rls',
    'table iu_core.event_outbox',
    /row level security off/,
  ],
  [
    'row level security that binds the owner',
    'alter table public.workspace_members force row level security',
    'rls',
    'table public.workspace_members',
    /forces row level security on its owner/,
  ],
  [
    'row level security that is off on a partition',
    `do $$ begin execute format('alter table %s disable row level security',
     (select partition from iu_core.v_event_partition order by from_time limit 1)); end $$`,
    'rls',
    named(/^partition iu_core\.event_outbox_y/),
    /row level security off/,
  ],
  // Indexes
  [
    'an index that is not valid',
    "update pg_index set indisvalid = false where indexrelid = 'iu_core.event_reader_pkey'::regclass",
    'index',
    'index iu_core.event_reader_pkey',
    /not valid/,
  ],
  [
    'an index of a partition that is not valid',
    `update pg_index set indisvalid = false where indexrelid = (
     select i.inhrelid from pg_inherits i where i.inhparent = 'iu_core.event_outbox_pkey'::regclass
      order by 1 limit 1)`,
    'index',
    named(/^index iu_core\.event_outbox_y.*_pkey$/),
    /not valid/,
  ],
  // Unexpected
  [
    'a table that is not ours, said once',
    `create table iu_core.notes (id int primary key);
   create index on iu_core.notes (id); grant select on iu_core.notes to public`,
    'unexpected',
    'table iu_core.notes',
    /not part of Stagedoor/,
  ],
  [
    'a column that is not ours',
    'alter table iu_core.app_role add column colour text',
    'unexpected',
    'column colour of table iu_core.app_role',
    /not part/,
  ],
  [
    'a policy that is not ours',
    'create policy everything on public.workspaces using (true)',
    'unexpected',
    'policy everything of table public.workspaces',
    /not part/,
  ],
  [
    'a trigger that is not ours',
    `create trigger zz before insert on iu_core.event_outbox
     for each row execute function iu_core.fn_refuse_change()`,
    'unexpected',
    'trigger zz of table iu_core.event_outbox',
    /not part/,
  ],
  [
    'an overload beside a function of ours',
    "create function iu_core.fn_gate_open(p_gate int) returns boolean language sql as 'select true'",
    'unexpected',
    'function iu_core.fn_gate_open(integer)',
    /not part/,
  ],
  [
    'a view that is not ours',
    'create view noetl.v_all as select 1 as one',
    'unexpected',
    'view noetl.v_all',
    /not part/,
  ],
  [
    'a sequence that is not ours',
    'create sequence noetl.numbers',
    'unexpected',
    'sequence noetl.numbers',
    /not part/,
  ],
  [
    'a type that is not ours',
    "create type iu_core.colour as enum ('red')",
    'unexpected',
    'type iu_core.colour',
    /not part/,
  ],
  // Partitions ahead
  [
    'too few partitions ahead',
    `do $$ declare p record; begin
     for p in select partition from iu_core.v_event_partition where to_time > now() + interval '29 days'
                and from_time > now() loop
       execute format('drop table %s', p.partition);
     end loop; end $$`,
    'partitions',
    'table iu_core.event_outbox',
    /more days, and should have 30/,
  ],
  [
    'no partition for today',
    `do $$ declare p record; begin
     for p in select partition from iu_core.v_event_partition loop
       execute format('drop table %s', p.partition);
     end loop; end $$`,
    'partitions',
    'table iu_core.event_outbox',
    /no partition for today/,
  ],
]
