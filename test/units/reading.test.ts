import { beforeAll, describe, expect, it } from 'vitest'
import { addEdge, createTopic, listTopics, retireTopic, unitEdges } from '../../src/units/edges.ts'
import { diffUnit, unifiedDiff, unitHistory } from '../../src/units/history.ts'
import { checkUnits, deleteUnit, enactUnit, restoreUnit, unitsToCheck } from '../../src/units/lifecycle.ts'
import {
  changeProfile,
  createUnit,
  createUnits,
  editUnit,
  listUnits,
  readUnit,
  reorderUnits,
} from '../../src/units/units.ts'
import { cpuClock } from '../support/cpu.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'
import { until } from '../support/until.ts'

const db = useDatabase()
let workspace: string
let operator: Member
let reviewer: Member
let stranger: Member

beforeAll(async () => {
  workspace = await createWorkspace(db)
  operator = await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
  stranger = await createMember(db, await createWorkspace(db, 'Others'), 'operator')
})

const newUnit = (canonical_address: string, body: string, more = {}) =>
  db.as(operator, (client) => createUnit(client, workspace, { canonical_address, body, ...more }))
const edited = (unit: string, expected_version: number, body: string) =>
  db.as(operator, (client) => editUnit(client, unit, { expected_version, body }))
/** A time in whole milliseconds that is over when it is returned: whatever comes now comes after it. */
async function moment(): Promise<Date> {
  const clock = async () => (await db.owner<{ now: Date }>('select clock_timestamp() as now'))[0]!.now
  const time = await clock()
  await until('the next millisecond', async () => (await clock()) > time)
  return time
}

describe('one unit', () => {
  it('is read by its id and by its address, with its current text', async () => {
    const { unit_id, content_hash } = await newUnit('reading/one', '# One\n\nThe text.', { language: 'en' })
    const byId = await db.as(operator, (client) => readUnit(client, { unit_id }))
    expect(byId).toMatchObject({
      unit_id,
      canonical_address: 'reading/one',
      title: 'One',
      version_no: 1,
      lifecycle_status: 'draft',
      content_hash,
      language: 'en',
      body_bytes: 16,
      topics: [],
      mup_tier: 0,
      missing: expect.arrayContaining(['container', 'edge', 'topic']),
      vector_state: 'pending',
      status_then: null,
      version: { version_no: 1, body: '# One\n\nThe text.', content_hash, edited_by: operator.userId },
    })
    const byAddress = await db.as(operator, (client) =>
      readUnit(client, { workspace_id: workspace, canonical_address: 'reading/one' }),
    )
    expect(byAddress).toEqual(byId)
  })

  it('of another workspace is unknown, like one that is not there', async () => {
    const { unit_id } = await newUnit('reading/secret', 'Nobody else reads this.')
    const unknown = { code: 'unit_unknown', status: 404 }
    await expect(db.as(stranger, (client) => readUnit(client, { unit_id }))).rejects.toMatchObject(unknown)
    await expect(
      db.as(stranger, (client) =>
        readUnit(client, { workspace_id: workspace, canonical_address: 'reading/secret' }),
      ),
    ).rejects.toMatchObject(unknown)
    await expect(db.as(stranger, (client) => unitHistory(client, unit_id))).rejects.toMatchObject(unknown)
    await expect(db.as(stranger, (client) => diffUnit(client, unit_id))).rejects.toMatchObject(unknown)
    expect(await db.as(stranger, (client) => listUnits(client))).toEqual([])
  })

  it('is read in each of its versions, and a version that never existed is another error than an unknown unit', async () => {
    const { unit_id } = await newUnit('reading/versions', 'first')
    await edited(unit_id, 1, 'second')
    await edited(unit_id, 2, 'third')
    const read = (version: number) => db.as(operator, (client) => readUnit(client, { unit_id }, { version }))
    expect((await read(1)).version).toMatchObject({ version_no: 1, body: 'first' })
    expect((await read(3)).version).toMatchObject({ version_no: 3, body: 'third' })
    expect((await read(1)).version_no, 'the unit itself is where it is').toBe(3)
    await expect(read(4)).rejects.toMatchObject({
      code: 'unit_unknown',
      message: 'The unit reading/versions has no version 4: it has 3',
      hint: expect.stringContaining('stagedoor unit history'),
    })
  })

  it('is read as of a time: the text and the status of then', async () => {
    const { unit_id } = await newUnit('reading/then', 'before')
    const beforeEdit = await moment()
    await edited(unit_id, 1, 'after')
    const afterEdit = await moment()
    await db.as(reviewer, (client) => enactUnit(client, unit_id, { expected_version: 2, apr_ref: 'APR-1' }))
    const afterEnact = await moment()
    await db.as(reviewer, (client) => deleteUnit(client, unit_id))
    const afterDelete = await moment()
    await db.as(reviewer, (client) => restoreUnit(client, unit_id))
    const read = async (asOf: Date) => {
      const unit = await db.as(operator, (client) => readUnit(client, { unit_id }, { asOf }))
      return [unit.version.body, unit.status_then]
    }
    expect(await read(beforeEdit)).toEqual(['before', 'draft'])
    expect(await read(afterEdit)).toEqual(['after', 'draft'])
    expect(await read(afterEnact)).toEqual(['after', 'enacted'])
    expect(await read(afterDelete)).toEqual(['after', 'deleted'])
    expect(await read(await moment())).toEqual(['after', 'enacted'])
    const { versions } = await db.as(operator, (client) => unitHistory(client, unit_id))
    expect(await read(versions[0]!.edited_at), 'the very time of a version').toEqual(['after', 'draft'])
    await expect(read(new Date('2001-01-01'))).rejects.toMatchObject({
      code: 'unit_unknown',
      message: expect.stringContaining('was not there at 2001-01-01'),
    })
    await expect(
      db.as(operator, (client) => readUnit(client, { unit_id }, { version: 1, asOf: beforeEdit })),
    ).rejects.toMatchObject({ code: 'argument_invalid' })
  })

  it('has a history, newest first, and a diff between any two of its versions', async () => {
    const { unit_id } = await newUnit('reading/history', 'a\nb\nc\n')
    await edited(unit_id, 1, 'a\nB\nc\n')
    await edited(unit_id, 2, 'a\nB\nc\nd\n')
    await db.as(reviewer, (client) => enactUnit(client, unit_id, { expected_version: 3, apr_ref: 'APR-2' }))
    const { versions, lifecycle } = await db.as(operator, (client) => unitHistory(client, unit_id))
    expect(versions.map(({ version_no }) => version_no)).toEqual([3, 2, 1])
    expect(versions[0]!.current_until).toBeNull()
    expect(versions[1]!.current_until).toEqual(versions[0]!.edited_at)
    expect(lifecycle[0]).toMatchObject({
      from_status: 'draft',
      to_status: 'enacted',
      apr_ref: 'APR-2',
      changed_by: reviewer.userId,
    })
    const second = await db.as(operator, (client) => unitHistory(client, unit_id, { limit: 1, before: 3 }))
    expect(second.versions.map(({ version_no }) => version_no)).toEqual([2])

    const diff = (from?: number, to?: number) =>
      db.as(operator, (client) => diffUnit(client, unit_id, { ...(from && { from }), ...(to && { to }) }))
    expect(await diff()).toMatchObject({ from_version: 2, to_version: 3, to_hash: versions[0]!.content_hash })
    const { diff: text } = await diff(1, 2)
    expect(text).toContain('--- reading/history version 1')
    expect(text).toContain('\n-b\n+B\n')
    expect((await diff(1)).diff).toContain('+d')
    expect((await diff(2, 2)).diff).toBe('')
    await expect(diff(1, 9)).rejects.toMatchObject({
      message: 'The unit reading/history has no version 9: it has 3',
    })
  })
})

it('the diff of texts that have nothing in common ends in time', () => {
  const text = (seed: number) =>
    Array.from({ length: 60_000 }, (_, line) => `${(line * seed) % 104_729} ${seed}`).join('\n')
  const workedMs = cpuClock()
  expect(unifiedDiff({ name: 'a', text: text(7) }, { name: 'b', text: text(11) })).toMatch(
    /^--- a\n\+\+\+ b\n/,
  )
  expect(workedMs()).toBeLessThan(2000)
})

describe('many units', () => {
  let library: string
  let second: Member

  beforeAll(async () => {
    library = await createWorkspace(db, 'Library')
    second = await createMember(db, library, 'admin')
    const { unit_id: shelf } = await db.as(second, (client) =>
      createUnit(client, library, { canonical_address: 'shelf', body: 'Shelf', unit_kind: 'document' }),
    )
    await db.as(second, (client) => createTopic(client, library, 'leave', 'Being away'))
    await db.as(second, (client) =>
      createUnits(
        client,
        library,
        Array.from({ length: 9 }, (_, n) => ({
          canonical_address: `shelf/book-${n}`,
          body: `Book ${n}`,
          unit_kind: 'section',
          container_id: shelf,
          position: 9 - n,
        })),
      ),
    )
    await db.as(second, (client) =>
      createUnit(client, library, { canonical_address: 'shelf-life', body: 'Not on the shelf' }),
    )
  })

  const listed = (filter: Parameters<typeof listUnits>[1]) =>
    db.as(second, async (client) =>
      (await listUnits(client, { workspaceId: library, ...filter })).map(
        ({ canonical_address }) => canonical_address,
      ),
    )
  const idOf = async (canonical_address: string) =>
    (await db.as(second, (client) => readUnit(client, { workspace_id: library, canonical_address }))).unit_id

  it('are created together in the order that was given', async () => {
    const units = ['z', 'a', 'm'].map((name) => ({ canonical_address: `order/${name}`, body: name }))
    const made = await db.as(second, (client) => createUnits(client, library, units))
    expect(made.map(({ canonical_address }) => canonical_address)).toEqual(['order/z', 'order/a', 'order/m'])
  })

  it('are listed in pages by address, each once', async () => {
    const seen: string[] = []
    let after: string | undefined
    for (;;) {
      const page = await db.as(second, (client) =>
        listUnits(client, { workspaceId: library, under: 'shelf', limit: 4, ...(after && { after }) }),
      )
      if (page.length === 0) break
      seen.push(...page.map(({ canonical_address }) => canonical_address))
      after = page.at(-1)!.unit_id
    }
    expect(seen).toEqual(['shelf', ...Array.from({ length: 9 }, (_, n) => `shelf/book-${n}`)])
  })

  it('of a container come in its order, in pages as well', async () => {
    const container_id = await idOf('shelf')
    const first = await db.as(second, (client) => listUnits(client, { containerId: container_id, limit: 5 }))
    const rest = await db.as(second, (client) =>
      listUnits(client, { containerId: container_id, limit: 5, after: first.at(-1)!.unit_id }),
    )
    const order = [...first, ...rest].map(({ canonical_address }) => canonical_address)
    expect(order).toEqual(Array.from({ length: 9 }, (_, n) => `shelf/book-${8 - n}`))
    const ids = [...first, ...rest].map(({ unit_id }) => unit_id)
    await db.as(second, (client) => reorderUnits(client, container_id, [...ids].reverse()))
    expect(await listed({ containerId: container_id })).toEqual([...order].reverse())
  })

  it('are found by kind, status, topic, and what is deleted apart from the rest', async () => {
    const tagged = await idOf('shelf/book-1')
    await db.as(second, (client) => changeProfile(client, tagged, { topic_labels: ['leave'] }))
    expect(await listed({ topic: 'leave' })).toEqual(['shelf/book-1'])
    expect(await db.as(second, (client) => listTopics(client, library))).toMatchObject([
      { topic_label: 'leave', description: 'Being away', units: 1, retired_at: null },
    ])
    await db.as(second, (client) => retireTopic(client, library, 'leave'))
    expect(await db.as(second, (client) => listTopics(client, library))).toMatchObject([
      { topic_label: 'leave', retired_at: expect.any(Date) },
    ])
    expect(await listed({ kind: 'document' })).toEqual(['shelf'])
    const gone = await idOf('shelf-life')
    await db.as(second, (client) => deleteUnit(client, gone, 'out of date'))
    expect(await listed({ deleted: true })).toEqual(['shelf-life'])
    expect(await listed({ address: 'shelf-life' })).toEqual([])
    expect(await listed({ status: 'enacted' })).toEqual([])
  })

  it('have edges out and in, and the checker says which lead nowhere', async () => {
    const from = await idOf('shelf/book-2')
    const to = await idOf('shelf/book-3')
    await db.as(second, (client) => addEdge(client, from, { edge_type: 'explains', target: 'shelf/book-3' }))
    await db.as(second, (client) => addEdge(client, from, { edge_type: 'cites', target: 'shelf/nowhere' }))
    const edges = await db.as(second, (client) => unitEdges(client, from))
    expect(edges).toMatchObject({
      out: [
        { edge_type: 'cites', edge_status: 'unverified', to_address: null },
        { edge_type: 'explains', edge_status: 'verified', to_address: 'shelf/book-3' },
      ],
      in: [],
    })
    expect(await db.as(second, (client) => unitEdges(client, to))).toMatchObject({
      out: [],
      in: [{ from_address: 'shelf/book-2' }],
    })
    const nobody = '00000000-0000-7000-8000-000000000000'
    await expect(db.as(second, (client) => unitEdges(client, nobody))).rejects.toMatchObject({
      code: 'unit_unknown',
    })
    const worker = db.pool('stagedoor_worker')
    expect(await unitsToCheck(worker, library)).toContain(from)
    const [checked] = await checkUnits(worker, [from])
    expect(checked).toMatchObject({
      canonical_address: 'shelf/book-2',
      conformance: 'deviates',
      drift: 'none',
      findings: [{ code: 'edge_unverified' }],
    })
    expect(await listed({ conformance: 'deviates' })).toEqual(['shelf/book-2'])
  })
})
