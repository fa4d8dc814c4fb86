/** Where people put the units of a document, and in which order, and what a cut makes of it. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { previousPieces } from '../../src/units/cut.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'
import { cutDocument, mark, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let sourceRef: string
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
})
beforeEach(() => {
  documents += 1
  sourceRef = `book-${documents}.md`
})

const at = (name: string) => (name === '' ? `book-${documents}` : `book-${documents}/${name}`)
const units = () => unitsOf(db.pool('postgres'), place.workspace, sourceRef)
const cutText = (...sections: string[]) => cutDocument(place, `${sections.join('\n\n')}\n`, { sourceRef })
const idOf = async (name: string) => (await units()).get(at(name))!.unit_id

const move = async (name: string, into: string | null) =>
  place.operator.session.query('select iu_core.fn_unit_move($1, $2)', [
    await idOf(name),
    into === null ? null : await idOf(into),
  ])
const reorder = async (container: string, ...names: string[]) =>
  place.operator.session.query('select iu_core.fn_unit_reorder($1, $2)', [
    await idOf(container),
    await Promise.all(names.map(idOf)),
  ])
const containerOf = async (name: string) => (await units()).get(at(name))!.container
async function orderIn(container: string): Promise<string[]> {
  const inside = [...(await units()).values()].filter((unit) => unit.container === at(container))
  return inside.sort((a, b) => a.position - b.position).map(({ address }) => address.slice(at('').length + 1))
}

const A = '## A\n\nfirst words'
const INSIDE = '### Inside\n\ninner words'
const B = '## B\n\nsecond words'
const C = '## C\n\nthird words'
const D = '## D\n\nfourth words'

describe('an order that people made', () => {
  it('stays, what is new comes after the piece before it, and no reordering is emitted', async () => {
    await cutText(A, B, C)
    await reorder('', 'c', 'b', 'a')
    const done = await cutText('## Early\n\nat first', A, D, B, C.replace('third', 'changed'))
    expect(await orderIn('')).toEqual(['early', 'c', 'b', 'a', 'd'])
    expect(done).toMatchObject({ created: 2, versioned: 1, unchanged: 2 })
    expect(done).not.toHaveProperty('orders_replaced')
    await cutText('## Early\n\nat first', A, D, B, C)
    expect(await orderIn('')).toEqual(['early', 'c', 'b', 'a', 'd'])
  })

  it('is replaced where the document itself has another one, and the cut says so', async () => {
    await cutText(A, B, C)
    await reorder('', 'c', 'b', 'a')
    expect(await cutText(B, A, C)).toMatchObject({ orders_replaced: [at('')] })
    expect(await orderIn('')).toEqual(['b', 'a', 'c'])
    // From here on it is the document's own again.
    expect(await cutText(C, B, A)).not.toHaveProperty('orders_replaced')
  })

  it('of notes among the pieces stays as well', async () => {
    await cutText(A, B)
    for (const name of ['late', 'early'])
      await place.operator.session.query(
        `select iu_core.fn_unit_create($1, $2, 'A note.', p_container_id => $3, p_source_ref => $4)`,
        [place.workspace, at(name), await idOf(''), sourceRef],
      )
    await reorder('', 'a', 'early', 'late', 'b')
    await cutText(B, A, D)
    expect(await orderIn('')).toEqual(['b', 'a', 'early', 'late', 'd'])
  })
})

describe('a unit that people moved', () => {
  it('stays there while the document has its piece where it was, and marking does not call it moved', async () => {
    await cutText(A, INSIDE, B)
    await move('a/inside', 'b')
    const { report } = await mark(place, `${[A, INSIDE, B, D].join('\n\n')}\n`, { sourceRef })
    expect(report.pieces.map(({ change }) => change)).toEqual(['same', 'same', 'same', 'new'])
    expect(await cutText(A, INSIDE.replace('inner', 'other'), B, D)).toMatchObject({
      versioned: 1,
      created: 1,
    })
    expect(await containerOf('a/inside')).toBe(at('b'))
    await move('a/inside', null)
    await cutText(A, INSIDE, B, D)
    expect(await containerOf('a/inside')).toBeNull()
  })

  it('goes where the document moves its piece, which says from where to where, and that people had put it there', async () => {
    await cutText(A, INSIDE, B, C)
    await move('a/inside', 'b')
    const { report } = await mark(place, `${[A, B, C, INSIDE].join('\n\n')}\n`, { sourceRef })
    expect(report.pieces.find(({ change }) => change === 'moved')!.moved).toEqual({
      from: { parent: at('a'), after: null },
      to: { parent: at('c'), after: null },
    })
    expect((await cutText(A, B, C, INSIDE)).units).toEqual([
      {
        unit_id: await idOf('a/inside'),
        canonical_address: at('a/inside'),
        what: 'moved',
        moved_from: at('b'),
        moved_to: at('c'),
        replaced_place: true,
      },
    ])
    expect(await containerOf('a/inside')).toBe(at('c'))
    const back = await cutText(A, INSIDE, B, C)
    expect(back.units[0]).toMatchObject({ moved_from: at('c'), moved_to: at('a') })
    expect(back.units[0]).not.toHaveProperty('replaced_place')
  })

  it('and the document, which moves another one into it: no unit is inside itself, the manifest counts', async () => {
    await cutText(A, B)
    await move('a', 'b')
    const done = await cutText(A, B.replace('##', '###'))
    expect(done.units).toEqual([
      expect.objectContaining({ canonical_address: at('a'), what: 'moved', moved_from: at('b') }),
      expect.objectContaining({ canonical_address: at('b'), what: 'versioned', moved_to: at('a') }),
    ])
    expect(await containerOf('a')).toBe(at(''))
    expect(await containerOf('b')).toBe(at('a'))
  })

  it('stays, however long ago the last cut was; from before places were kept, the document counts, and that is reported', async () => {
    await cutText(A, INSIDE, B)
    await move('a/inside', 'b')
    const owner = await db.session('postgres')
    await owner.query('set session_replication_role = replica')
    await owner.query(
      `delete from iu_core.iu_staging_payload p using iu_core.iu_staging_record r
        where r.staging_record_id = p.staging_record_id and r.source_ref = $1`,
      [sourceRef],
    )
    expect((await cutText(A, INSIDE, B)).units).toEqual([])
    await db.owner(
      `update iu_core.kb_unit_map m set parent_address = null
         from iu_core.kb_document d where d.document_id = m.document_id and d.source_ref = $1`,
      [sourceRef],
    )
    const { units: touched } = await cutText(A, INSIDE, B)
    expect(touched).toEqual([
      expect.objectContaining({ what: 'moved', moved_from: at('b'), moved_to: at('a') }),
    ])
  })
})

it('what marking gets of the document’s sections is the same for an agent, and nothing for others', async () => {
  await cutText(A, INSIDE, B)
  await move('a/inside', 'b')
  const [, inside] = await previousPieces(place.agent.session, place.workspace, sourceRef)
  expect(inside).toMatchObject({ address: at('a/inside'), parent: at('a') })
  const stranger = await createMember(db, await createWorkspace(db, 'Others'), 'operator')
  const told = await db.as(stranger, (client) => previousPieces(client, place.workspace, sourceRef))
  expect(told).toEqual([])
})

it('the document’s own unit gone and back: its pieces come back into it', async () => {
  await cutText(A, B)
  const id = await idOf('')
  await place.operator.session.query('select iu_core.fn_unit_delete($1)', [id])
  await cutText(A, B, C)
  expect(await containerOf('c')).toBeNull()
  await place.operator.session.query('select iu_core.fn_unit_restore($1)', [id])
  await cutText(A, B, C)
  expect(await orderIn('')).toEqual(['a', 'b', 'c'])
})
