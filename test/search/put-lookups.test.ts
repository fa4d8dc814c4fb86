/** A batch is put into search and completed by keys: what it reads does not grow with the tables. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { readSources, toPut } from '../../src/search/chunks.ts'
import { claimRows, finishRows, putSources } from '../../src/search/outbox.ts'
import { useDatabase } from '../support/database.ts'
import { useLife } from '../units/life.ts'

const db = useDatabase()
const life = useLife(db)
const UNITS = 60

async function createUnits(name: string): Promise<void> {
  const units = Array.from({ length: UNITS }, (_, n) => ({
    canonical_address: `${name}/${n}`,
    body: `Sail ${n} of ${name} is mended.`,
  }))
  await life.operator.session.query('select count(*) from iu_core.fn_unit_create_batch($1, $2)', [
    life.workspace,
    JSON.stringify(units),
  ])
  await db.owner("update iu_core.vector_outbox set earliest_run_at = now() where status = 'pending'")
}

/** Rows that were read one after the other, by table. */
async function scanned(client: Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    `select relname as name, seq_tup_read::integer as rows from pg_stat_xact_user_tables
      where relname in ('search_chunk', 'search_point', 'vector_outbox', 'information_unit', 'unit_version') and seq_tup_read > 0`,
  )
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]))
}

/** Without vectors: the rows stay due. */
async function putBatch(): Promise<Record<string, number>> {
  const pool = db.pool('stagedoor_worker')
  const worker = randomUUID()
  const client = await pool.connect()
  try {
    await client.query('set role vector_worker')
    const rows = await claimRows(client, worker, { limit: UNITS, leaseMs: 60_000 })
    expect(rows).toHaveLength(UNITS)
    const { sources } = await readSources(client, rows, { phase_3: true })
    await client.query('begin')
    // What the claim read is counted with it until the server writes it down.
    const before = await scanned(client)
    const planned = await putSources(client, worker, sources.map(toPut))
    expect(planned.filter(({ action }) => action === 'kept')).toHaveLength(UNITS)
    await finishRows(client, worker, rows)
    const after = await scanned(client)
    await client.query('commit')
    return Object.fromEntries(Object.entries(after).filter(([name, rows]) => rows !== before[name]))
  } finally {
    await client.query('reset role')
    client.release()
  }
}

it('whatever the planner knows of tables that were empty a moment ago', async () => {
  await createUnits('first')
  await putBatch()
  await db.owner(`update iu_core.vector_outbox set earliest_run_at = now() + interval '1 day'`)
  await createUnits('second')
  await db.owner(
    `update iu_core.vector_outbox set earliest_run_at = now() + interval '1 day'
      where unit_id in (select unit_id from iu_core.information_unit where canonical_address like 'first/%')`,
  )
  expect(await putBatch()).toEqual({})
})
