/** Gates closed: every function that writes is refused, and nothing is written anywhere. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { sqlstateOf } from '../support/sqlstate.ts'
import { setGate, type Workplace, workplace } from './people.ts'
import { INTERMEDIATE, jsonPart, passExpiry, passRetention, stage, startRun } from './staged.ts'

const db = useDatabase()
let place: Workplace
const ids: Record<string, string> = {}

beforeAll(async () => {
  place = await workplace(db)
  const { session } = place.agent
  const held = await stage(session, { workspace: place.workspace, ...INTERMEDIATE })
  const overdue = await stage(session, { workspace: place.workspace })
  const ended = await stage(session, { workspace: place.workspace })
  await passExpiry(place.intruder, overdue.staging_record_id)
  await place.reviewer.session.query(`select iu_core.fn_iu_staging_reject($1, 'no')`, [
    ended.staging_record_id,
  ])
  await passRetention(place.intruder, ended.staging_record_id)
  Object.assign(ids, {
    held: held.staging_record_id,
    digest: held.content_hash,
    run: await startRun(place.service.session, place.workspace),
    workspace: place.workspace,
  })
  await setGate(db, 'staging_writes_enabled', false)
  await setGate(db, 'staging_cleanup_enabled', false)
})

type Who = 'agent' | 'reviewer' | 'operator' | 'worker'
const WRITES: [string, Who, string][] = [
  [
    'create',
    'agent',
    `create('sql_snapshot', 'sql_result_snapshot', 'x', p_parts => array['${jsonPart('{}')}'::jsonb], p_workspace_id => :workspace)`,
  ],
  ['approve', 'reviewer', 'approve(:held, :digest)'],
  ['reject', 'reviewer', `reject(:held, 'no')`],
  ['tick', 'reviewer', `tick(:held, '1')`],
  ['untick', 'reviewer', `tick(:held, '1', false)`],
  ['withdraw', 'agent', 'withdraw(:held)'],
  ['consume', 'operator', 'consume(:held, :run)'],
  ['unregister', 'worker', 'unregister(:held)'],
  ['emit_event', 'worker', `emit_event(:held, 'ingestion_complete')`],
  ['expire', 'worker', 'expire()'],
  ['cleanup', 'worker', 'cleanup()'],
  ['cleanup as a dry run', 'worker', `cleanup('{"dry_run": true}')`],
]
const sqlOf = (call: string) =>
  `select iu_core.fn_iu_staging_${call.replace(/:(\w+)/g, (all, name) => (ids[name] ? `'${ids[name]}'` : all))}`

/** Rows of every table of ours, and of every sequence its last value. */
async function everything(): Promise<Record<string, string>> {
  const tables = await db.owner<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'iu_core'::regnamespace and relkind = 'r'`,
  )
  const counts = tables.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ' ' || coalesce(max(xmin::text::bigint), 0) as rows from ${name}`,
  )
  const rows = await db.owner<{ name: string; rows: string }>(counts.join(' union all '))
  return Object.fromEntries(rows.map((row) => [row.name, row.rows]))
}

describe('with the gates closed', () => {
  it.each(WRITES)('%s is refused and writes nothing', async (_, who, call) => {
    const before = await everything()
    const refused = place[who].session.query(sqlOf(call)).catch((error: pg.DatabaseError) => error)
    expect(await refused).toMatchObject({
      code: 'SD101',
      hint: expect.stringContaining('stagedoor gate open iu_core.staging_'),
    })
    expect(await everything()).toEqual(before)
  })

  it('reads go on', async () => {
    for (const [who, call] of [
      ['reviewer', 'checklist(:held)'],
      ['worker', 'healthcheck()'],
      ['agent', `key('a')`],
    ] as const) {
      expect(await sqlstateOf(place[who].session.query(sqlOf(call))), call).toBe('not refused')
    }
    expect((await place.agent.session.query('select from iu_core.v_iu_staging_record')).rowCount).toBe(3)
  })

  it('are opened one by one: the one for writes lets nothing be cleaned, the one for cleaning lets nothing be written', async () => {
    const owner = await db.session()
    const openedBy = async (gate: string) => {
      const opened = []
      for (const [name, , call] of WRITES) {
        await owner.query('begin')
        await owner.query('select iu_core.fn_gate_override($1, true)', [`iu_core.${gate}`])
        // The owner may do everything but act for the agent.
        const refused = await sqlstateOf(owner.query(sqlOf(call)))
        await owner.query('rollback')
        if (refused !== 'SD101') opened.push(name)
      }
      return opened
    }
    expect(await openedBy('staging_writes_enabled')).toEqual([
      ...['create', 'approve', 'reject', 'tick', 'untick', 'withdraw', 'consume', 'unregister', 'emit_event'],
    ])
    expect(await openedBy('staging_cleanup_enabled')).toEqual([
      'emit_event',
      'expire',
      'cleanup',
      'cleanup as a dry run',
    ])
  })
})

it('opens for one transaction by an override, for nobody else, and leaves nothing open', async () => {
  const owner = await db.session()
  await owner.query('begin')
  await owner.query(
    `select iu_core.fn_gate_override('iu_core.staging_writes_enabled', true, 'a migration of data')`,
  )
  const made = await stage(owner, { workspace: place.workspace })
  expect(await sqlstateOf(stage(place.agent.session, { workspace: place.workspace }))).toBe('SD101')
  await owner.query('commit')
  expect(made.created).toBe(true)
  expect(
    await db.owner('select from iu_core.iu_staging_record where staging_record_id = $1', [
      made.staging_record_id,
    ]),
  ).toHaveLength(1)
  expect(await sqlstateOf(stage(owner, { workspace: place.workspace }))).toBe('SD101')
  expect(await db.owner('select from iu_core.dot_config_override')).toEqual([])
})

it('closes for one transaction, too', async () => {
  await setGate(db, 'staging_writes_enabled', true)
  const owner = await db.session()
  await owner.query(`begin; select iu_core.fn_gate_override('iu_core.staging_writes_enabled', false)`)
  expect(await sqlstateOf(stage(owner, { workspace: place.workspace }))).toBe('SD101')
  await owner.query('rollback')
  expect((await stage(owner, { workspace: place.workspace })).created).toBe(true)
})
