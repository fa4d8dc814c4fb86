/** Units as a program has them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStagedoor, type Stagedoor, type StagedoorError } from '../../src/index.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { MIGRATOR } from '../support/template.ts'
import { temporaryHome } from '../support/temporary-home.ts'

const db = useDatabase()
const home = temporaryHome('library-units')
let stagedoor: Stagedoor
let units: Stagedoor['units']
let workspace: string
let reviewer: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  reviewer = await createMember(db, workspace, 'reviewer')
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  stagedoor = await createStagedoor({ databaseUrl: db.url(MIGRATOR), home })
  units = stagedoor.units
})
afterAll(() => stagedoor.close())

const newUnit = async (canonical_address: string, body = 'A text.') =>
  (await units.create(workspace, { canonical_address, body })).unit_id

it('of edits at the same time one wins, each of the others gets both hashes and the diff', async () => {
  const id = await newUnit('library/race', 'zero\nend\n')
  const outcomes = await Promise.allSettled(
    ['one', 'two', 'three', 'four'].map((word) =>
      units.edit(id, { expected_version: 1, body: `${word}\nend\n` }),
    ),
  )
  const now = await units.read(id)
  expect(now.version_no).toBe(2)
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(lost).toHaveLength(3)
  for (const { reason } of lost) {
    expect(reason).toMatchObject({
      code: 'unit_version_conflict',
      details: {
        unit: id,
        expected_version: 1,
        expected_hash: (await units.read(id, { version: 1 })).version.content_hash,
        current_version: 2,
        current_hash: now.content_hash,
      },
    })
    expect((reason as StagedoorError).details.diff).toBe((await units.diff(id, { from: 1, to: 2 })).diff)
  }
})

it('what is written in a transaction of the program is gone with its rollback', async () => {
  const pool = db.pool('stagedoor_worker')
  const id = await newUnit('library/mine')
  await expect(
    inTransaction(pool, async (client) => {
      await units.edit(id, { expected_version: 1, body: 'Another text.' }, { client })
      await units.create(workspace, { canonical_address: 'library/never', body: 'x' }, { client })
      expect((await units.read(id, { client })).version_no, 'seen inside').toBe(2)
      throw new Error('changed my mind')
    }),
  ).rejects.toThrow('changed my mind')
  expect((await units.read(id)).version_no).toBe(1)
  await expect(
    units.read({ workspace_id: workspace, canonical_address: 'library/never' }),
  ).rejects.toMatchObject({ code: 'unit_unknown' })
})

it('a conflict in a transaction of the program has the hashes, and the diff can be asked for', async () => {
  const id = await newUnit('library/conflict', 'a\n')
  await units.edit(id, { expected_version: 1, body: 'b\n' })
  const conflict = await inTransaction(db.pool('stagedoor_worker'), (client) =>
    units.edit(id, { expected_version: 1, body: 'c\n' }, { client }),
  ).catch((error: StagedoorError) => error)
  expect(conflict).toMatchObject({
    code: 'unit_version_conflict',
    details: { expected_version: 1, current_version: 2 },
  })
  expect((await units.diff(id, { from: 1 })).diff).toContain('-a\n+b\n')
})

it('slices count characters, also those of two code units', async () => {
  const id = await newUnit('library/slice', '🌍🌍 hello')
  await units.editSlice(id, { expected_version: 1, from: 1, to: 2, text: '🌱' })
  expect((await units.read(id)).version.body).toBe('🌍🌱 hello')
  expect(await units.edit(id, { expected_version: 2, body: '🌍🌱 hello' })).toMatchObject({
    changed: false,
    version_no: 2,
  })
})

it('the whole life of a unit', async () => {
  await stagedoor.topics.create(null, 'everywhere', 'Of every workspace')
  await stagedoor.topics.create(workspace, 'here')
  expect((await stagedoor.topics.list(workspace)).map(({ topic_label }) => topic_label)).toEqual([
    'everywhere',
    'here',
  ])
  const made = await units.createMany(
    workspace,
    ['life', 'life/a', 'life/b'].map((canonical_address) => ({ canonical_address, body: canonical_address })),
  )
  const [life, a, b] = made.map(({ unit_id }) => unit_id) as [string, string, string]
  await units.move(a, life)
  await units.move(b, life)
  await units.reorder(life, [b, a])
  const inside = await units.list({ containerId: life })
  expect(inside.map(({ unit_id }) => unit_id)).toEqual([b, a])
  expect(await units.profile(a, { topic_labels: ['here', 'everywhere'], note: 1 })).toMatchObject({ note: 1 })
  const { edge_id } = await units.addEdge(a, { edge_type: 'cites', target: 'life/b' })
  expect((await units.edges(b)).in).toMatchObject([{ edge_id, from_address: 'life/a' }])
  expect(await units.check([a])).toMatchObject([{ conformance: 'conforms', findings: [] }])
  expect(await units.read(a)).toMatchObject({
    mup_tier: 1,
    missing: ['vector', 'enacted'],
    conformance: 'conforms',
  })

  // A login is nobody who decides, also for a program that does not know of it.
  const nobody = { expected_version: 1, apr_ref: 'APR-1' } as Parameters<typeof units.enact>[1]
  await expect(units.enact(a, nobody)).rejects.toMatchObject({
    code: 'argument_invalid',
    message: expect.stringMatching(/^Only a person can decide this/),
    hint: expect.stringContaining('decidedBy'),
  })
  await units.enact(a, { expected_version: 1, apr_ref: 'APR-1', decidedBy: 'rita' })
  expect((await units.history(a)).lifecycle).toMatchObject([
    { to_status: 'enacted', changed_by: 'rita', changed_via: expect.stringMatching(/./) },
  ])
  await expect(units.edit(a, { expected_version: 1, body: 'no' })).rejects.toMatchObject({
    code: 'unit_locked',
  })
  await units.enact(b, { expected_version: 1, apr_ref: 'APR-2', decidedBy: 'rita' })
  await units.supersede(a, { successor: b, apr_ref: 'APR-3', decidedBy: 'rita' })
  expect(await units.read(a)).toMatchObject({ lifecycle_status: 'superseded', superseded_by: b })
  await units.changeKind(b, { unit_kind: 'section', apr_ref: 'APR-4', decidedBy: 'rita' })
  await units.retire(b, { reason: 'over' })
  expect(await units.read(b)).toMatchObject({ lifecycle_status: 'retired', unit_kind: 'section' })
  await units.delete(life, { reason: 'a slip' })
  expect(await units.list({ workspaceId: workspace, deleted: true })).toMatchObject([{ unit_id: life }])
  await units.restore(life)
  expect((await units.history(life)).lifecycle.map(({ to_status }) => to_status)).toEqual([
    'draft',
    'deleted',
  ])
  await stagedoor.topics.retire(workspace, 'here')
  expect(await units.check({ workspace_id: workspace })).not.toEqual([])
})

it('a document is marked, looked at, approved by a person, cut, and known afterwards', async () => {
  const source = '# Guide\n\nHello.\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n'
  const marked = await units.mark({ workspace, source, sourceRef: 'guide.md' })
  const { staging_record_id: record, digest } = marked
  expect(marked).toMatchObject({ created: true, lifecycle_status: 'pending' })
  expect((await units.mark({ workspace, source, sourceRef: 'guide.md' })).staging_record_id).toBe(record)
  const shown = await units.marking(record)
  expect(shown.pieces.map(({ text }) => text.trim())).toEqual([
    '# Guide\n\nHello.',
    '## One\n\nFirst.',
    '## Two\n\nSecond.',
  ])
  expect(shown.pieces.every(({ change }) => change === 'new')).toBe(true)

  await expect(units.cut(record, digest)).rejects.toMatchObject({ code: expect.stringMatching(/^staging_/) })
  await db.as(reviewer, (client) =>
    client.query('select iu_core.fn_iu_staging_approve($1, $2)', [record, digest]),
  )
  await expect(units.cut(record, '0'.repeat(64))).rejects.toMatchObject({
    code: expect.stringMatching(/^staging_/),
  })
  const cut = await units.cut(record, digest)
  expect(cut).toMatchObject({ versioned: 0, successors: 0, retired: 0 })
  const one = await units.read({ workspace_id: workspace, canonical_address: 'guide/one' })
  expect(one.version.body.trim()).toBe('## One\n\nFirst.')

  const [document] = await stagedoor.documents.list({ workspaceId: workspace })
  expect(document).toMatchObject({ source_ref: 'guide.md', title: 'Guide', pieces: 3 })
  const detail = await stagedoor.documents.get(document!.document_id)
  expect(detail.body).toBe(source)
  expect(detail.map.map(({ canonical_address }) => canonical_address)).toContain('guide/two')
  await expect(stagedoor.documents.get(one.unit_id)).rejects.toMatchObject({ code: 'document_unknown' })
  const again = await units.mark({ workspace, source: source.replace('First', '1st'), sourceRef: 'guide.md' })
  expect(again.report.pieces.map(({ change }) => change)).toEqual(['same', 'changed', 'same'])
  expect((await units.marking(again.staging_record_id)).pieces.map(({ change }) => change)).toEqual([
    'same',
    'changed',
    'same',
  ])
})

describe('a mistake of a program is reported before the database reports a syntax error:', () => {
  const lone = 'caf\ud83d'
  it.each<[string, () => Promise<unknown>, string]>([
    ['an address where an id belongs', () => units.read('lib/leave'), 'lib/leave is not the id of a unit'],
    [
      'the same in an edit',
      () => units.edit('lib/leave', { expected_version: 1, body: 'x' }),
      'is not the id',
    ],
    [
      'a time that is none',
      () => units.read(randomUUID(), { asOf: 'zzz' as unknown as Date }),
      'asOf is a Date that is a time',
    ],
    [
      'a workspace by its name',
      () => units.create('here', { canonical_address: 'lib/x', body: 'x' }),
      'here is not the id of a workspace',
    ],
    [
      'half a character in a text',
      () => units.create(workspace, { canonical_address: 'lib/lone', body: lone }),
      'half a character (a lone surrogate) at 3',
    ],
    [
      'half a character in one of many',
      () => units.createMany(workspace, [{ canonical_address: 'lib/lone', body: 'x', title: lone }]),
      'half a character',
    ],
    [
      'half a character in a slice',
      () => units.editSlice(randomUUID(), { expected_version: 1, from: 0, to: 0, text: lone }),
      'half a character',
    ],
    [
      'half a character deep in a profile',
      () => units.profile(randomUUID(), { a: [{ [lone]: 1 }] }),
      'half a character',
    ],
    [
      'NUL in an edit',
      () => units.edit(randomUUID(), { expected_version: 1, body: 'a\0b' }),
      'holds NUL at 1',
    ],
  ])('%s', async (_, call, says) => {
    await expect(call()).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(says),
    })
  })
})
