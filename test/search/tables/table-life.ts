/** Tables of somebody in search, brought as far as a test needs: registered, reviewed by a second person, active and read. */
import type pg from 'pg'
import pino from 'pino'
import { collectChanges } from '../../../src/search/table-rows.ts'
import {
  activateSearchTable,
  dryRunSearchTable,
  type NewSearchTable,
  registerSearchTable,
  reviewSearchTable,
} from '../../../src/search/tables.ts'
import type { TestDatabase } from '../../support/database.ts'
import { MIGRATOR } from '../../support/template.ts'
import type { Projecting } from '../projection-workplace.ts'

/** What the owner of a table runs before it can be searched. */
export async function allowSearch(owner: pg.Client, ...tables: string[]): Promise<void> {
  for (const table of tables)
    await owner.query(
      `grant trigger on ${table} to workflow_admin; grant select on ${table} to vector_worker`,
    )
}

/** Registered and in dry run. */
export async function rehearse(db: TestDatabase, table: NewSearchTable): Promise<string> {
  const code = await registerSearchTable(db.pool(MIGRATOR), table)
  await dryRunSearchTable(db.pool(MIGRATOR), code)
  return code
}

/** A second person reviews and activates it. */
export async function approve(db: TestDatabase, code: string, person = 'second-person'): Promise<void> {
  await db.as({ role: 'service_role', claims: { sub: person } }, async (client) => {
    await reviewSearchTable(client, code)
    await activateSearchTable(client, code)
  })
}

/** Active; nothing is read yet. */
export async function activate(db: TestDatabase, table: NewSearchTable): Promise<string> {
  const code = await rehearse(db, table)
  await approve(db, code)
  return code
}

const log = pino({ level: 'silent' })

/** Everything that a worker would do: scans, changes, projection. */
export async function settleTables(place: Projecting): Promise<void> {
  for (let rounds = 0; rounds < 1000; rounds++) {
    const progress = await collectChanges(place.pool, log)
    await place.settle()
    if (progress !== 'busy') return
  }
  throw new Error('the scan of a table does not end')
}
