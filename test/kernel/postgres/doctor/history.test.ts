import { expect, it } from 'vitest'
import { examine } from '../../../../src/kernel/postgres/doctor/doctor.ts'
import { migrate } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { useDatabases } from '../../../support/empty-database.ts'

const create = useDatabases()

it('says of an empty database that it is not migrated, and nothing else', async () => {
  const { url } = await create('empty')
  const report = await examine({ url })
  expect(report.ok).toBe(false)
  expect(report.findings[0]).toEqual({
    kind: 'migrations',
    object: 'migration 0001_foundation',
    problem: 'is not applied as this version has it',
    remedy: 'stagedoor migrate',
  })
  expect(new Set(report.findings.map(({ kind }) => kind))).toEqual(new Set(['migrations']))
  expect(report.notes).toContain('The objects are compared when the migrations are applied.')
})

it('finds a migration that is still to be applied', async () => {
  const { url, superuser } = await create('migrated')
  await superuser('delete from iu_core.schema_migration where version = 5')
  expect((await examine({ url })).findings.map(({ object }) => object)).toContain(
    'migration 0005_command_run',
  )
})

it('finds a migration of a newer version', async () => {
  const { url, superuser } = await create('migrated')
  await superuser(
    "insert into iu_core.schema_migration (version, name, checksum, duration_ms) values (9999, '9999_later', '', 0)",
  )
  expect((await examine({ url })).findings).toEqual([
    {
      kind: 'migrations',
      object: 'migration 9999_later',
      problem: 'was applied, and this version of Stagedoor does not know it',
      remedy: expect.stringContaining('Upgrade this installation'),
    },
  ])
})

it('finds a migration that was applied with another text, and compares all the same', async () => {
  const { url, superuser } = await create('migrated')
  await superuser("update iu_core.schema_migration set checksum = 'other' where version = 1")
  await superuser('alter table iu_core.app_role disable row level security')
  expect((await examine({ url })).findings.map(({ kind, object }) => [kind, object])).toEqual([
    ['migrations', 'migration 0001_foundation'],
    ['rls', 'table iu_core.app_role'],
  ])
})

it('finds routines that are to be applied or removed; migrate repairs both', async () => {
  const { url, superuser } = await create('migrated')
  await superuser(
    `update iu_core.schema_routine set hash = 'older' where object_name = 'fn_gate_set';
     insert into iu_core.schema_routine (file, kind, schema_name, object_name, hash, definition_hash)
     values ('gates/gates.sql', 'function', 'iu_core', 'fn_old', '', '');
     create function iu_core.fn_old() returns int language sql as 'select 1';
     alter function iu_core.fn_old() owner to workflow_admin`,
  )
  expect((await examine({ url })).findings.map(({ kind, object }) => [kind, object])).toEqual([
    ['migrations', 'function iu_core.fn_gate_set'],
    ['migrations', 'function iu_core.fn_old'],
  ])
  await migrate({ url })
  expect((await examine({ url })).findings).toEqual([])
})

it('does not take the words of another major version for a change', async () => {
  const { url, superuser } = await create('migrated')
  await superuser(
    "update iu_core.schema_routine set definition_hash = '14:' || repeat('0', 64) where kind = 'view'",
  )
  expect((await examine({ url })).findings).toEqual([])
})

it('finds that the owner may not create in public', async () => {
  const { url, superuser } = await create('migrated')
  await superuser('revoke all on schema public from workflow_admin')
  const [finding, ...more] = (await examine({ url })).findings
  expect(more).toEqual([])
  expect(finding).toEqual({
    kind: 'grant',
    object: 'schema public',
    problem: 'cannot be used by workflow_admin',
    remedy: 'grant usage, create on schema public to workflow_admin;',
  })
  await superuser(finding!.remedy)
  expect((await examine({ url })).ok).toBe(true)
})
