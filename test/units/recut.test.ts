/** A document that changed is cut again, and exactly what changed is touched. */
// @module-tag property
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import {
  type Change,
  ChangingDocument,
  changes,
  type Expected,
  expected,
  type Section,
  textOf,
} from './changing-document.ts'
import { approved, cut, enact, type UnitRow, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
})

const snapshot = (sourceRef: string) => unitsOf(db.pool('postgres'), place.workspace, sourceRef)

/** Two sections of the same text are the same to everybody, and which is the new one nobody can say. */
const hasTwin = (section: Section, others: readonly Section[]) =>
  others.some(
    (other) =>
      other !== section &&
      [other.cutText, textOf(other)].some((text) => text === section.cutText || text === textOf(section)),
  )

/** What the model knows of its sections after a cut: where their units are, and in what state. */
function remember(
  document: ChangingDocument,
  addresses: readonly string[],
  units: ReadonlyMap<string, UnitRow>,
): void {
  document.sections.forEach((section, index) => {
    section.address = addresses[index]!
    section.cutText = textOf(section)
    section.enacted = units.get(section.address)!.status === 'enacted'
    section.successor = [...units.values()].some(
      ({ supersedes, status }) => supersedes === section.address && status === 'draft',
    )
  })
  document.forgetDeleted()
}

/** Sections inside of those before them, as the units are. */
function treeOf(document: ChangingDocument): [string, string][] {
  let above = 'root'
  return document.sections.map(({ depth, address }) => {
    const container = depth === 2 ? 'root' : above
    if (depth === 2) above = address!
    return [container, address!]
  })
}

async function unitTree(sourceRef: string): Promise<[string, string][]> {
  const { rows } = await db.pool('postgres').query<{ container: string; address: string }>(
    `select distinct on (m.position) coalesce(c.piece_address, 'root') as container, m.piece_address as address
       from iu_core.kb_document d
       join iu_core.kb_unit_map m on m.document_id = d.document_id and m.dropped_at is null
       join iu_core.information_unit u on u.unit_id = m.unit_id and u.lifecycle_status in ('draft', 'enacted') and u.deleted_at is null
       left join iu_core.kb_unit_map c on c.document_id = d.document_id and c.unit_id = u.container_id
      where d.workspace_id = $1 and d.source_ref = $2 order by m.position, u.created_at`,
    [place.workspace, sourceRef],
  )
  return rows.slice(1).map(({ container, address }) => [container, address])
}

/** Of each container the order of its pieces by the units' own positions. */
async function unitOrder(sourceRef: string): Promise<Record<string, string[]>> {
  const { rows } = await db.pool('postgres').query<{ container: string; addresses: string[] }>(
    `select coalesce(c.piece_address, 'root') as container, array_agg(m.piece_address order by u.position, u.unit_id) as addresses
       from iu_core.kb_document d
       join iu_core.kb_unit_map m on m.document_id = d.document_id and m.dropped_at is null and m.position > 1
       join iu_core.information_unit u on u.unit_id = m.unit_id and u.lifecycle_status in ('draft', 'enacted') and u.deleted_at is null
       left join iu_core.kb_unit_map c on c.document_id = d.document_id and c.unit_id = u.container_id
      where d.workspace_id = $1 and d.source_ref = $2 group by 1`,
    [place.workspace, sourceRef],
  )
  return Object.fromEntries(rows.map(({ container, addresses }) => [container, [...new Set(addresses)]]))
}

function orderOf(tree: readonly [string, string][]): Record<string, string[]> {
  const order: Record<string, string[]> = {}
  for (const [container, address] of tree) order[container] = [...(order[container] ?? []), address]
  return order
}

async function live(sequence: readonly Change[]): Promise<void> {
  documents += 1
  const sourceRef = `handbook-${documents}.md`
  const document = new ChangingDocument(10)
  for (const change of [{ do: 'nothing' } as const, ...sequence]) {
    const untwinned = document.untwin()
    if (change.do === 'enact' && !untwinned) {
      const section = document.sections[change.at % document.sections.length]!
      if (!section.enacted) await enact(place, section.address!)
      section.enacted = true
    } else if (!untwinned) document.apply(change)
    const before = await snapshot(sourceRef)
    const wanted = expected(document)
    const { mayHaveComeBack } = document
    const staged = await approved(place, document.text, { sourceRef })
    const done = await cut(place, staged)
    const { run_id, document_id, units: touched, ...counts } = done
    if (before.size === 0) Object.assign(wanted, { created: wanted.created + 1, unchanged: 0 })
    const together = (of: Expected): Expected => {
      if (untwinned) return { ...of, versioned: of.versioned + of.successors, successors: 0 }
      if (mayHaveComeBack) return { ...of, created: of.created + of.successors, successors: 0 }
      return of
    }
    expect(together(counts), JSON.stringify(change)).toEqual(together(wanted))

    const addresses = staged.manifest.pieces.slice(1).map(({ address }) => address)
    const all = [...document.sections, ...document.deleted]
    document.sections.forEach((section, index) => {
      if (section.address !== undefined && !hasTwin(section, all))
        expect(addresses[index]).toBe(section.address)
    })
    const after = await snapshot(sourceRef)
    const named = new Set(touched.map(({ canonical_address }) => canonical_address))
    for (const [address, unit] of before) {
      const { position, container, ...own } = after.get(address)!
      const { position: _, container: __, ...was } = unit
      if (!named.has(address)) expect({ ...own, container }).toEqual({ ...was, container: unit.container })
      // What is locked is never touched, whatever becomes of the document.
      if (unit.status !== 'draft') expect(own).toEqual(was)
    }
    remember(document, addresses, after)
    document.sections.forEach(({ address, enacted, successor, cutText }) => {
      const heads = [...after.values()].filter(
        (unit) => unit.address === address || unit.address.startsWith(`${address}~`),
      )
      if (!enacted || successor) expect(heads.map(({ body }) => body)).toContain(cutText)
    })
    expect(await unitTree(sourceRef)).toEqual(treeOf(document))
    expect(await unitOrder(sourceRef)).toEqual(orderOf(treeOf(document)))
  }
}

const DOCUMENTS = cases(2, 10)

it(`touches exactly the pieces that changed, in ${24 * DOCUMENTS} changes of documents`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 24, maxLength: 24 }), async (sequence) => {
      await live(sequence)
    }),
    { numRuns: DOCUMENTS, endOnFailure: true },
  )
})
