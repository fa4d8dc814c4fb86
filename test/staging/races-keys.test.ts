/** Many at once with the same idempotency key: one record, and everybody gets the same answer. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { untilWaiting } from '../support/waiting.ts'
import { person, type Workplace, workplace } from './people.ts'
import { eventsOf, jsonPart, type Staged, stage } from './staged.ts'

const db = useDatabase()
const MANY = 64
let place: Workplace
let sessions: pg.Client[]

beforeAll(async () => {
  place = await workplace(db)
  const people = Array.from({ length: MANY }, () => person(db, 'stagedoor_agent', place.agent.actor))
  sessions = (await Promise.all(people)).map((one) => one.session)
})

/** Everybody creates while one holds the key in an open transaction, so that they really meet. */
async function allAtOnce(key: string, parts: (n: number) => string[], end: 'commit' | 'rollback') {
  const [first, ...others] = sessions as [pg.Client, ...pg.Client[]]
  const create = (session: pg.Client, n: number) =>
    stage(session, { workspace: place.workspace, key, parts: parts(n) }).catch(
      (error: pg.DatabaseError) => error,
    )
  await first.query('begin')
  const winner = await create(first, 0)
  const answers = others.map((session, index) => create(session, index + 1))
  await Promise.all(others.map((session) => untilWaiting(db, session)))
  await first.query(end)
  return [winner, ...(await Promise.all(answers))]
}

it(`gives ${MANY} concurrent creates with one key one record and equal answers`, async () => {
  const answers = (await allAtOnce('same', () => [jsonPart('{"week": 1}')], 'commit')) as Staged[]
  const [winner, ...others] = answers
  expect(winner).toMatchObject({ created: true, lifecycle_status: 'pending' })
  expect(others).toEqual(Array(MANY - 1).fill({ ...winner, created: false }))
  expect(await db.owner('select from iu_core.iu_staging_record')).toHaveLength(1)
  expect(await db.owner('select from iu_core.iu_staging_payload')).toHaveLength(1)
  expect(await eventsOf(db.pool('postgres'), winner!.staging_record_id)).toHaveLength(1)
})

it('makes one of the waiting the winner when the first rolls back', async () => {
  const answers = (await allAtOnce('lost', () => [jsonPart('{"week": 2}')], 'rollback')) as Staged[]
  const [gone, ...others] = answers
  expect(others.filter((answer) => answer.created)).toHaveLength(1)
  expect(new Set(others.map((answer) => answer.staging_record_id)).size).toBe(1)
  expect(others[0]!.staging_record_id).not.toBe(gone!.staging_record_id)
  expect(await eventsOf(db.pool('postgres'), gone!.staging_record_id)).toEqual([])
  expect(await eventsOf(db.pool('postgres'), others[0]!.staging_record_id)).toHaveLength(1)
})

it('lets one of two contents under the same key win and reports both digests to the others', async () => {
  const answers = await allAtOnce('torn', (n) => [jsonPart(`{"version": ${n % 2}}`)], 'commit')
  const winner = answers[0] as Staged
  const refused = answers.filter((answer): answer is pg.DatabaseError => answer instanceof Error)
  const agreed = answers.filter((answer): answer is Staged => !(answer instanceof Error))
  expect([agreed.length, refused.length]).toEqual([MANY / 2, MANY / 2])
  expect(new Set(agreed.map((answer) => answer.content_hash))).toEqual(new Set([winner.content_hash]))
  for (const error of refused) {
    const detail = JSON.parse(error.detail!)
    expect(error.code).toBe('SD505')
    expect(detail).toMatchObject({ record: winner.staging_record_id, existing: winner.content_hash })
    expect(detail.given).toMatch(/^[0-9a-f]{64}$/)
    expect(detail.given).not.toBe(winner.content_hash)
    expect(error.message).toContain(detail.existing)
    expect(error.message).toContain(detail.given)
  }
})

it('creates a new record when that of the key is unregistered at this moment', async () => {
  const held = await stage(sessions[0]!, { workspace: place.workspace, key: 'gone' })
  await place.worker.session.query('begin')
  await place.worker.session.query('select iu_core.fn_iu_staging_unregister($1)', [held.staging_record_id])
  const again = stage(sessions[1]!, { workspace: place.workspace, key: 'gone' })
  await untilWaiting(db, sessions[1]!)
  await place.worker.session.query('commit')
  expect(await again).toMatchObject({ created: true, lifecycle_status: 'pending' })
})

it('never fails while others create and unregister under the same key without pause', async () => {
  const rounds = Array.from({ length: 150 }, (_, n) => n)
  const taking = (async () => {
    for (const _ of rounds) {
      const { staging_record_id } = await stage(sessions[0]!, { workspace: place.workspace, key: 'restless' })
      await place.worker.session.query('select iu_core.fn_iu_staging_unregister($1)', [staging_record_id])
    }
  })()
  const replaying = sessions.slice(1, 4).map(async (session) => {
    for (const _ of rounds) await stage(session, { workspace: place.workspace, key: 'restless' })
  })
  await Promise.all([taking, ...replaying])
})

it('keeps the keys of workspaces, and of nobody’s, apart', async () => {
  const elsewhere = await db.owner<{ id: string }>(
    `insert into public.workspaces (name) values ('x') returning id`,
  )
  const answers = []
  for (const workspace of [place.workspace, elsewhere[0]!.id, null]) {
    answers.push(
      await stage(place.service.session, { workspace, key: 'shared', parts: [jsonPart(`"${workspace}"`)] }),
    )
  }
  expect(new Set(answers.map((answer) => answer.staging_record_id)).size).toBe(3)
  expect(answers.every((answer) => answer.created)).toBe(true)
})
