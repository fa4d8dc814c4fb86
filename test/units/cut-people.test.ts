/** What people did to the units of a document, and what a cut makes of it. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { approved, cut, cutDocument, cutManifest, enact, HANDBOOK, mark, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let sourceRef: string
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'hr', 'test')`,
    [place.workspace],
  )
})
beforeEach(() => {
  documents += 1
  sourceRef = `book-${documents}.md`
})

const book = () => `book-${documents}`
const units = () => unitsOf(db.pool('postgres'), place.workspace, sourceRef)
/** Calls `fn(unit, …)` of the unit at an address. */
const act = (name: string, address: string, more = '', who = place.reviewer) =>
  who.session.query(
    `select iu_core.${name}(unit_id${more}) from iu_core.information_unit where workspace_id = $1 and canonical_address = $2`,
    [place.workspace, address],
  )
const touched = ({ units: all }: Awaited<ReturnType<typeof cut>>) =>
  all.map(({ canonical_address, what }) => [canonical_address, what])

describe('the document’s own unit', () => {
  it('keeps what people wrote into it until the document has another title, and that is reported', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    await act('fn_unit_edit', book(), `, 1, 'Read this first.', 'Our handbook'`)
    await cutDocument(place, HANDBOOK.replace('receipts', 'bills'), { sourceRef })
    expect((await units()).get(book())).toMatchObject({ version_no: 2, body: 'Read this first.' })
    const renamed = await cutDocument(place, HANDBOOK.replace('# Handbook', '# Rules'), { sourceRef })
    expect((await units()).get(book())).toMatchObject({ version_no: 3, title: 'Rules', body: 'Rules' })
    expect(touched(renamed)).toContainEqual([book(), 'versioned'])
  })

  it('superseded: its pieces go into the one that took its place', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    await place.operator.session.query(`select iu_core.fn_unit_create($1, $2 || '-new', 'New')`, [
      place.workspace,
      book(),
    ])
    await enact(place, book(), `${book()}-new`)
    await act(
      'fn_unit_supersede',
      book(),
      `, (select n.unit_id from iu_core.information_unit n where n.workspace_id = $1 and n.canonical_address = $2 || '-new'), 'APR-2'`,
    )
    await cutDocument(place, HANDBOOK.replace('receipts', 'bills'), { sourceRef })
    const now = await units()
    expect(['leave', 'expenses'].map((name) => now.get(`${book()}/${name}`)!.container)).toEqual([
      `${book()}-new`,
      `${book()}-new`,
    ])
  })

  it('of a changed kind is still that of the document', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    await act('fn_unit_change_kind', book(), `, 'section', 'APR-3'`)
    const done = await cutDocument(place, HANDBOOK.replace('receipts', 'bills'), { sourceRef })
    expect(done).toMatchObject({ versioned: 1, unchanged: 3 })
  })
})

describe('a title that the manifest changes, and nothing else,', () => {
  const retitled = async (title: string) => {
    const { manifest } = await mark(place, HANDBOOK, { sourceRef })
    const pieces = manifest.pieces.map((piece) =>
      piece.address === `${book()}/leave` ? { ...piece, title } : piece,
    )
    return cutManifest(place, { ...manifest, pieces }, HANDBOOK)
  }
  const projection = async (change = 'status = status') =>
    db.owner(
      `update iu_core.vector_outbox o set ${change} from iu_core.information_unit u
        where u.unit_id = o.unit_id and u.workspace_id = $1 and u.canonical_address = $2 returning o.operation, o.generation::int`,
      [place.workspace, `${book()}/leave`],
    )

  it('is a version of the draft, with the text that people gave it, which keeps its vector', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    await act('fn_unit_edit', `${book()}/leave`, `, 1, 'As many as you need.'`)
    await projection(`status = 'done'`)
    const done = await retitled('All leave')
    expect(done).toMatchObject({ versioned: 1, unchanged: 3 })
    expect(done.units).toEqual([
      { unit_id: expect.any(String), canonical_address: `${book()}/leave`, what: 'versioned' },
    ])
    expect((await units()).get(`${book()}/leave`)).toMatchObject({
      version_no: 3,
      title: 'All leave',
      body: 'As many as you need.',
    })
    expect(await projection()).toEqual([{ operation: 'patch', generation: 3 }])
    expect(await retitled('All leave')).toMatchObject({ versioned: 0, units: [] })
  })

  it('passes over a title that people gave, only if the manifest has another one than last time', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    await act('fn_unit_edit', `${book()}/leave`, `, 1, null, 'Holidays'`)
    expect(await retitled('Leave')).toMatchObject({ versioned: 0 })
    expect((await units()).get(`${book()}/leave`)).toMatchObject({ title: 'Holidays' })
  })
})

it('reports units that the manifest calls another kind: they keep theirs', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  const { manifest } = await mark(place, HANDBOOK, { sourceRef })
  const pieces = manifest.pieces.map((piece, index) => (index === 1 ? { ...piece, kind: 'list' } : piece))
  expect(await cutManifest(place, { ...manifest, pieces }, HANDBOOK)).toMatchObject({
    unchanged: 4,
    kinds_kept: [`${book()}/leave`],
  })
  expect((await units()).get(`${book()}/leave`)).toMatchObject({ unit_kind: 'section' })
  expect(await cutDocument(place, HANDBOOK, { sourceRef })).not.toHaveProperty('kinds_kept')
})

it('says which version of people’s own the text of the document took the place of', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  const changed = HANDBOOK.replace('Twenty-five', 'Thirty').replace('receipts', 'bills')
  const staged = await approved(place, changed, { sourceRef })
  await act('fn_unit_edit', `${book()}/leave`, `, 1, 'Written after the approval.'`)
  expect((await cut(place, staged)).units).toEqual([
    expect.objectContaining({ canonical_address: `${book()}/leave`, replaced_version: 2 }),
    expect.not.objectContaining({ replaced_version: expect.anything() }),
  ])
})

it('a topic that no longer fits into the profile is refused, without the profile', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  await act(
    'fn_unit_profile_patch',
    `${book()}/leave`,
    `, jsonb_build_object('secret', repeat('s', 65536 - 30))`,
  )
  const staged = await approved(place, `---\ntopics: [hr]\n---\n${HANDBOOK}`, { sourceRef })
  expect(await sqlstateOf(cut(place, staged))).toBe('SD001')
})

it('a successor finds an address behind those that people took', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  await enact(place, `${book()}/leave`)
  await place.operator.session.query(
    `select iu_core.fn_unit_create($1, $2 || '/leave~' || n, 'Mine') from generate_series(2, 30) n`,
    [place.workspace, book()],
  )
  expect(touched(await cutDocument(place, HANDBOOK.replace('Twenty-five', 'Thirty'), { sourceRef }))).toEqual(
    [[`${book()}/leave~31`, 'successor']],
  )
})
