/** A manifest is checked where it is made and where it is held: both say the same. */
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { stageEditedManifest, stageMark } from '../../src/app/marking.ts'
import {
  checkManifest,
  type ManifestProblem,
  type MarkManifest,
  markManifestJsonSchema,
  remarkWith,
} from '../../src/units/manifest.ts'
import { markDocument } from '../../src/units/marking/mark.ts'
import type { Transaction } from '../../src/units/units.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { jsonPart, stage, textPart } from '../staging/staged.ts'
import { cpuClock } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { approve, cut, cutManifest, within } from './documents.ts'

const db = useDatabase()
let place: Workplace

beforeAll(async () => {
  place = await workplace(db)
})

const SOURCE = '# Sổ tay\n\nChào.\n\n## Leave\n\nDays.\n\n### Sick\n\nCall.\n\n## Money\n\nBills.\n'
const { manifest: GOOD } = markDocument(SOURCE, { sourceRef: 'handbook.md' })

async function inDatabase(manifest: unknown, source = SOURCE): Promise<ManifestProblem[]> {
  const [row] = await db.owner<{ problems: ManifestProblem[] }>(
    'select iu_core.fn_mark_manifest_check($1, $2, $3) as problems',
    [JSON.stringify(manifest), source, place.workspace],
  )
  return row!.problems
}

/** A copy with one thing changed. */
function but(change: (manifest: MarkManifest) => unknown): MarkManifest {
  const copy = structuredClone(GOOD)
  change(copy)
  return copy
}
const piece = (index: number, fields: Record<string, unknown>) =>
  but(({ pieces }) => Object.assign(pieces[index]!, fields))

const BAD: [string, unknown, string][] = [
  ['no object', [], 'schema'],
  ['null', null, 'schema'],
  ['another schema', but((m) => Object.assign(m, { schema: 'stagedoor.mark_manifest/2' })), 'schema'],
  ['a member that nobody knows', but((m) => Object.assign(m, { more: 1 })), 'schema'],
  ['no document', but((m) => Object.assign(m, { document: null })), 'schema'],
  ['a document without a title', but((m) => Object.assign(m.document, { title: ' ' })), 'schema'],
  ['a language that is none', but((m) => Object.assign(m.document, { language: 'english!' })), 'schema'],
  ['no pieces', but((m) => Object.assign(m, { pieces: [] })), 'schema'],
  ['a piece that is none', but((m) => Object.assign(m.pieces, { 0: 'piece' })), 'schema'],
  ['a piece with a member too many', piece(0, { body: 'x' }), 'schema'],
  ['a piece without a hash', piece(0, { hash: undefined }), 'schema'],
  ['a fraction', piece(1, { from: 1.5 }), 'schema'],
  ['a number as text', piece(1, { from: '1' }), 'schema'],
  ['a number beyond all', piece(1, { to: 1e300 }), 'schema'],
  ['a negative number', piece(1, { from: -1 }), 'schema'],
  ['an address with capitals', piece(1, { address: 'Handbook/Leave' }), 'schema'],
  ['an address without a document', piece(1, { address: 'leave' }), 'schema'],
  ['the address of a successor', piece(1, { address: 'handbook/leave~2' }), 'schema'],
  ['a blank title', piece(1, { title: '\n' }), 'schema'],
  ['a topic twice', piece(1, { topics: ['hr', 'hr'] }), 'schema'],
  ['a topic that is no label', piece(1, { topics: ['H R'] }), 'schema'],
  [
    'another source',
    but((m) => Object.assign(m.document, { content_hash: 'a'.repeat(64) })),
    'source_differs',
  ],
  ['another length', but((m) => Object.assign(m.document, { bytes: 3 })), 'source_differs'],
  ['a position of another', piece(1, { position: 1 }), 'position'],
  ['an address twice', piece(2, { address: GOOD.pieces[1]!.address }), 'address_twice'],
  ['a parent that is not there', piece(1, { parent: 'handbook/nothing' }), 'parent_unknown'],
  ['a parent that comes later', piece(1, { parent: GOOD.pieces[2]!.address }), 'parent_unknown'],
  ['itself as its parent', piece(1, { parent: GOOD.pieces[1]!.address }), 'parent_unknown'],
  ['an end before its beginning', piece(1, { from: 40, to: 30 }), 'range'],
  ['an end beyond the source', piece(3, { to: 9999 }), 'range'],
  ['a beginning within a character', piece(0, { from: 4 }), 'range'],
  ['overlapping pieces', piece(1, { from: GOOD.pieces[0]!.from + 1 }), 'overlap'],
  ['an empty piece', piece(1, { from: GOOD.pieces[0]!.to, to: GOOD.pieces[0]!.to + 1 }), 'blank'],
  ['a hash of other bytes', piece(1, { hash: 'b'.repeat(64) }), 'hash_differs'],
  ['addresses of two documents', piece(3, { address: 'other/money' }), 'address_roots'],
]

it.each(BAD)('%s is found here and in the database', async (_, manifest, code) => {
  const here = checkManifest(JSON.parse(JSON.stringify(manifest)), SOURCE)
  expect(here.map((problem) => problem.code)).toContain(code)
  expect((await inDatabase(manifest)).map((problem) => problem.code)).toContain(code)
})

it('finds nothing in a manifest that marking made', async () => {
  expect(checkManifest(GOOD, SOURCE)).toEqual([])
  expect(await inDatabase(GOOD)).toEqual([])
})

it('says the same here and there of whatever is done to a manifest', {
  tags: 'property',
}, async () => {
  const values = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      0,
      1,
      5,
      12,
      1.5,
      -1,
      '',
      ' ',
      'x',
      'handbook/leave',
      'handbook/a',
      'a'.repeat(64),
      [],
      ['hr'],
      {},
    ),
    fc.nat(80),
  )
  const damage = fc.record({
    index: fc.nat(3),
    field: fc.constantFrom('position', 'address', 'parent', 'title', 'from', 'to', 'hash', 'topics'),
    value: values,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (all) => {
      const manifest = but(({ pieces }) => {
        for (const { index, field, value } of all) Object.assign(pieces[index]!, { [field]: value })
      })
      const here = checkManifest(manifest, SOURCE).map(({ code, piece }) => [code, piece])
      const there = (await inDatabase(manifest)).filter(({ code }) => code !== 'topic_unknown')
      const isForm = here.some(([code]) => code === 'schema')
      // Of its form each says it in its own words.
      if (isForm) expect(there.map(({ code }) => code)).toContain('schema')
      else expect(there.map(({ code, piece }) => [code, piece])).toEqual(here)
    }),
    { numRuns: cases(60, 300) },
  )
})

describe('only the database knows', () => {
  it.each<[string, unknown, string]>([
    ['kinds', piece(1, { kind: 'poem' }), 'kind_unknown'],
    ['topics', piece(1, { topics: ['nowhere'] }), 'topic_unknown'],
  ])('%s', async (_, manifest, code) => {
    expect(await inDatabase(manifest)).toEqual([
      { code, piece: GOOD.pieces[1]!.address, message: expect.any(String) },
    ])
  })

  it('whose an address is', async () => {
    const create = `select iu_core.fn_unit_create($1, $2, 'Mine.')`
    await place.operator.session.query(create, [place.workspace, 'taken/leave'])
    const { manifest } = markDocument(SOURCE, { sourceRef: 'taken.md' })
    expect(await inDatabase(manifest)).toEqual([
      { code: 'address_taken', piece: 'taken/leave', message: expect.any(String) },
    ])
    await place.operator.session.query(create, [place.workspace, 'whole'])
    const { manifest: whole } = markDocument(SOURCE, { sourceRef: 'whole.md' })
    expect(await inDatabase(whole)).toEqual([
      { code: 'address_taken', message: expect.stringContaining('whole') },
    ])
  })
})

describe('holding it', () => {
  const hold = (parts: string[]) =>
    stage(place.agent.session, {
      workspace: place.workspace,
      kind: 'mark_manifest',
      type: 'manifest_json',
      parts,
    })

  it('is refused with the first twenty problems, before anybody has to review it', async () => {
    const many = but((m) => {
      m.pieces = Array.from({ length: 30 }, () => ({ ...m.pieces[0]!, title: ' ' }))
    })
    const refusal = await hold([jsonPart(JSON.stringify(many)), textPart(SOURCE, 'source')]).catch(
      (error) => error,
    )
    expect(refusal).toMatchObject({ code: 'SD909', message: expect.stringContaining('and 29 more') })
    expect(JSON.parse(refusal.detail).problems).toHaveLength(20)
  })

  it.each([
    ['alone and not of its form', [jsonPart(JSON.stringify({ ...GOOD, document: {} }))]],
    ['with the source under another name', [jsonPart(JSON.stringify(GOOD)), textPart(SOURCE, 'text')]],
    ['with anything else', [jsonPart('{"rows": 3}'), textPart(SOURCE, 'source')]],
    ['the other way round', [textPart(SOURCE, 'source'), jsonPart(JSON.stringify(GOOD))]],
  ])('is refused %s', async (_, parts) => {
    expect(await sqlstateOf(hold(parts))).toBe('SD909')
  })

  it('is possible for an agent, with its source or alone', async () => {
    expect(await hold([jsonPart(JSON.stringify(GOOD)), textPart(SOURCE, 'source')])).toMatchObject({
      created: true,
    })
    expect(await hold([jsonPart(JSON.stringify(GOOD))])).toMatchObject({ created: true })
  })
})

it('no transaction is open while a document is read', async () => {
  const seen: string[] = []
  const transaction: Transaction = async (work) => {
    seen.push('begin')
    const done = await work(place.agent.session)
    seen.push('commit')
    return done
  }
  const marked = (source: string) =>
    stageMark(transaction, { workspace: place.workspace, source, sourceRef: 'apart.md' })
  await expect(marked('> '.repeat(100))).rejects.toMatchObject({ code: 'document_unreadable' })
  expect(seen).toEqual(['begin', 'commit'])
  expect(await marked(SOURCE)).toMatchObject({ created: true })
  expect(seen).toEqual(['begin', 'commit', 'begin', 'commit', 'begin', 'commit'])
  const refused = stageEditedManifest(transaction, {
    workspace: place.workspace,
    manifest: {},
    source: SOURCE,
  })
  await expect(refused).rejects.toMatchObject({ code: 'manifest_invalid' })
  expect(seen).toHaveLength(6)
})

describe('a marking that is staged already', () => {
  const again = () =>
    stageMark(within(place.operator.session), {
      workspace: place.workspace,
      source: SOURCE,
      sourceRef: 'twice.md',
    })

  it('is found again while somebody can decide on it, and staged again when it has expired', async () => {
    const first = await again()
    expect(await again()).toMatchObject({ staging_record_id: first.staging_record_id, created: false })
    const session = await db.session('postgres')
    await session.query('set session_replication_role = replica')
    await session.query(
      `update iu_core.iu_staging_record set created_at = now() - interval '9 days', expires_at = now() - interval '1 second'
        where staging_record_id = $1`,
      [first.staging_record_id],
    )
    const second = await again()
    expect(second).toMatchObject({ created: true, lifecycle_status: 'pending' })
    await approve(place, second)
    expect(await again()).toMatchObject({ staging_record_id: second.staging_record_id, created: false })
  })
})

describe('a manifest that a person changed', () => {
  const NESTED =
    '# Guide\n\nHello.\n\n## Leave\n\nDays.\n\n### Sick\n\nCall.\n\n#### Doctor\n\nSee one.\n\n## Money\n\nBills.\n'
  const marked = (sourceRef: string) =>
    stageMark(within(place.agent.session), { workspace: place.workspace, source: NESTED, sourceRef })
  const changed = (manifest: MarkManifest) =>
    stageEditedManifest(within(place.operator.session), {
      workspace: place.workspace,
      manifest,
      source: NESTED,
    })
  const placesOf = ({ manifest }: { manifest: MarkManifest }) =>
    manifest.pieces.map(({ position, address, parent }) => [position, address, parent])

  it('gets new hashes, positions and parents', async () => {
    const { manifest } = await marked('nested.md')
    const [title, leave, , doctor, money] = manifest.pieces
    const pieces = [money!, { ...title!, title: 'Welcome' }, doctor!, { ...leave!, to: leave!.to - 1 }]
    expect(checkManifest({ ...manifest, pieces }, NESTED)).not.toEqual([])
    const again = await changed({ ...manifest, pieces })
    expect(checkManifest(again.manifest, NESTED)).toEqual([])
    expect(placesOf(again), 'what contained Doctor is gone, what contained that is not').toEqual([
      [1, title!.address, null],
      [2, 'nested/leave', null],
      [3, 'nested/leave/sick/doctor', 'nested/leave'],
      [4, 'nested/money', null],
    ])
    const further = await changed({ ...manifest, pieces: [title!, doctor!, money!] })
    expect(placesOf(further)[1]).toEqual([2, 'nested/leave/sick/doctor', null])
  })

  it('knows what was in what from the last cut, too', async () => {
    const { manifest } = markDocument(NESTED, { sourceRef: 'known.md' })
    const [, , sick] = manifest.pieces
    await cutManifest(place, manifest, NESTED)
    // Nothing but digests is left of what was staged.
    const session = await db.session('postgres')
    await session.query('set session_replication_role = replica')
    await session.query(
      `delete from iu_core.iu_staging_payload p using iu_core.iu_staging_record r
        where p.staging_record_id = r.staging_record_id and r.source_ref = 'known.md'`,
    )
    const pieces = manifest.pieces.filter((one) => one !== sick)
    expect(placesOf(await changed({ ...manifest, pieces }))[2]).toEqual([
      3,
      'known/leave/sick/doctor',
      'known/leave',
    ])
  })

  it('is refused for another text than it was made for: its offsets would cut that anywhere', async () => {
    const { manifest } = await marked('moved-on.md')
    const source = NESTED.replace('Hello.', 'Hello, everybody.')
    const staged = stageEditedManifest(within(place.operator.session), {
      workspace: place.workspace,
      manifest,
      source,
    })
    await expect(staged).rejects.toMatchObject({
      code: 'manifest_invalid',
      message: expect.stringContaining('another text'),
    })
  })

  it('is refused where it names a parent that never was', async () => {
    const { manifest } = await marked('mistyped.md')
    const pieces = manifest.pieces.map((one) => ({
      ...one,
      parent: one.parent === null ? null : one.parent.replace('sick', 'sikc'),
    }))
    await expect(changed({ ...manifest, pieces })).rejects.toMatchObject({
      code: 'SD909',
      message: expect.stringMatching(/doctor: No earlier piece has the address of its parent, .*sikc/),
    })
  })

  it('is refused at once if it has more pieces than a manifest holds', async () => {
    const pieces = Array.from({ length: 150_000 }, () => GOOD.pieces[0]!)
    const workedMs = cpuClock()
    await expect(changed({ ...GOOD, pieces })).rejects.toMatchObject({
      code: 'manifest_invalid',
      message: expect.stringContaining('150000'),
    })
    expect(workedMs()).toBeLessThan(500)
  })

  it('ends where containers were in each other by turns', () => {
    const before = new Map([
      ['handbook/a', 'handbook/b'],
      ['handbook/b', 'handbook/a'],
    ])
    const astray = piece(2, { parent: 'handbook/a' })
    expect(remarkWith(astray, SOURCE, before).pieces[2]!.parent).toBe('handbook/a')
  })

  it('is what it was, if nothing was changed', () => {
    expect(remarkWith(GOOD, SOURCE)).toEqual(GOOD)
  })
})

it('has a JSON Schema', () => {
  expect(markManifestJsonSchema()).toMatchObject({
    $id: 'stagedoor.mark_manifest/1',
    type: 'object',
    required: ['schema', 'document', 'pieces'],
    properties: { pieces: { type: 'array', maxItems: 10_000 } },
  })
})

describe('what is wrong with the form of a manifest', () => {
  const words = (manifest: unknown) =>
    checkManifest(manifest, SOURCE).map(({ piece: name, message }) => [name, message])

  it('is reported in words, by the piece that has it', () => {
    expect(words([])).toEqual([[undefined, 'It is not a JSON object']])
    expect(words(but((m) => Object.assign(m, { more: 1 })))).toEqual([
      [undefined, 'It has more, which no manifest has there'],
    ])
    expect(words(but((m) => Object.assign(m.document, { language: 'english!' })))).toEqual([
      [undefined, 'document.language is not a language tag such as en'],
    ])
    const [first, second] = GOOD.pieces
    expect(words(piece(0, { title: '', parent: 3, body: 'x' }))).toEqual([
      [first!.address, 'It has body, which no manifest has there'],
      [first!.address, 'parent is neither the address of a piece nor null'],
      [first!.address, 'title is blank, too long, or no text'],
    ])
    const lacking = JSON.parse(JSON.stringify(piece(1, { hash: undefined, topics: ['A b'] })))
    expect(words(lacking)).toEqual([
      [second!.address, 'It lacks hash'],
      [second!.address, 'topics is not a list of distinct labels of a–z, 0–9 and _.-'],
    ])
    expect(words(but((m) => Object.assign(m.pieces, { 0: 7 })))).toEqual([
      ['piece 1', 'It is not a JSON object'],
    ])
  })
})

it('an address that another document has: the hint names both ways out', async () => {
  const stage = (sourceRef: string, address: string) =>
    stageMark(within(place.operator.session), {
      workspace: place.workspace,
      source: SOURCE,
      sourceRef,
      address,
    })
  const first = await stage('one/same-name.md', 'same-name')
  await approve(place, first)
  await cut(place, first)
  await expect(stage('two/same-name.md', 'same-name')).rejects.toMatchObject({
    message: expect.stringContaining('comes from one/same-name.md'),
    hint: expect.stringMatching(/--source-ref.*--address/),
  })
})
