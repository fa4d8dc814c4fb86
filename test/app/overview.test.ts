/** The figures of the overview: what each room counts, whose, and how much is read for it. */
import { beforeAll, expect, it } from 'vitest'
import { type Overview, overviewSql, ROOMS, type RoomName, readOverview } from '../../src/app/overview.ts'
import type { Client } from '../../src/kernel/postgres/connection.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

const db = useDatabase()
const MANY = 30_000
let ours: Member
let theirs: Member
let agent: Member

beforeAll(async () => {
  const workspace = await createWorkspace(db, 'ours')
  ours = await createMember(db, workspace, 'operator')
  agent = await createMember(db, workspace, 'agent')
  theirs = await createMember(db, await createWorkspace(db, 'theirs'), 'operator')
  await db.owner(`insert into iu_core.job_kind (job_kind) values ('bulk'), ('mail')`)
  const job = `job_kind, executor, priority, attempts, crashes, replays, enqueued_at, safe_payload, workspace_id, causation_depth, actor`
  await db.owner(
    `insert into iu_core.job_queue (job_kind, workspace_id, actor, process_after)
     select 'bulk', $1, 'a', now() - make_interval(secs => i) from generate_series(1, $2) as i`,
    [workspace, MANY],
  )
  await db.owner(
    `insert into iu_core.job_queue (job_kind, workspace_id, actor, process_after, leased_by)
     values ('mail', $1, 'a', now() - interval '2 days', null), ('mail', $1, 'a', now() - interval '3 days', gen_random_uuid()),
            ('mail', $1, 'a', now() + interval '1 day', null)`,
    [workspace],
  )
  await db.owner(
    `insert into iu_core.job_history (job_id, outcome, finished_at, ${job})
     select gen_random_uuid(), 'completed', now() - make_interval(secs => i * 10), 'bulk', 'PG_worker', 0, 1, 0, 0, now(), '{}', $1, 0, 'a'
       from generate_series($2, 1, -1) as i`,
    [workspace, MANY],
  )
  await db.owner(
    `insert into iu_core.job_dead_letter (job_id, last_error, ${job})
     select gen_random_uuid(), 'no answer', 'mail', 'PG_worker', 0, 5, 0, 0, now(), '{}', $1, 0, 'a' from generate_series(1, 3)`,
    [workspace],
  )
  await db.owner(
    `insert into iu_core.event_outbox (id, event_domain, event_type, workspace_id, correlation_id, actor)
     select overlay(iu_core.fn_time_uuid_floor(now() - make_interval(secs => i * 10))::text
                    placing substr(gen_random_uuid()::text, 15) from 15)::uuid, 'piece', 'piece_reordered', $1, gen_random_uuid(), 'a'
       from generate_series(1, $2) as i`,
    [workspace, MANY],
  )
  // As autovacuum does: it also tells the index of the history about new blocks.
  for (const table of ['job_queue', 'job_history', 'event_outbox'])
    await db.owner(`vacuum analyze iu_core.${table}`)
})

it('counts what waits, runs, ended lately, is oldest and failed, of one’s own workspaces only', async () => {
  const jobs = figures(await read(ours), 'jobs')
  // Of each kind the head of the queue is looked at, and the answer says that there are more.
  expect(jobs).toMatchObject({ count: 2003, waiting: 2001, running: 1, more: true })
  expect(jobs.trouble).toEqual([{ what: 'dead_letters', count: 3, words: 'dead letters' }])
  expect(jobs.oldest).toMatchObject({ name: 'mail' })
  expect(Date.now() - jobs.oldest!.at.getTime()).toBeGreaterThan(47 * 3_600_000)
  // One every ten seconds: 30 in each of the twelve steps.
  expect(jobs.rate!.series).toHaveLength(12)
  for (const one of [jobs.rate!.count, figures(await read(ours), 'events').rate!.count]) {
    expect(one).toBeGreaterThan(300)
    expect(one).toBeLessThanOrEqual(361)
  }

  const elsewhere = await read(theirs)
  expect(elsewhere.rooms.map(({ room }) => room)).toEqual(ROOMS)
  for (const { room, count, waiting, running, oldest, rate, trouble } of elsewhere.rooms) {
    if (room === 'consumers') continue
    expect({ room, count, waiting, running, oldest, trouble }).toEqual({
      ...{ room, count: 0, waiting: 0, running: 0, oldest: null, trouble: [] },
    })
    expect(rate?.count ?? 0).toBe(0)
  }
})

it('counts an approved upload as one to promote, and no approved record, which a program uses', async () => {
  const [waits] = await db.owner<{ workspace_id: string }>(
    `select workspace_id from iu_core.job_queue limit 1`,
  )
  await db.owner(
    `insert into iu_core.change (workspace_id, number, kind, subject_id, title, author, status)
     values ($1, 1, 'record', gen_random_uuid(), 'Refund of order 1871', 'a', 'approved'),
            ($1, 2, 'upload', gen_random_uuid(), 'week-45.csv', 'a', 'approved')`,
    [waits!.workspace_id],
  )
  expect(figures(await read(ours), 'promotions')).toMatchObject({
    waiting: 1,
    oldest: { id: '2', name: 'week-45.csv' },
  })
})

it('leaves out the rooms that a role may not see', async () => {
  const rooms = (await read(agent)).rooms.map(({ room }) => room)
  expect(rooms).toContain('changes')
  expect(rooms).not.toContain('jobs')
})

it('reads no more for a long queue and a long history than for short ones', async () => {
  const explained = await as(ours, (client) =>
    client.query(`explain (analyze, timing off, format json) ${overviewSql(ROOMS)}`),
  )
  const [{ Plan: plan }] = explained.rows[0]['QUERY PLAN']
  const read = nodes(plan).filter((node) => node['Relation Name'] !== undefined)
  expect(read.length).toBeGreaterThan(10)
  // 2,000 jobs of a kind, or 1,000 of a step; the index of the history finds blocks, not rows.
  for (const node of read) {
    const rows =
      node['Actual Rows']! +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0)
    expect(rows, JSON.stringify({ ...node, Plans: undefined })).toBeLessThan(2_500)
  }
})

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}

function as<T>(member: Member, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(db.pool('stagedoor_api'), work, member)
}

function read(member: Member): Promise<Overview> {
  return as(member, readOverview)
}

function figures({ rooms }: Overview, name: RoomName) {
  return rooms.find(({ room }) => room === name)!
}
