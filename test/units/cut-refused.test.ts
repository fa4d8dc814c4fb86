/** A cut that is refused leaves nothing, and of two at once each is whole. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stageMark } from '../../src/app/marking.ts'
import { type Workplace, workplace } from '../staging/people.ts'
import { jsonPart, passExpiry, stage, textPart } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { untilWaiting } from '../support/waiting.ts'
import { approve, approved, cut, cutDocument, HANDBOOK, mark, unitsOf, within } from './documents.ts'

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

const book = () => `book-${documents}`
const units = () => unitsOf(db.pool('postgres'), place.workspace, sourceRef)
/** Everything that a cut could have left. */
const traces = async () => {
  const [counts] = await db.owner(
    `select (select count(*) from iu_core.information_unit) as units, (select count(*) from iu_core.unit_version) as versions,
            (select count(*) from iu_core.kb_document) as documents, (select count(*) from iu_core.kb_unit_map) as pieces,
            (select count(*) from iu_core.vector_outbox) as outbox, (select count(*) from iu_core.dot_iu_command_run) as runs,
            (select count(*) from iu_core.event_outbox) as events,
            (select string_agg(lifecycle_status, ',' order by staging_record_id) from iu_core.iu_staging_record) as records`,
  )
  return counts
}

describe('refused, it leaves nothing', () => {
  const refused = async (act: () => Promise<unknown>, code: string) => {
    const before = await traces()
    expect(await sqlstateOf(act())).toBe(code)
    expect(await traces()).toEqual(before)
  }

  it('not approved', async () => {
    const staged = await mark(place, HANDBOOK, { sourceRef })
    await refused(() => cut(place, staged), 'SD510')
  })
  it('with another digest, or none', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    await refused(() => cut(place, { ...staged, digest: 'a'.repeat(64) }), 'SD504')
    await refused(() => cut(place, { ...staged, digest: null as never }), 'SD001')
  })
  it('expired', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    await passExpiry(place.intruder, staged.staging_record_id)
    await refused(() => cut(place, staged), 'SD503')
  })
  it('when somebody changed the bytes behind our back', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    await place.intruder.query(
      `update iu_core.iu_staging_payload set payload_text = replace(payload_text, 'Twenty', 'Thirty') where staging_record_id = $1 and part_index = 1`,
      [staged.staging_record_id],
    )
    await refused(() => cut(place, staged), 'SD514')
  })
  it('when a topic was retired since', async () => {
    await db.owner(
      `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'passing', 'test')`,
      [place.workspace],
    )
    const staged = await approved(place, `---\ntopics: passing\n---\n${HANDBOOK}`, { sourceRef })
    await db.owner(`update iu_core.topic_vocabulary set retired_at = now() where topic_label = 'passing'`)
    await refused(() => cut(place, staged), 'SD909')
  })
  it('when an address was taken since', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    await place.operator.session.query(`select iu_core.fn_unit_create($1, $2, 'Mine.')`, [
      place.workspace,
      `${book()}/leave`,
    ])
    await refused(() => cut(place, staged), 'SD909')
  })
  it('of a record that is no manifest', async () => {
    const made = await stage(place.operator.session, { workspace: place.workspace, parts: [jsonPart('{}')] })
    const staged = { staging_record_id: made.staging_record_id, digest: made.content_hash }
    await approve(place, staged)
    await refused(() => cut(place, staged), 'SD909')
    await expect(cut(place, staged)).rejects.toThrow(/is a \w+, not the marking of a document/)
  })
  it('by an agent, who may stage it, and by those outside, who see nothing', async () => {
    const staged = await stageMark(within(place.agent.session), {
      workspace: place.workspace,
      source: HANDBOOK,
      sourceRef,
    })
    await approve(place, staged)
    const other = await workplace(db)
    const call = [staged.staging_record_id, staged.digest]
    await refused(
      () => place.agent.session.query('select iu_core.dot_iu_cut_from_manifest($1, $2)', call),
      '42501',
    )
    await refused(
      () => other.operator.session.query('select iu_core.dot_iu_cut_from_manifest($1, $2)', call),
      'SD501',
    )
  })
  it('a second time', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    await cut(place, staged)
    await refused(() => cut(place, staged), 'SD502')
  })
})

it('staged again after a topic was retired, a manifest is the record that is there', async () => {
  await db.owner(
    `insert into iu_core.topic_vocabulary (workspace_id, topic_label, registered_by) values ($1, 'fading', 'test')`,
    [place.workspace],
  )
  const { manifest } = await mark(place, `---\ntopics: fading\n---\n${HANDBOOK}`, { sourceRef })
  const hold = (key: string) =>
    stage(place.operator.session, {
      ...{ workspace: place.workspace, key, kind: 'mark_manifest', type: 'manifest_json' },
      parts: [
        jsonPart(JSON.stringify(manifest)),
        textPart(`---\ntopics: fading\n---\n${HANDBOOK}`, 'source'),
      ],
    })
  const first = await hold('once')
  await db.owner(`update iu_core.topic_vocabulary set retired_at = now() where topic_label = 'fading'`)
  expect(await hold('once')).toMatchObject({ staging_record_id: first.staging_record_id, created: false })
  expect(await sqlstateOf(hold('another'))).toBe('SD909')
})

it('a manifest of no workspace is not held: its units would belong to none', async () => {
  const { manifest } = await mark(place, HANDBOOK, { sourceRef })
  const parts = [jsonPart(JSON.stringify(manifest)), textPart(HANDBOOK, 'source')]
  const what = { kind: 'mark_manifest', type: 'manifest_json', parts }
  expect(await sqlstateOf(stage(place.worker.session, { workspace: null, ...what }))).toBe('SD909')
})

describe('at once', () => {
  it('two cuts of one record: one wins', async () => {
    const staged = await approved(place, HANDBOOK, { sourceRef })
    const done = await Promise.allSettled([
      cut(place, staged),
      place.owner.session.query('select iu_core.dot_iu_cut_from_manifest($1, $2)', [
        staged.staging_record_id,
        staged.digest,
      ]),
    ])
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await units()).size).toBe(5)
  })

  it('two manifests of one document: what was approved before the other was cut does not take it back', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    const first = await approved(place, HANDBOOK.replace('Twenty-five', 'Thirty'), { sourceRef })
    const second = await approved(
      place,
      HANDBOOK.replace('Twenty-five', 'Forty').replace('receipts', 'bills'),
      { sourceRef },
    )
    const { operator, owner } = place
    await operator.session.query('begin')
    await cut(place, first)
    const waiting = owner.session.query('select iu_core.dot_iu_cut_from_manifest($1, $2) as cut', [
      second.staging_record_id,
      second.digest,
    ])
    const refused = sqlstateOf(waiting)
    await untilWaiting(db, owner.session)
    await operator.session.query('commit')
    expect(await refused).toBe('SD909')
    expect((await units()).get(`${book()}/leave`)).toMatchObject({
      version_no: 2,
      body: '## Leave\n\nThirty days.',
    })
    // Marked and approved again, it is what stays.
    await cutDocument(place, HANDBOOK.replace('Twenty-five', 'Forty'), { sourceRef })
    expect((await units()).get(`${book()}/leave`)).toMatchObject({ body: '## Leave\n\nForty days.' })
  })

  it('an edit while it is cut: the cut comes after it, onto the newest version', async () => {
    await cutDocument(place, HANDBOOK, { sourceRef })
    const staged = await approved(place, HANDBOOK.replace('Twenty-five', 'Thirty'), { sourceRef })
    const { operator, owner } = place
    const edit = (body: string) =>
      owner.session.query(
        `select iu_core.fn_unit_edit(unit_id, 1, $3) from iu_core.information_unit where workspace_id = $1 and canonical_address = $2`,
        [place.workspace, `${book()}/leave`, body],
      )
    await owner.session.query('begin')
    await edit('Mine.')
    const waiting = cut(place, staged)
    await untilWaiting(db, operator.session)
    await owner.session.query('commit')
    expect(await waiting).toMatchObject({ versioned: 1 })
    expect((await units()).get(`${book()}/leave`)).toMatchObject({
      version_no: 3,
      body: '## Leave\n\nThirty days.',
    })
  })
})
