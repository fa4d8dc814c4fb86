/**
 * The audit of search: compares the points that stores hold with those that PostgreSQL records. Every collection is scrolled without a
 * filter, because a filter would hide exactly the wrong points. Our collections can be repaired; the old knowledge base is only reported
 * (VG-4, VA-7).
 */

import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Pool } from '../kernel/postgres/connection.ts'
import { allCollections, type Collection } from './collections.ts'
import { isProviderUnavailable, type SearchProviders } from './providers.ts'
import type { AuditedCollection, AuditFinding, AuditReport } from './shapes.ts'
import type { ScrolledPoint, VectorStore } from './stores/store.ts'

export type { AuditFinding, AuditReport } from './shapes.ts'

export type Finding = 'orphan' | 'ghost' | 'payload' | 'staging' | 'missing' | 'left'

interface AuditOptions {
  /** As a service: it reads staging ids, which vector_worker may not. */
  readonly pool: Pool
  /** As vector_worker: it reads the tables of the user. */
  readonly worker: Pool
  /** Their pool acts as vector_worker, to remove points. */
  readonly providers: SearchProviders
  readonly repair?: boolean
}

const MAX_FINDINGS = 10_000

export async function auditSearch(options: AuditOptions): Promise<AuditReport> {
  const { pool, repair = false } = options
  const collections: AuditedCollection[] = []
  const findings: AuditFinding[] = []
  for (const collection of await allCollections(pool)) {
    // A retired collection is dropped as a whole soon.
    if (collection.state === 'retired') continue
    const { found, ...audited } = await auditCollection(options, collection)
    collections.push(audited)
    findings.push(...found)
  }
  const { rows } = await pool.query<{ id: string; finding: 'missing' | 'left' }>(
    'select coalesce(unit_id, document_id) as id, finding from iu_core.fn_search_audit_text($1)',
    [repair],
  )
  for (const { id, finding } of rows) {
    const detail = finding === 'left' ? 'it was deleted or retired' : 'its current text is not in search'
    findings.push({ finding, collection: null, id, detail, repaired: repair })
  }
  findings.push(...(await auditTables(options)))
  return {
    ok: findings.length === 0 && collections.every(isAudited),
    collections,
    findings: findings.slice(0, MAX_FINDINGS),
  }
}

interface AuditedRow {
  readonly row_id: string
  readonly workspace_id: string
  readonly key: readonly string[]
}

/** Rows of tables without their text in search, and texts of rows that are gone: each table is read from begin to end. */
async function auditTables({ pool, worker, repair = false }: AuditOptions): Promise<AuditFinding[]> {
  // What the triggers told is pending work, and no finding.
  await pool.query('select iu_core.fn_search_rows_collect(true, 1000000)')
  const { rows: tables } = await pool.query<{ table_id: string; source: string }>(
    `select table_id, format('%I.%I', source_schema, source_table) as source
       from iu_core.search_table where state = 'active' and scan_state = 'done' order by code`,
  )
  const findings: AuditFinding[] = []
  for (const { table_id, source } of tables) {
    const found = [
      ...(await auditPages(worker, 'fn_search_audit_table', 'missing', table_id)),
      ...(await auditPages(worker, 'fn_search_audit_rows', 'left', table_id)),
    ]
    if (repair && found.length > 0)
      await pool.query('select iu_core.fn_search_audit_repair_rows($1, $2)', [
        table_id,
        JSON.stringify(found.map(({ row }) => row)),
      ])
    for (const { row, finding } of found) {
      const name = `${source} ${row.key.join(' ')}`
      const detail =
        finding === 'left' ? `${name}: the row is gone` : `${name}: its current text is not in search`
      findings.push({ finding, collection: null, id: row.row_id, detail, repaired: repair })
    }
  }
  return findings
}

async function auditPages(
  worker: Pool,
  page: 'fn_search_audit_table' | 'fn_search_audit_rows',
  finding: 'missing' | 'left',
  table: string,
): Promise<{ readonly row: AuditedRow; readonly finding: 'missing' | 'left' }[]> {
  const found: { readonly row: AuditedRow; readonly finding: 'missing' | 'left' }[] = []
  for (let after: unknown = null; ; ) {
    const { rows } = await worker.query<{ next: unknown; rows: AuditedRow[] | null }>(
      `select next, ${finding === 'left' ? 'leftover' : 'missing'} as rows from iu_core.${page}($1, $2)`,
      [table, after],
    )
    const { next, rows: wrong } = rows[0]!
    found.push(...(wrong ?? []).map((row) => ({ row, finding })))
    if (next === null || found.length >= MAX_FINDINGS) return found
    after = next
  }
}

/** Most installations have no old knowledge base; its row only says where it would be. */
function isAudited({ points, state }: AuditedCollection): boolean {
  return points !== null || state === 'legacy'
}

async function auditCollection(
  options: AuditOptions,
  collection: Collection,
): Promise<AuditedCollection & { found: AuditFinding[] }> {
  const { collection: name, state, store: kind } = collection
  const audited = { collection: name, state, store: kind }
  const began = new Date()
  const seen = new Set<string>()
  const found: Found[] = []
  let store: VectorStore
  try {
    store = options.providers.store(kind)
    for await (const page of scrollPages(store, name)) {
      for (const { id } of page) seen.add(id)
      found.push(...(await checkPage(options.pool, name, page)))
    }
  } catch (error) {
    if (!isProviderUnavailable(error)) throw error
    return { ...audited, points: null, problem: (error as Error).message, found: [] }
  }
  if (state !== 'legacy') found.push(...(await ghosts(options.pool, name, seen, began)))
  const repaired = options.repair === true && state !== 'legacy'
  if (repaired) await repair(options, name, store, found)
  return {
    ...audited,
    points: seen.size,
    found: found.map((one) => ({ ...one, collection: name, repaired })),
  }
}

interface Found {
  readonly id: string
  readonly finding: Finding
  readonly detail: string
}

async function* scrollPages(store: VectorStore, collection: string): AsyncGenerator<ScrolledPoint[]> {
  let after: string | undefined
  do {
    const { points, next } = await store.scroll(collection, after)
    if (points.length > 0) yield points
    after = next
  } while (after !== undefined)
}

async function checkPage(pool: Pool, collection: string, page: readonly ScrolledPoint[]): Promise<Found[]> {
  const { rows } = await pool.query<Found>(
    'select id, finding, detail from iu_core.fn_search_audit($1, $2)',
    [collection, JSON.stringify(page.map(({ id, payload }) => ({ id: String(id), payload })))],
  )
  return rows
}

/** Points recorded as written before the audit began, but missing in the store; and chunks that were never embedded. */
async function ghosts(
  pool: Pool,
  collection: string,
  seen: ReadonlySet<string>,
  began: Date,
): Promise<Found[]> {
  const { rows } = await pool.query<{ chunk_id: string; detail: string }>(
    `select chunk_id, 'it is recorded as written, but the store does not have it' as detail from iu_core.search_point
      where collection = $1 and state = 'written' and changed_at < $2
     union all
     select c.chunk_id, 'its text is indexed, but it has no vector'
       from iu_core.search_chunk c
       join iu_core.vector_outbox o on o.unit_id = c.unit_id and o.status = 'done' and o.changed_at < $2
       join iu_core.search_collection a on a.collection = $1 and a.state = 'active'
      where not exists (select from iu_core.search_point p where p.collection = $1 and p.chunk_id = c.chunk_id)
      order by chunk_id`,
    [collection, began],
  )
  return rows
    .filter(({ chunk_id }) => !seen.has(chunk_id))
    .map(({ chunk_id, detail }) => ({ id: chunk_id, finding: 'ghost', detail }))
}

async function repair(
  { pool }: AuditOptions,
  collection: string,
  store: VectorStore,
  found: readonly Found[],
): Promise<void> {
  const ids = (...kinds: Finding[]): string[] =>
    found.filter(({ finding }) => kinds.includes(finding)).map(({ id }) => id)
  const tooMany = ids('orphan', 'staging')
  if (tooMany.length > 0) await store.remove(collection, tooMany)
  const tooFew = ids('ghost', 'payload')
  if (tooMany.length + tooFew.length === 0) return
  // The scan was a while ago: a removed point may be wanted again by now.
  await pool.query('select iu_core.fn_search_audit_repair($1, $2, $3)', [
    collection,
    tooFew,
    // Only UUIDs can be our points.
    tooMany.filter((id) => UUID.test(id)),
  ])
}

const isNotConfigured = (error: unknown): boolean =>
  error instanceof StagedoorError && error.code === 'store_not_configured'

interface StagingInStores {
  readonly ok: boolean
  readonly detail: string
}

type StoreAudit = Pick<AuditOptions, 'pool' | 'providers'>

/** Whether any store, including the old knowledge base's, holds a point of staged data. */
export async function stagingInStores({ pool, providers }: StoreAudit): Promise<StagingInStores> {
  const staged: string[] = []
  const unavailable: string[] = []
  let points = 0
  for (const { collection, store, state } of await allCollections(pool)) {
    try {
      for await (const page of scrollPages(providers.store(store), collection)) {
        points += page.length
        const found = await checkPage(pool, collection, page)
        staged.push(
          ...found.filter(({ finding }) => finding === 'staging').map(({ id }) => `${id} in ${collection}`),
        )
      }
    } catch (error) {
      if (!isProviderUnavailable(error)) throw error
      // Most installations have no old knowledge base; its row only says where it would be.
      if (state !== 'legacy' || !isNotConfigured(error)) unavailable.push(collection)
    }
  }
  return { ok: staged.length + unavailable.length === 0, detail: detailOf(points, staged, unavailable) }
}

function detailOf(points: number, staged: readonly string[], unavailable: readonly string[]): string {
  if (staged.length > 0) return `points of staged data: ${staged.slice(0, 10).join(', ')}`
  const checked = `${points} points checked, none of them of staged data`
  return unavailable.length > 0 ? `${checked}; not checked: ${unavailable.join(', ')}` : checked
}
