/** Who may do what with consumers, and who sees what of them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { consumerEvidence, listConsumers, reviewConsumer } from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { type AppRole, createMember, createWorkspace, type Member } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { active, dispatch, emit, openSwitch, register } from './registered.ts'

const db = useDatabase()

let ours: string
const people = {} as Record<AppRole, Member>
let stranger: Member
let events: { ours: string; theirs: string; global: string }

beforeAll(async () => {
  await openSwitch(db)
  ours = await createWorkspace(db, 'ours')
  const theirs = await createWorkspace(db, 'theirs')
  for (const role of ['viewer', 'operator', 'reviewer', 'admin', 'agent'] as const) {
    people[role] = await createMember(db, ours, role)
  }
  stranger = await createMember(db, theirs, 'admin')
  await register(db, 'of_ours', { workspace_id: ours })
  await register(db, 'of_theirs', { workspace_id: theirs })
  await active(db, 'of_all')
  await db.owner(`select iu_core.fn_consumer_dry_run('of_ours'), iu_core.fn_consumer_dry_run('of_theirs')`)
  events = {
    ours: await emit(db, { workspace: ours }),
    theirs: await emit(db, { workspace: theirs }),
    global: await emit(db),
  }
  await dispatch(db)
})

const CALLS: Record<string, string> = {
  fn_consumer_register: `iu_core.fn_consumer_register('{}')`,
  fn_consumer_dry_run: `iu_core.fn_consumer_dry_run('of_ours')`,
  fn_consumer_activate: `iu_core.fn_consumer_activate('of_ours')`,
  fn_consumer_disable: `iu_core.fn_consumer_disable('of_ours')`,
  fn_consumer_delete: `iu_core.fn_consumer_delete('of_ours')`,
  fn_consumer_backfill: `iu_core.fn_consumer_backfill('of_all', now(), now())`,
  fn_events_rebase: `iu_core.fn_events_rebase()`,
}

describe('registering and switching', () => {
  it.each(Object.entries(CALLS))('by %s is the administrator’s alone', async (_, call) => {
    const callers = [
      ...Object.values(people),
      { role: 'service_role', claims: { sub: 'backend' } },
      { role: 'anon', claims: { sub: 'x' } },
    ]
    for (const caller of callers) {
      expect(await sqlstateOf(db.as(caller, (client) => client.query(`select ${call}`)))).toBe('42501')
    }
    expect(await sqlstateOf(db.pool('stagedoor_worker').query(`select ${call}`))).toBe('42501')
  })

  it.each(['consumer_registry', 'event_dispatch_log', 'system_issue', 'consumer_rate'])(
    'by hand in %s is nobody else’s either',
    async (table) => {
      for (const role of [
        'authenticated',
        'stagedoor_reviewer',
        'stagedoor_agent',
        'service_role',
        'dot_executor',
      ]) {
        const { rows } = await db.pool('postgres').query(
          `select p from unnest('{insert,update,delete,truncate}'::text[]) p
            where has_table_privilege($1, 'iu_core.' || $2, p)`,
          [role, table],
        )
        expect([role, rows]).toEqual([role, []])
      }
    },
  )

  it('is dispatched by the worker alone', async () => {
    for (const caller of [...Object.values(people), { role: 'service_role' }]) {
      for (const call of ['fn_consumer_dispatch_batch(1)', `fn_consumer_dispatch('${events.ours}')`]) {
        const asked = db.as(caller, (client) => client.query(`select iu_core.${call}`))
        expect(await sqlstateOf(asked)).toBe('42501')
      }
    }
  })
})

describe('a review', () => {
  const review = (caller: Member, id: string) =>
    sqlstateOf(db.as(caller, (client) => reviewConsumer(client, id, { evidence: 1 })))

  it.each([
    ['viewer', '42501'],
    ['operator', '42501'],
    ['agent', '42501'],
  ] as const)('is not for a %s', async (role, state) => {
    expect(await review(people[role], 'of_ours')).toBe(state)
  })

  it('is not for people of another workspace, nor of what belongs to all', async () => {
    // As if it were not there: an error tells nobody what others have.
    for (const id of ['of_theirs', 'of_nobody']) expect(await review(people.admin, id)).toBe('SD320')
    expect(await review(stranger, 'of_ours')).toBe('SD320')
    expect(await review(people.admin, 'of_all')).toBe('SD201')
  })

  it('is for a reviewer of the workspace', async () => {
    expect(await review(people.reviewer, 'of_ours')).toBe('not refused')
  })
})

describe('a member', () => {
  it('sees the consumers of the own workspace and those of all', async () => {
    for (const person of [people.viewer, people.reviewer]) {
      const seen = (await db.as(person, (client) => listConsumers(client))).map((one) => one.consumer_id)
      expect(seen.filter((id) => id.startsWith('of_')).sort()).toEqual(['of_all', 'of_ours'])
    }
  })

  it('sees the log of the own workspace’s events only', async () => {
    const seen = (caller: Member) =>
      db.as(caller, async (client) => {
        const { rows } = await client.query<{ event_id: string }>(
          'select event_id from iu_core.event_dispatch_log',
        )
        return new Set(rows.map((row) => row.event_id))
      })
    expect(await seen(people.viewer)).toEqual(new Set([events.ours]))
    expect(await seen(stranger)).toEqual(new Set([events.theirs]))
    expect(await sqlstateOf(seen(people.agent))).toBe('42501')
  })

  it('sees evidence of the own workspace only', async () => {
    expect(await db.as(people.reviewer, (client) => consumerEvidence(client, 'of_ours'))).toMatchObject([
      { event_id: events.ours },
    ])
    expect(await db.as(people.reviewer, (client) => consumerEvidence(client, 'of_theirs'))).toEqual([])
  })

  it('sees in the views only the jobs of the own workspace', async () => {
    const { rows } = await db.as(people.viewer, (client) =>
      client.query('select * from iu_core.v_consumer_dispatch_recent'),
    )
    expect(rows).toEqual([{ consumer_id: 'of_all', dispatched_24h: '1' }])
  })
})

it('shows back-end code everything', async () => {
  const { rows } = await db.as({ role: 'service_role' }, (client) =>
    client.query('select distinct event_id from iu_core.event_dispatch_log'),
  )
  expect(rows).toHaveLength(3)
})

it('is not got around by reading a partition of the log', async () => {
  const [partition] = await db.owner<{ name: string }>(
    'select tableoid::regclass::text as name from iu_core.event_dispatch_log limit 1',
  )
  for (const caller of [people.viewer, { role: 'service_role' }]) {
    expect(await sqlstateOf(db.as(caller, (client) => client.query(`select from ${partition!.name}`)))).toBe(
      '42501',
    )
  }
})
