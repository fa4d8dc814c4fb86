/** From an approved manifest to units, in one transaction or not at all. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { StagedoorError } from '../../src/kernel/errors.ts'
import { previousPieces } from '../../src/units/cut.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { useDatabase } from '../support/database.ts'
import { approved, cut, cutDocument, cutManifest, enact, HANDBOOK, mark, unitsOf } from './documents.ts'

const db = useDatabase()
let place: Workplace
let sourceRef: string
let documents = 0

beforeAll(async () => {
  place = await workplace(db)
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'hr', 'test'), ($1, 'money', 'test')`,
    [place.workspace],
  )
})
beforeEach(() => {
  documents += 1
  sourceRef = `book-${documents}.md`
})

const book = () => `book-${documents}`
const units = () => unitsOf(db.pool('postgres'), place.workspace, sourceRef)
const events = async () =>
  db.owner<{
    name: string
    event_subject_ref: string
    canonical_address: string
    actor: string
    safe_payload: object
  }>(
    `select event_domain || '.' || event_type as name, event_subject_ref, canonical_address, actor, safe_payload
       from iu_core.event_outbox where workspace_id = $1 and event_domain in ('iu', 'piece', 'birth_registry', 'dot') order by seq`,
    [place.workspace],
  )
/** The events of one act, by name and address. */
async function told(act: () => Promise<unknown>): Promise<string[]> {
  const before = (await events()).length
  await act()
  return (await events())
    .slice(before)
    .map(({ name, canonical_address: address }) => (address ? `${name} ${address}` : name))
}
it('makes a unit of each piece, inside of those that contain it, in their order', async () => {
  const done = await cutDocument(place, HANDBOOK, { sourceRef })
  expect(done).toMatchObject({ created: 4, versioned: 0, successors: 0, retired: 0, kept: 0, unchanged: 0 })
  const rows = [...(await units()).values()]
  expect(
    rows.map((unit) => [unit.address, unit.unit_kind, unit.container, unit.position, unit.body]),
  ).toEqual([
    [book(), 'document', null, 0, 'Handbook'],
    [`${book()}/expenses`, 'section', book(), 3, '## Expenses\n\nKeep the receipts.'],
    [`${book()}/leave`, 'section', book(), 2, '## Leave\n\nTwenty-five days.'],
    [
      `${book()}/leave/sick-leave`,
      'section',
      `${book()}/leave`,
      1,
      '### Sick leave\n\nTell us in the morning.',
    ],
    [`${book()}/title`, 'section', book(), 1, '# Handbook\n\nHow we work.'],
  ])
  expect(done.units.map(({ canonical_address, what }) => [canonical_address, what])).toEqual([
    [`${book()}/title`, 'created'],
    [`${book()}/leave`, 'created'],
    [`${book()}/leave/sick-leave`, 'created'],
    [`${book()}/expenses`, 'created'],
  ])
  const [run] = await db.owner(
    'select command, status, actor from iu_core.dot_iu_command_run where run_id = $1',
    [done.run_id],
  )
  expect(run).toEqual({ command: 'dot_iu_cut_from_manifest', status: 'applied', actor: place.operator.actor })
  const [document] = await db.owner('select title, body from iu_core.kb_document where document_id = $1', [
    done.document_id,
  ])
  expect(document).toEqual({ title: 'Handbook', body: HANDBOOK })
})

it('emits events of new units, of the cut and of its run, with references only', async () => {
  const staged = await approved(place, HANDBOOK, { sourceRef })
  expect(await told(() => cut(place, staged))).toEqual([
    `birth_registry.entity_born ${book()}`,
    `birth_registry.entity_born ${book()}/title`,
    `birth_registry.entity_born ${book()}/leave`,
    `birth_registry.entity_born ${book()}/leave/sick-leave`,
    `birth_registry.entity_born ${book()}/expenses`,
    `iu.unit_cut ${book()}`,
    'dot.run.applied',
  ])
  const last = (await events()).findLast(({ name }) => name === 'iu.unit_cut')!
  expect(last).toMatchObject({ actor: place.operator.actor, safe_payload: { created: 4, unchanged: 0 } })
  expect(JSON.stringify(await events())).not.toMatch(/Twenty-five|Sick leave/)
})

it('touches nothing when the document is what it was', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  const before = await units()
  const staged = await approved(place, HANDBOOK, { sourceRef })
  expect(staged.created).toBe(true)
  expect(staged.report.pieces.map(({ change }) => change)).toEqual(['same', 'same', 'same', 'same'])
  const outbox = `select sum(generation) as generations from iu_core.vector_outbox`
  const [was] = await db.owner(outbox)
  expect(await told(() => cut(place, staged))).toEqual([`iu.unit_cut ${book()}`, 'dot.run.applied'])
  expect(await units()).toEqual(before)
  expect((await db.owner(outbox))[0]).toEqual(was)
})

it('makes a version of a draft, a successor of what is enacted, and retires what was removed', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  await enact(place, `${book()}/leave`)
  const changed = HANDBOOK.replace('Twenty-five', 'Thirty')
    .replace('in the morning', 'by nine')
    .replace(/## Expenses[\s\S]*/, '')
  const staged = await approved(place, changed, { sourceRef })
  expect(staged.report.removed).toEqual([
    { address: `${book()}/expenses`, title: 'Expenses', kind: 'section', text_is: 'removed' },
  ])
  expect(await told(() => cut(place, staged))).toEqual([
    `iu.unit_lifecycle_changed ${book()}/expenses`,
    `piece.piece_deprecated ${book()}/expenses`,
    `birth_registry.entity_born ${book()}/leave~2`,
    `iu.unit_versioned ${book()}/leave/sick-leave`,
    `iu.unit_cut ${book()}`,
    'dot.run.applied',
  ])
  const now = await units()
  expect(now.get(`${book()}/leave`)).toMatchObject({
    status: 'enacted',
    version_no: 1,
    body: '## Leave\n\nTwenty-five days.',
  })
  expect(now.get(`${book()}/leave~2`)).toMatchObject({
    status: 'draft',
    supersedes: `${book()}/leave`,
    container: book(),
    body: '## Leave\n\nThirty days.',
  })
  expect(now.get(`${book()}/leave/sick-leave`)).toMatchObject({ version_no: 2, container: `${book()}/leave` })
  expect(now.get(`${book()}/expenses`)).toMatchObject({ status: 'retired' })

  // Again: the draft beside the enacted one goes on, and when it took its place it gets a successor of its own.
  const again = await cutDocument(place, changed.replace('Thirty', 'Forty'), { sourceRef })
  expect(again).toMatchObject({ versioned: 1, successors: 0 })
  await enact(place, `${book()}/leave~2`)
  await place.reviewer.session.query(
    `select iu_core.fn_unit_supersede(a.unit_id, b.unit_id, 'APR-2') from iu_core.information_unit a, iu_core.information_unit b
      where a.workspace_id = $1 and b.workspace_id = $1 and a.canonical_address = $2 and b.canonical_address = $2 || '~2'`,
    [place.workspace, `${book()}/leave`],
  )
  expect(await cutDocument(place, changed.replace('Thirty', 'Forty'), { sourceRef })).toMatchObject({
    units: [],
  })
  expect(await cutDocument(place, changed.replace('Thirty', 'Fifty'), { sourceRef })).toMatchObject({
    successors: 1,
    units: [{ canonical_address: `${book()}/leave~3`, what: 'successor' }],
  })
  expect((await units()).get(`${book()}/leave~3`)).toMatchObject({ supersedes: `${book()}/leave~2` })
})

it('keeps an enacted piece that was removed, and matches it again when it is back', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  await enact(place, `${book()}/expenses`)
  const without = HANDBOOK.slice(0, HANDBOOK.indexOf('### Sick'))
  expect(await cutDocument(place, without, { sourceRef })).toMatchObject({ kept: 1, retired: 1 })
  expect((await units()).get(`${book()}/expenses`)).toMatchObject({ status: 'enacted' })
  const back = await cutDocument(place, HANDBOOK, { sourceRef })
  expect(back).toMatchObject({ created: 0, unchanged: 3, successors: 1 })
  expect(back.units.map(({ canonical_address, what }) => [canonical_address, what])).toEqual([
    [`${book()}/leave/sick-leave~2`, 'successor'],
  ])
})

it('leaves what people edited, as long as the document’s piece is what it was', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  await place.operator.session.query(
    `select iu_core.fn_unit_edit(unit_id, 1, '## Leave\n\nAs many as you need.') from iu_core.information_unit
      where workspace_id = $1 and canonical_address = $2`,
    [place.workspace, `${book()}/leave`],
  )
  const changed = HANDBOOK.replace('Keep the', 'Keep all')
  expect(await cutDocument(place, changed, { sourceRef })).toMatchObject({ versioned: 1, unchanged: 3 })
  expect((await units()).get(`${book()}/leave`)).toMatchObject({
    version_no: 2,
    body: '## Leave\n\nAs many as you need.',
  })
})

it('leaves a unit that people retired or deleted, until its piece changes', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  for (const [call, name] of [
    ['fn_unit_retire', 'expenses'],
    ['fn_unit_delete', 'leave'],
  ]) {
    await place.reviewer.session.query(
      `select iu_core.${call}(unit_id) from iu_core.information_unit where workspace_id = $1 and canonical_address = $2`,
      [place.workspace, `${book()}/${name}`],
    )
  }
  // What is inside of the deleted section goes up to the document.
  const moved = await cutDocument(place, HANDBOOK, { sourceRef })
  expect(moved.units.map(({ canonical_address, what }) => [canonical_address, what])).toEqual([
    [`${book()}/leave/sick-leave`, 'moved'],
  ])
  expect(await cutDocument(place, HANDBOOK.replace('receipts', 'bills'), { sourceRef })).toMatchObject({
    successors: 1,
    unchanged: 3,
  })
})

it('follows the order and the sections of the document, and emits one event for each container', async () => {
  const source = '## A\n\nfirst\n\n### Inside\n\ninner text\n\n## B\n\nsecond\n\n## C\n\nthird\n'
  await cutDocument(place, source, { sourceRef })
  const moved = '## C\n\nthird\n\n### Inside\n\ninner text\n\n## A\n\nfirst\n\n## B\n\nsecond\n'
  const staged = await approved(place, moved, { sourceRef })
  expect(staged.report.pieces.map(({ address, change }) => [address, change])).toEqual([
    [`${book()}/c`, 'moved'],
    [`${book()}/a/inside`, 'moved'],
    [`${book()}/a`, 'same'],
    [`${book()}/b`, 'same'],
  ])
  expect(await told(() => cut(place, staged))).toEqual([
    `iu.unit_moved ${book()}/a/inside`,
    `piece.piece_reordered ${book()}`,
    `iu.unit_cut ${book()}`,
    'dot.run.applied',
  ])
  const now = await units()
  expect(['c', 'a', 'b'].map((name) => now.get(`${book()}/${name}`)!.position)).toEqual([1, 2, 3])
  expect(now.get(`${book()}/a/inside`)).toMatchObject({ container: `${book()}/c`, version_no: 1 })
})

it('keeps what people put between the pieces behind the piece that it follows', async () => {
  await cutDocument(place, '## A\n\na\n\n## B\n\nb\n', { sourceRef })
  await place.operator.session.query(
    `select iu_core.fn_unit_move((iu_core.fn_unit_create($1, $2 || '-own', 'A note.')).unit_id, unit_id, 2)
       from iu_core.information_unit where workspace_id = $1 and canonical_address = $2`,
    [place.workspace, book()],
  )
  await cutDocument(place, '## B\n\nb\n\n## New\n\nn\n\n## A\n\na\n', { sourceRef })
  const rows = await db.owner<{ address: string }>(
    `select u.canonical_address as address from iu_core.information_unit u join iu_core.information_unit c on c.unit_id = u.container_id
      where c.canonical_address = $1 order by u.position`,
    [book()],
  )
  expect(rows.map(({ address }) => address)).toEqual([
    `${book()}/b`,
    `${book()}/new`,
    `${book()}/a`,
    `${book()}-own`,
  ])
})

describe('a manifest that a person changed', () => {
  it('is cut as it was approved: a piece taken out, two in one, another title, topics', async () => {
    const { manifest } = await mark(place, HANDBOOK, { sourceRef })
    const source = HANDBOOK
    const [leave, sick, expenses] = manifest.pieces.slice(1)
    const changed = {
      ...manifest,
      pieces: [
        { ...leave!, to: sick!.to, title: 'All leave', topics: ['hr'] },
        { ...expenses!, topics: ['money'] },
      ],
    }
    expect(await cutManifest(place, changed, source)).toMatchObject({ created: 2 })
    const now = await units()
    expect([...now.keys()]).toEqual([book(), `${book()}/expenses`, `${book()}/leave`])
    expect(now.get(`${book()}/leave`)).toMatchObject({
      title: 'All leave',
      topics: ['hr'],
      body: '## Leave\n\nTwenty-five days.\n\n### Sick leave\n\nTell us in the morning.',
    })
    // Topics of pieces that are there already are added, and nothing else happens.
    const more = {
      ...changed,
      pieces: changed.pieces.map((piece) => ({ ...piece, topics: ['hr', 'money'] })),
    }
    expect(await cutManifest(place, more, source)).toMatchObject({ unchanged: 2, units: [] })
    expect((await units()).get(`${book()}/expenses`)!.topics).toEqual(['hr', 'money'])
  })
})

it('gives marking the pieces as they were cut last', async () => {
  await cutDocument(place, HANDBOOK, { sourceRef })
  const { manifest } = await mark(place, HANDBOOK.replace('receipts', 'bills'), { sourceRef })
  const previous = await previousPieces(place.agent.session, place.workspace, sourceRef)
  expect(previous.map(({ address, parent, kind }) => [address, parent, kind])).toEqual(
    manifest.pieces.map(({ address, parent, kind }) => [address, parent, kind]),
  )
  expect(previous[3]!.text).toBe('## Expenses\n\nKeep the receipts.')
})

it('holds the same marking once, and again after it was rejected', async () => {
  const first = await mark(place, HANDBOOK, { sourceRef })
  expect(await mark(place, HANDBOOK, { sourceRef })).toMatchObject({
    staging_record_id: first.staging_record_id,
    created: false,
  })
  await place.reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [
    first.staging_record_id,
  ])
  const second = await mark(place, HANDBOOK, { sourceRef })
  expect(second.created).toBe(true)
  expect(await mark(place, HANDBOOK, { sourceRef })).toMatchObject({
    staging_record_id: second.staging_record_id,
  })
})

it('says what is wrong with a document before it is held', async () => {
  await expect(mark(place, ' \n', { sourceRef })).rejects.toThrow(StagedoorError)
})
