/**
 * What stores really hold, against what Postgres says they should. Every collection is scrolled without a filter: a filter would
 * hide exactly what is wrong. What is ours is repaired on command; the old knowledge base's is reported only (VG-4, VA-7).
 */

import type { Pool } from '../db/connection.ts'
import { UUID } from '../db/uuid.ts'
import { StagedoorError } from '../errors.ts'
import { allCollections, type Collection } from './collections.ts'
import type { Equipment } from './equipment.ts'
import type { ScrolledPoint, VectorStore } from './stores/store.ts'
import { isAway } from './writing.ts'

export type Finding = 'orphan' | 'ghost' | 'payload' | 'staging' | 'missing' | 'left'

export interface AuditFinding {
  readonly finding: Finding
  /** NULL: found in Postgres itself. */
  readonly collection: string | null
  /** Of the point, or of the unit or document. */
  readonly id: string
  readonly detail: string
  readonly repaired: boolean
}

export interface AuditedCollection {
  readonly collection: string
  readonly state: string
  readonly store: string
  /** That the store holds; NULL: it could not be asked. */
  readonly points: number | null
  readonly problem?: string
}

export interface AuditReport {
  /** Nothing was found, and every collection of ours was looked at. */
  readonly ok: boolean
  readonly collections: readonly AuditedCollection[]
  readonly findings: readonly AuditFinding[]
}

export interface AuditOptions {
  /** As a service: staging ids are looked up here, which the vector worker cannot. */
  readonly pool: Pool
  /** Its own pool acts as vector_worker where something is to be removed. */
  readonly equipment: Equipment
  readonly repair?: boolean
}

/** More would be no help to anybody. */
const MOST_FINDINGS = 10_000

export async function auditSearch(options: AuditOptions): Promise<AuditReport> {
  const { pool, repair = false } = options
  const collections: AuditedCollection[] = []
  const findings: AuditFinding[] = []
  for (const collection of await allCollections(pool)) {
    // What is retired is dropped as a whole, soon.
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
    const detail = finding === 'left' ? 'it was deleted or retired' : 'search has not its current text'
    findings.push({ finding, collection: null, id, detail, repaired: repair })
  }
  return {
    ok: findings.length === 0 && collections.every(isLookedAt),
    collections,
    findings: findings.slice(0, MOST_FINDINGS),
  }
}

/** Most have no old knowledge base, and its row only says where it would be. */
function isLookedAt({ points, state }: AuditedCollection): boolean {
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
    store = options.equipment.store(kind)
    for await (const page of scrolled(store, name)) {
      for (const { id } of page) seen.add(id)
      found.push(...(await judged(options.pool, name, page)))
    }
  } catch (error) {
    if (!isAway(error)) throw error
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

async function* scrolled(store: VectorStore, collection: string): AsyncGenerator<ScrolledPoint[]> {
  let after: string | undefined
  do {
    const { points, next } = await store.scroll(collection, after)
    if (points.length > 0) yield points
    after = next
  } while (after !== undefined)
}

async function judged(pool: Pool, collection: string, page: readonly ScrolledPoint[]): Promise<Found[]> {
  const { rows } = await pool.query<Found>(
    'select id, finding, detail from iu_core.fn_search_audit($1, $2)',
    [collection, JSON.stringify(page.map(({ id, payload }) => ({ id: String(id), payload })))],
  )
  return rows
}

/** What was written before we looked, and is still said to be there; and texts that nobody is about to embed. */
async function ghosts(
  pool: Pool,
  collection: string,
  seen: ReadonlySet<string>,
  began: Date,
): Promise<Found[]> {
  const { rows } = await pool.query<{ chunk_id: string; detail: string }>(
    `select chunk_id, 'Postgres says that it was written' as detail from iu_core.search_point
      where collection = $1 and state = 'written' and changed_at < $2
     union all
     select c.chunk_id, 'its text is in search, and it is not'
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
  // It was looked at a while ago: what is removed may be wanted there by now.
  await pool.query('select iu_core.fn_search_audit_repair($1, $2, $3)', [
    collection,
    tooFew,
    // Only such can be ours.
    tooMany.filter((id) => UUID.test(id)),
  ])
}

const isNotConfigured = (error: unknown): boolean =>
  error instanceof StagedoorError && error.code === 'store_not_configured'

export interface StagingInStores {
  readonly ok: boolean
  readonly detail: string
}

/** Whether any store, the old knowledge base's included, holds something of the staging zone. */
export async function stagingInStores({ pool, equipment }: AuditOptions): Promise<StagingInStores> {
  const named: string[] = []
  const away: string[] = []
  let points = 0
  for (const { collection, store, state } of await allCollections(pool)) {
    try {
      for await (const page of scrolled(equipment.store(store), collection)) {
        points += page.length
        const found = await judged(pool, collection, page)
        named.push(
          ...found.filter(({ finding }) => finding === 'staging').map(({ id }) => `${id} in ${collection}`),
        )
      }
    } catch (error) {
      if (!isAway(error)) throw error
      // Most have no old knowledge base, and its row only says where it would be.
      if (state !== 'legacy' || !isNotConfigured(error)) away.push(collection)
    }
  }
  return { ok: named.length + away.length === 0, detail: detailOf(points, named, away) }
}

function detailOf(points: number, named: readonly string[], away: readonly string[]): string {
  if (named.length > 0) return `points that name staged data: ${named.slice(0, 10).join(', ')}`
  const looked = `${points} points looked at, none of them of the staging zone`
  // What was not looked at is not proven.
  return away.length > 0 ? `${looked}; could not be looked at: ${away.join(', ')}` : looked
}
