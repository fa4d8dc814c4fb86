import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type Person, person, service } from '../../staging/people.ts'
import { type Staged, stage, startRun } from '../../staging/staged.ts'
import { useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { begun, emit, told, wait, wake } from './waiting-steps.ts'

const db = useDatabase()
const owner = () => db.pool('stagedoor_migrator')

let workspace: string
let author: Person
let reviewer: Person
let backEnd: Person
let record: Staged
let id: string
beforeAll(async () => {
  await db.owner(`update iu_core.dot_config set value = 'true' where key like 'iu_core.staging%'`)
  workspace = await createWorkspace(db)
  const [a, r] = [
    await createMember(db, workspace, 'operator'),
    await createMember(db, workspace, 'reviewer'),
  ]
  author = await person(db, a.role!, a.userId)
  reviewer = await person(db, r.role!, r.userId)
  backEnd = await service(db)
})
beforeEach(async () => {
  await db.owner('delete from noetl.wait; delete from noetl.inbox')
  record = await stage(author.session, { workspace })
  id = await begun(db, workspace)
})

const waitFor = (recordId = record.staging_record_id) =>
  wait(owner(), id, { kind: 'approval', staging_record_id: recordId })
const approve = () =>
  reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
    record.staging_record_id,
    record.content_hash,
  ])
const END: Record<string, () => Promise<unknown>> = {
  approved: approve,
  rejected: () =>
    reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'wrong')`, [record.staging_record_id]),
  withdrawn: () =>
    author.session.query('select iu_core.fn_iu_staging_withdraw($1)', [record.staging_record_id]),
}

for (const [outcome, end] of Object.entries(END)) {
  it(`receives that the record was ${outcome}, whether it waited already or not`, async () => {
    await waitFor()
    expect(await wake(db)).toBe(0)
    await end()
    expect(await wake(db)).toBe(1)
    const late = await begun(db, workspace)
    await wait(owner(), late, { kind: 'approval', staging_record_id: record.staging_record_id })
    expect(await wake(db)).toBe(1)
    for (const execution of [id, late]) {
      expect(await told(db, execution)).toMatchObject([
        { node_id: 'wait#1', status: outcome, subject: record.staging_record_id },
      ])
    }
  })
}

it('receives the approval also where the record has been consumed since', async () => {
  await waitFor()
  await wake(db)
  await approve()
  const run = await startRun(backEnd.session, workspace)
  await backEnd.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [record.staging_record_id, run])
  expect(await wake(db)).toBe(1)
  expect(await told(db, id)).toMatchObject([{ status: 'approved' }])
})

it('believes no event that the record does not bear out', async () => {
  await waitFor()
  await wake(db)
  await emit(owner(), {
    domain: 'staging',
    type: 'record_approved',
    subject: record.staging_record_id,
    workspace,
  })
  await emit(owner(), { domain: 'staging', type: 'record_approved', subject: 'not even an id', workspace })
  expect(await wake(db)).toBe(0)
})

it('does not wait for a record that is not there, or belongs to another workspace', async () => {
  await waitFor('00000000-0000-4000-8000-000000000000')
  const other = await begun(db, await createWorkspace(db))
  await approve()
  await wait(owner(), other, { kind: 'approval', staging_record_id: record.staging_record_id })
  expect(await wake(db)).toBe(2)
  for (const execution of [id, other]) {
    expect(await told(db, execution)).toMatchObject([{ status: 'withdrawn', payload: {} }])
  }
})

it('misses no approval that commits while the wait does', async () => {
  const session = await db.session()
  await session.query('begin')
  await wait(session, id, { kind: 'approval', staging_record_id: record.staging_record_id })
  await wait(owner(), await begun(db), { subject: 'never' })
  await approve()
  expect(await wake(db)).toBe(0)
  await session.query('commit')
  expect(await wake(db)).toBe(1)
  expect(await told(db, id)).toMatchObject([{ status: 'approved' }])

  const next = await begun(db, workspace)
  record = await stage(author.session, { workspace, purpose: 'another' })
  await reviewer.session.query('begin')
  await approve()
  await wait(owner(), next, { kind: 'approval', staging_record_id: record.staging_record_id })
  expect(await wake(db)).toBe(0)
  await reviewer.session.query('commit')
  expect(await wake(db)).toBe(1)
  expect(await told(db, next)).toMatchObject([{ status: 'approved' }])
})
