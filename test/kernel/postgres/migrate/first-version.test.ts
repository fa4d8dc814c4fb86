/** Data that the first version accepted and later ones refuse: the migrations that came since take it. */
import { expect, it } from 'vitest'
import { readSqlFiles } from '../../../../src/kernel/postgres/migrate/files.ts'
import { migrate } from '../../../../src/kernel/postgres/migrate/migrate.ts'
import { useDatabases } from '../../../support/empty-database.ts'

const createDatabase = useDatabases()
/** The last migration of version 0.1. */
const FIRST_VERSION = 17
const OURS = '00000000-0000-7000-8000-00000000000a'
const THEIRS = '00000000-0000-7000-8000-00000000000b'
const UPLOAD = '00000000-0000-7000-8000-000000000001'
const ROW = '00000000-0000-7000-8000-0000000000ff'
const DEFINITION = {
  platforms: { meta: {} },
  rows: [{ name: 'campaign', identity: { id: 'campaign_id' } }, { name: 'daily_metric' }],
}

it('staged rows of others, under one id, and resolutions of figures', async () => {
  const database = await createDatabase()
  const files = readSqlFiles()
  const migrations = files.migrations.filter(({ version }) => version <= FIRST_VERSION)
  await migrate({ url: database.url, files: { migrations, routines: [], afterMigrate: '' } })
  await database.superuser(
    `insert into iu_core.ingest_dataset (dataset, title, version, definition, registered_by) values ('ads', 'Ads', 1, $1, 'x')`,
    [DEFINITION],
  )
  await database.superuser(
    `insert into iu_core.ingest_upload (upload_id, workspace_id, client_id, dataset, platform, file_name, file_hash, byte_len, status, ended_at, uploaded_by, changed_by)
     values ($1, $2, $2, 'ads', 'meta', 'x.csv', repeat('0', 64), 1, 'discarded', now(), 'x', '{}')`,
    [UPLOAD, OURS],
  )
  await database.superuser(
    `insert into iu_core.ingest_row_type values ('meta', 'campaign'), ('meta', 'daily_metric'), ('meta', 'gone')`,
  )
  const row = (workspace: string, platform: string, line: number) =>
    database.superuser(
      `insert into public.staging_rows (id, upload_id, workspace_id, client_id, platform, row_type, row_number, raw_payload, normalized_payload,
                                          validation_status, processing_action, processed_at)
       values ($1, $2, $3, $4, $5, 'daily_metric', $6, '{"Spend": "1,50"}', '{"spend": 1.50}', 'valid', 'insert', '2026-11-09')`,
      [ROW, UPLOAD, workspace, OURS, platform, line],
    )
  await row(OURS, 'meta', 2)
  await row(OURS, 'meta', 3)
  await row(THEIRS, 'meta', 4)
  await row(OURS, 'snapchat', 5)
  for (const type of ['campaign', 'daily_metric', 'gone'])
    await database.superuser(
      `insert into public.staging_id_resolution (upload_id, workspace_id, client_id, platform, entity_type, external_id)
       values ($1, $2, $2, 'meta', $3, 'x')`,
      [UPLOAD, OURS, type],
    )

  await migrate({ url: database.url })

  const rows = await database.superuser<{ id: string; row_number: number }>(
    'select id, row_number from public.staging_rows order by row_number',
  )
  expect(
    await database.superuser(
      `select raw_payload, normalized_payload::text, validation_status, processing_action, processed_at::date::text
         from public.staging_rows where row_number = 2`,
    ),
  ).toEqual([
    {
      raw_payload: { Spend: '1,50' },
      normalized_payload: '{"spend": 1.50}',
      validation_status: 'valid',
      processing_action: 'insert',
      processed_at: '2026-11-09',
    },
  ])
  expect(rows.map((one) => one.row_number)).toEqual([2, 3])
  expect(rows[0]!.id).toBe(ROW)
  expect(rows[1]!.id).not.toBe(ROW)
  const types = await database.superuser<{ type: string; resolved: boolean }>(
    `select t.entity_type as type, exists (select from public.staging_id_resolution r where r.entity_type = t.entity_type) as resolved
       from iu_core.ingest_entity_type t order by 1`,
  )
  expect(types).toEqual([
    { type: 'campaign', resolved: true },
    { type: 'gone', resolved: true },
  ])
})

it('playbooks whose retries name their longest backoff as they did then', async () => {
  const database = await createDatabase()
  const files = readSqlFiles()
  const migrations = files.migrations.filter(({ version }) => version <= FIRST_VERSION)
  await migrate({ url: database.url, files: { migrations, routines: [], afterMigrate: '' } })
  const written = (name: string) => ({
    name: 'calls',
    steps: [{ step: 'call', retry: { max_attempts: 3, [name]: 5000 } }],
  })
  await database.superuser(
    `insert into noetl.catalog (catalog_id, path, version, content, payload, digest, registered_by)
     values (1, 'calls', 1, 'retry: { backoff_most: 5s }', $1, '\\x00', 'x')`,
    [written('backoff_most_ms')],
  )

  await migrate({ url: database.url })

  expect(await database.superuser('select content, payload from noetl.catalog')).toEqual([
    { content: 'retry: { backoff_most: 5s }', payload: written('max_backoff_ms') },
  ])
})
