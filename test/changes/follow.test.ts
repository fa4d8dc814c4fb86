/** A change follows its subject in the same transaction: what opens one, what its status is, and what its history tells. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SQL_FOLDER } from '../../src/kernel/postgres/migrate/files.ts'
import { member, type Person, service } from '../staging/people.ts'
import { INTERMEDIATE, PACKAGE, stage, startRun } from '../staging/staged.ts'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { useTrial } from '../support/ingest-rows.ts'

const db = useDatabase()
const trial = useTrial(db, { approval: true })
const line = (group: string) => [{ group_code: group, group_name: group, day: '2026-11-01', amount: 1 }]

interface Change {
  readonly change_id: string
  readonly number: number
  readonly kind: string
  readonly status: string
  readonly digest: string | null
  readonly title: string
  readonly author: string
}

async function changeOf(subject: string): Promise<Change | undefined> {
  const [row] = await db.owner<Change & Record<string, unknown>>(
    'select * from iu_core.change where subject_id = $1',
    [subject],
  )
  return row
}

async function historyOf(subject: string): Promise<string[]> {
  const rows = await db.owner<{ told: string }>(
    `select concat_ws(' ', h.what, h.detail ->> 'from', h.detail ->> 'to', h.actor) as told
       from iu_core.change_history h join iu_core.change c using (change_id) where c.subject_id = $1 order by h.seq`,
    [subject],
  )
  return rows.map(({ told }) => told)
}

const statusOf = async (subject: string) => (await changeOf(subject))?.status

async function differences(): Promise<unknown[]> {
  return trial.service('select * from iu_core.fn_change_rebuild(true)')
}

describe('the change of an upload', () => {
  it('is opened with it, and is a draft until its plan is submitted', async () => {
    const plan = await trial.stagePlanned(line('a'))
    const change = await changeOf(plan.upload_id)
    expect(change).toMatchObject({
      kind: 'upload',
      number: 1,
      status: 'draft',
      digest: plan.digest,
      author: trial.operator.userId,
    })
    await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
      plan.upload_id,
      plan.digest,
      trial.operator.userId,
    ])
    expect(await statusOf(plan.upload_id)).toBe('open')
    expect(await differences()).toEqual([])
  })

  it('is approved, promoted and undone with it, and its history says by whom', async () => {
    const plan = await trial.stagePlanned(line('b'))
    await trial.approved(plan)
    expect(await statusOf(plan.upload_id)).toBe('approved')
    await trial.promote(plan)
    expect(await statusOf(plan.upload_id)).toBe('promoted')
    await trial.undo(plan.upload_id)
    expect(await statusOf(plan.upload_id)).toBe('undone')
    const [operator, reviewer] = [trial.operator.userId, trial.reviewer.userId]
    expect(await historyOf(plan.upload_id)).toEqual([
      `opened ${operator}`,
      expect.stringMatching(/^planned /),
      `status draft open ${operator}`,
      `reviewed ${reviewer}`,
      `status open approved ${reviewer}`,
      expect.stringMatching(/^status approved promoted /),
      expect.stringMatching(/^status promoted undone /),
    ])
    const events = await db.owner<{ event_type: string }>(
      `select event_type, safe_payload from iu_core.event_outbox
        where event_domain = 'change' and event_subject_ref = (select change_id::text from iu_core.change where subject_id = $1) order by seq`,
      [plan.upload_id],
    )
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'opened',
      'status_changed',
      'reviewed',
      ...Array(3).fill('status_changed'),
    ])
    expect(await differences()).toEqual([])
  })

  it('goes back to draft with a new plan: the approval was of another digest', async () => {
    const plan = await trial.stagePlanned(line('c'))
    await trial.approved(plan)
    const again = await trial.planned(plan.upload_id, 'LENIENT')
    expect(again.digest).not.toBe(plan.digest)
    expect(await changeOf(plan.upload_id)).toMatchObject({ status: 'draft', digest: again.digest })
    expect((await historyOf(plan.upload_id)).at(-1)).toMatch(/^status approved draft/)
  })

  it('is rejected with its plan, a draft when it is planned again, and closed when it is discarded', async () => {
    const plan = await trial.stagePlanned(line('d'))
    await trial.service('select iu_core.fn_ingest_submit($1, $2, $3)', [
      plan.upload_id,
      plan.digest,
      trial.operator.userId,
    ])
    await trial.service(`select iu_core.fn_ingest_reject($1, 'no', $2)`, [
      plan.upload_id,
      trial.reviewer.userId,
    ])
    expect(await statusOf(plan.upload_id)).toBe('rejected')
    await trial.planned(plan.upload_id)
    expect(await statusOf(plan.upload_id)).toBe('draft')
    await trial.service('select iu_core.fn_ingest_discard($1)', [plan.upload_id])
    expect(await changeOf(plan.upload_id)).toMatchObject({ status: 'closed', digest: null })
    expect(await differences()).toEqual([])
  })

  it('is not opened for a dry run, nor for its review package', async () => {
    const dry = await trial.stagePlanned(line('e'), { runMode: 'FULL_DRY_RUN' })
    expect(await changeOf(dry.upload_id)).toBeUndefined()
    const packages = await db.owner(
      'select from iu_core.change c join iu_core.ingest_submission s on s.staging_record_id = c.subject_id',
    )
    expect(packages).toEqual([])
  })
})

describe('the change of a record', () => {
  let workspace: string
  let agent: Person
  let reviewer: Person
  let backEnd: Person
  beforeAll(async () => {
    workspace = await createWorkspace(db, 'records')
    agent = await member(db, workspace, 'agent')
    reviewer = await member(db, workspace, 'reviewer')
    backEnd = await service(db)
  })

  it('follows the decision on it', async () => {
    const record = await stage(agent.session, { workspace, purpose: 'Commentary\non week 45' })
    const id = record.staging_record_id
    expect(await changeOf(id)).toMatchObject({
      kind: 'record',
      number: 1,
      status: 'open',
      title: 'Commentary on week 45',
      digest: record.content_hash,
    })
    await reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, record.content_hash])
    await backEnd.session.query('select iu_core.fn_iu_staging_consume($1, $2)', [
      id,
      await startRun(backEnd.session, workspace),
    ])
    expect(await historyOf(id)).toEqual([
      `opened ${agent.actor}`,
      `reviewed ${reviewer.actor}`,
      `status open approved ${reviewer.actor}`,
      `status approved promoted ${backEnd.actor}`,
    ])
  })

  it('is not opened where nobody has to decide, and costs no number', async () => {
    const { staging_record_id: id } = await stage(agent.session, { workspace, ...INTERMEDIATE })
    expect(await changeOf(id)).toBeUndefined()
    const { staging_record_id: next } = await stage(agent.session, { workspace })
    expect(await changeOf(next)).toMatchObject({ number: 2 })
  })

  it('is opened for a package that only says that it is the review of an upload', async () => {
    const [upload] = await db.owner<{ upload_id: string }>(
      'select upload_id from iu_core.ingest_upload limit 1',
    )
    const { staging_record_id: id } = await stage(agent.session, {
      workspace,
      ...PACKAGE,
      metadata: JSON.stringify(upload),
    })
    expect(await changeOf(id)).toMatchObject({ kind: 'record', status: 'open' })
  })

  it('is closed when its owner withdraws it, and when it is taken away, with its title', async () => {
    const withdrawn = await stage(agent.session, { workspace })
    await agent.session.query('select iu_core.fn_iu_staging_withdraw($1)', [withdrawn.staging_record_id])
    expect(await statusOf(withdrawn.staging_record_id)).toBe('closed')
    const gone = await stage(agent.session, { workspace, purpose: 'with a name in it' })
    await backEnd.session.query('select iu_core.fn_iu_staging_unregister($1)', [gone.staging_record_id])
    expect(await changeOf(gone.staging_record_id)).toMatchObject({
      status: 'closed',
      title: 'record that was taken away',
    })
    expect(await differences()).toEqual([])
  })
})

describe('rebuild', () => {
  it('finds a change that is missing or says something else, corrects it, and then finds nothing', async () => {
    const plan = await trial.stagePlanned(line('r'))
    const other = await trial.stagePlanned(line('s'))
    await db.owner(`update iu_core.change set status = 'approved', digest = null where subject_id = $1`, [
      plan.upload_id,
    ])
    const intruder = await db.session('postgres')
    await intruder.query('set session_replication_role = replica')
    await intruder.query(
      `with gone as (delete from iu_core.change where subject_id = $1 returning change_id)
       delete from iu_core.change_history where change_id in (select change_id from gone)`,
      [other.upload_id],
    )
    const found = (await differences()) as { problem: string; subject_id: string; was: string | null }[]
    expect(found.map(({ problem, subject_id }) => [problem, subject_id])).toEqual([
      ['digest', plan.upload_id],
      ['status', plan.upload_id],
      ['missing', other.upload_id],
    ])
    await trial.service('select * from iu_core.fn_change_rebuild(false)')
    expect(await differences()).toEqual([])
    expect(await changeOf(plan.upload_id)).toMatchObject({ status: 'draft', digest: plan.digest })
    expect(await changeOf(other.upload_id)).toMatchObject({ status: 'draft', digest: other.digest })
  })

  it('finds nothing after the backfill of the migration: it derives the same from the same subjects', async () => {
    const before = await db.owner(COMPARED)
    const migration = readFileSync(join(SQL_FOLDER, 'migrations/0032_changes.sql'), 'utf8')
    const intruder = await db.session('postgres')
    await intruder.query('set session_replication_role = replica')
    for (const table of ['change_history', 'change', 'change_counter', 'ingest_submission'])
      await intruder.query(`delete from iu_core.${table}`)
    await intruder.query(migration.slice(migration.indexOf('-- Backfill:')))
    expect(await differences()).toEqual([])
    // What was unregistered is not there any more; the others have the same title and author.
    const after = await db.owner<{ subject_id: string }>(COMPARED)
    const kept = new Set(after.map(({ subject_id }) => subject_id))
    expect(after).toEqual(before.filter(({ subject_id }) => kept.has(subject_id)))
    expect(before.length - after.length).toBe(1)
    const next = await trial.stagePlanned(line('t'))
    const [{ most } = { most: 0 }] = await db.owner<{ most: number }>(
      'select max(number) as most from iu_core.change where workspace_id = $1 and subject_id <> $2',
      [trial.workspace, next.upload_id],
    )
    expect(await changeOf(next.upload_id)).toMatchObject({ number: most + 1 })
  })
})

const COMPARED =
  'select subject_id, kind, title, author, author_via, status, digest from iu_core.change order by 1'
