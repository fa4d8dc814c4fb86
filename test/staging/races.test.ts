/**
 * Two sessions at the same record: A has done something in a transaction that is still open, B tries something else,
 * then A commits or rolls back. One of them wins, the other is told why not, and each transition has one event.
 */
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { until } from '../support/until.ts'
import { type Workplace, workplace } from './people.ts'
import { eventsOf, INTERMEDIATE, passExpiry, passRetention, stage, startRun } from './staged.ts'

const db = useDatabase()

const ACTIONS = [
  'approve',
  'reject',
  'withdraw',
  'consume',
  'tick',
  'unregister',
  'expire',
  'cleanup',
] as const
type Action = (typeof ACTIONS)[number]

/**
 * What B is told when A has committed. `ok`: it happened; `none`: it found nothing to do. `*`: B did not wait, because
 * the record was out of its reach already; without it B had to wait (expire and cleanup never do: they pass over what
 * somebody holds).
 */
const AFTER_COMMIT = table(`
  A has done  on       | approve  reject  withdraw  consume  tick    unregister  expire  cleanup
  approve     pending  | SD502    SD502   SD502     ok       SD502   SD512       none    none
  reject      pending  | SD502    SD502   SD502     SD502    SD502   ok          none    none
  withdraw    pending  | SD502    SD502   SD502     SD502    SD502   ok          none    none
  consume     pending  | SD502    SD502   SD502     SD502    SD502   SD512       none    none
  tick        pending  | ok       ok      ok        ok       ok      ok          none    none
  unregister  pending  | SD501    SD501   SD501     SD501    SD501   SD501       none    none
  expire      overdue  | SD503*   SD503*  SD503*    SD503*   SD503*  ok          none    none
  unregister  overdue  | SD503*   SD503*  SD503*    SD503*   SD503*  SD501       none    none
  cleanup     ended    | SD502*   SD502*  SD502*    SD502*   SD502*  ok          none    none
  unregister  ended    | SD502*   SD502*  SD502*    SD502*   SD502*  SD501       none    none`)

/** What B gets when A has rolled back: what it would have got without A, but it passed over what A held. */
const ALONE = table(`
  A has done  on       | approve  reject  withdraw  consume  tick    unregister  expire  cleanup
  anything    pending  | ok       ok      ok        ok       ok      ok          none    none
  anything    overdue  | SD503*   SD503*  SD503*    SD503*   SD503*  ok          none    none
  anything    ended    | SD502*   SD502*  SD502*    SD502*   SD502*  ok          none    none`)

interface Row {
  readonly done: string
  readonly on: string
  readonly told: Record<Action, string>
}

function table(text: string): Row[] {
  const [head, ...lines] = text.trim().split('\n')
  const columns = head!.split('|')[1]!.trim().split(/\s+/) as Action[]
  return lines.map((line) => {
    const [left, right] = line.split('|')
    const [done, on] = left!.trim().split(/\s+/)
    const cells = right!.trim().split(/\s+/)
    return {
      done: done!,
      on: on!,
      told: Object.fromEntries(columns.map((column, n) => [column, cells[n]])) as Row['told'],
    }
  })
}

const EVENT: Partial<Record<Action, string>> = {
  approve: 'record_approved',
  reject: 'record_rejected',
  withdraw: 'record_rejected',
  consume: 'record_consumed',
  unregister: 'record_unregistered',
  expire: 'record_expired',
  cleanup: 'record_cleaned',
}

let place: Workplace
let run: string
/** For each action two sessions of somebody who may do it: A's and B's. */
let sessions: Record<'A' | 'B', Record<Action, pg.Client>>
let watcher: pg.Client

beforeAll(async () => {
  place = await workplace(db)
  run = await startRun(place.service.session, place.workspace)
  watcher = await db.session()
  sessions = { A: await crew(), B: await crew() }
})
// expire and cleanup take whatever is due: each race has the zone for itself.
beforeEach(() => db.owner('delete from iu_core.iu_staging_record'))
afterAll(async () => {
  for (const session of new Set(Object.values(sessions.A))) await session.query('rollback')
})

async function crew(): Promise<Record<Action, pg.Client>> {
  const as = async (role: string, sub: string) => {
    const session = await db.session('stagedoor_api')
    await session.query(`set role ${role}`)
    await session.query(`select set_config('request.jwt.claims', $1, false)`, [JSON.stringify({ sub })])
    return session
  }
  const reviewer = await as('stagedoor_reviewer', place.reviewer.actor)
  const owner = await as('stagedoor_agent', place.agent.actor)
  const worker = await db.session('stagedoor_worker')
  return {
    ...{ approve: reviewer, reject: reviewer, tick: reviewer, withdraw: owner },
    ...{ consume: worker, unregister: worker, expire: worker, cleanup: worker },
  }
}

/** A record in the given state, which needs no approval, so that it may be consumed at once. */
async function record(on: string): Promise<{ id: string; digest: string }> {
  const made = await stage(place.agent.session, { workspace: place.workspace, ...INTERMEDIATE })
  const id = made.staging_record_id
  if (on === 'overdue') await passExpiry(place.intruder, id)
  if (on === 'ended') {
    await place.reviewer.session.query('select iu_core.fn_iu_staging_reject($1, $2)', [id, 'ended'])
    await passRetention(place.intruder, id)
  }
  return { id, digest: made.content_hash }
}

/** Does it, and says what happened: ok, none (nothing was due) or the SQLSTATE. */
async function act(side: 'A' | 'B', action: Action, what: { id: string; digest: string }): Promise<string> {
  const session = sessions[side][action]
  const call = (sql: string, ...values: unknown[]) =>
    session.query(`select iu_core.fn_iu_staging_${sql} as answer`, values)
  const calls: Record<Action, () => Promise<pg.QueryResult>> = {
    approve: () => call('approve($1, $2)', what.id, what.digest),
    reject: () => call('reject($1, $2)', what.id, 'no'),
    withdraw: () => call('withdraw($1)', what.id),
    consume: () => call('consume($1, $2)', what.id, run),
    tick: () => call('tick($1, $2)', what.id, '1'),
    unregister: () => call('unregister($1)', what.id),
    expire: () => call('expire()'),
    cleanup: () => call(`cleanup('{}')`),
  }
  const query = calls[action]()
  const refused = await sqlstateOf(query)
  if (refused !== 'not refused') return refused
  const { answer } = (await query).rows[0]
  return answer === 0 || answer?.cleaned === 0 ? 'none' : 'ok'
}

/** Whether B had to wait before it got an answer. */
async function waits(told: Promise<string>, session: pg.Client): Promise<boolean> {
  let settled = false
  void told.finally(() => {
    settled = true
  })
  const { processID } = session as pg.Client & { processID: number }
  return until('B is told something or waits', async () => {
    if (settled) return 'told' as const
    const { rowCount } = await watcher.query('select from pg_locks where pid = $1 and not granted', [
      processID,
    ])
    return rowCount! > 0 ? ('waits' as const) : undefined
  }).then((what) => what === 'waits')
}

async function race(first: Action, second: Action, on: string, end: 'commit' | 'rollback') {
  const what = await record(on)
  const before = (await eventsOf(watcher, what.id)).length
  const a = sessions.A[first]
  await a.query('begin')
  expect(await act('A', first, what)).toBe('ok')
  const told = act('B', second, what)
  const waited = await waits(told, sessions.B[second])
  await a.query(end)
  const said = await told
  const events = (await eventsOf(watcher, what.id)).slice(before).map((event) => event.event_type)
  const rest = await watcher.query(
    'select lifecycle_status from iu_core.iu_staging_record where staging_record_id = $1',
    [what.id],
  )
  return { said, waited, events, status: rest.rows[0]?.lifecycle_status as string | undefined }
}

/** Where a record is after these have happened to it, in this order. */
function statusAfter(on: string, happened: readonly Action[]): string | undefined {
  const start = on === 'ended' ? 'rejected' : 'pending'
  const to: Partial<Record<Action, string>> = {
    ...{ approve: 'approved', reject: 'rejected', withdraw: 'rejected' },
    ...{ consume: 'consumed', expire: 'expired', cleanup: 'cleaned' },
  }
  if (happened.includes('unregister')) return undefined
  return happened.reduce((status, action) => to[action] ?? status, start)
}

const cell = (row: Row, second: Action) => {
  const text = row.told[second]
  const passesOver = second === 'expire' || second === 'cleanup'
  return { said: text.replace('*', ''), waits: !text.endsWith('*') && !passesOver }
}

describe.each(AFTER_COMMIT)('A: $done, on a record that is $on; then A commits', (row) => {
  it.each(ACTIONS)('while B tries to %s', async (second) => {
    const first = row.done as Action
    const { said, waits } = cell(row, second)
    const happened = said === 'ok' ? [first, second] : [first]
    expect(await race(first, second, row.on, 'commit')).toEqual({
      said,
      waited: waits,
      events: happened.flatMap((action) => EVENT[action] ?? []),
      status: statusAfter(row.on, happened),
    })
  })
})

describe.each(AFTER_COMMIT)('A: $done, on a record that is $on; then A rolls back', (row) => {
  it.each(ACTIONS)('while B tries to %s', async (second) => {
    const { said, waits } = cell(ALONE.find((alone) => alone.on === row.on)!, second)
    const happened: Action[] = said === 'ok' ? [second] : []
    expect(await race(row.done as Action, second, row.on, 'rollback')).toEqual({
      said,
      waited: waits,
      events: happened.flatMap((action) => EVENT[action] ?? []),
      status: statusAfter(row.on, happened),
    })
  })
})

it('passes over records whose time runs out while A still holds them, and expires later only those that may', async () => {
  // All of it must be held by then, on a busy machine, too.
  const expires = new Date(Date.now() + 6000)
  const actions = ['approve', 'tick', 'reject', 'withdraw', 'consume', 'unregister'] as const
  const ids = new Map<Action, string>()
  for (const session of new Set(Object.values(sessions.A))) await session.query('begin')
  for (const action of actions) {
    const made = await stage(place.agent.session, {
      workspace: place.workspace,
      ...INTERMEDIATE,
      expires: expires.toISOString(),
    })
    ids.set(action, made.staging_record_id)
    const what = { id: made.staging_record_id, digest: made.content_hash }
    expect(await act('A', action, what), action).toBe('ok')
  }
  await until('their time has run out', async () => {
    const { rows } = await watcher.query('select clock_timestamp() > $1::timestamptz as out', [expires])
    return rows[0].out as boolean
  })
  const expire = async () =>
    (await sessions.B.expire.query('select iu_core.fn_iu_staging_expire() as expired')).rows[0].expired
  expect(await expire()).toBe(0)
  for (const session of new Set(Object.values(sessions.A))) await session.query('commit')
  expect(await expire()).toBe(2)
  for (const action of actions) {
    const open = action === 'approve' || action === 'tick'
    const happened: Action[] = open ? [action, 'expire'] : [action]
    const events = (await eventsOf(watcher, ids.get(action)!)).map((event) => event.event_type)
    expect(events).toEqual(['record_created', ...happened.flatMap((one) => EVENT[one] ?? [])])
  }
})

it('keeps a run open until what it consumes is committed, and consumes nothing under a run that has just ended', async () => {
  const finish = 'select iu_core.fn_command_run_finish($1)'
  const [a, b] = [sessions.A.consume, sessions.B.consume]
  const own = await startRun(place.service.session, place.workspace)
  const first = await record('pending')
  await a.query('begin')
  await a.query('select iu_core.fn_iu_staging_consume($1, $2)', [first.id, own])
  const finished = sqlstateOf(b.query(finish, [own]))
  expect(await waits(finished, b)).toBe(true)
  await a.query('commit')
  expect(await finished).toBe('not refused')
  const { rows } = await watcher.query(
    `select r.consumed_at < c.finished_at as in_time from iu_core.iu_staging_record r
       join iu_core.dot_iu_command_run c on c.run_id = r.consumed_by_run_id where staging_record_id = $1`,
    [first.id],
  )
  expect(rows).toEqual([{ in_time: true }])

  const second = await record('pending')
  const other = await startRun(place.service.session, place.workspace)
  await b.query('begin')
  await b.query(finish, [other])
  const consumed = sqlstateOf(a.query('select iu_core.fn_iu_staging_consume($1, $2)', [second.id, other]))
  expect(await waits(consumed, a)).toBe(true)
  await b.query('commit')
  expect(await consumed).toBe('SD401')
})
