import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { sqlstateOf } from '../support/sqlstate.ts'

const db = useDatabase()

const DOMAINS = [
  'birth_registry',
  'change',
  'dot',
  'governance',
  'health',
  'iu',
  'iu_sql',
  'kg',
  'piece',
  'staging',
  'system',
  'tac',
]

async function emit(named: Record<string, unknown> = {}): Promise<string> {
  const given = { p_event_domain: 'system', p_event_type: 'gate_changed', ...named }
  const names = Object.keys(given).map((name, index) => `${name} => $${index + 1}`)
  const { rows } = await db
    .pool('stagedoor_worker')
    .query<{ id: string }>(`select iu_core.fn_event_emit(${names.join(', ')}) as id`, Object.values(given))
  return rows[0]!.id
}
const event = async (id: string) =>
  (await db.owner('select * from iu_core.event_outbox where id = $1', [id]))[0]

describe('the vocabulary', () => {
  it('has all twelve domains', async () => {
    const rows = await db.owner<{ event_domain: string }>(
      'select event_domain from iu_core.event_domain order by 1',
    )
    expect(rows.map((row) => row.event_domain)).toEqual(DOMAINS)
  })

  it('takes every type that it lists', async () => {
    const rows = await db.owner<{ event_domain: string; event_type: string }>(
      'select * from iu_core.event_vocabulary',
    )
    for (const { event_domain, event_type } of rows) {
      const id = await emit({ p_event_domain: event_domain, p_event_type: event_type })
      expect(await event(id)).toMatchObject({ event_domain, event_type })
    }
  })

  it.each([
    ['system', 'unheard_of'],
    ['unheard_of', 'gate_changed'],
    ['dot', 'gate_changed'],
    ['system', 'GATE_CHANGED'],
    ['system', null],
    [null, null],
  ])('refuses %s.%s', async (domain, type) => {
    expect(await sqlstateOf(emit({ p_event_domain: domain, p_event_type: type }))).toBe('SD301')
  })

  it('takes no type of a domain that does not exist, nor one that is not written as types are', async () => {
    const add = (domain: string, type: string) =>
      db.owner(`insert into iu_core.event_vocabulary values ($1, $2, '')`, [domain, type])
    expect(await sqlstateOf(add('unheard_of', 'done'))).toBe('23503')
    for (const type of ['', 'Done', 'done.', '1st', 'a b']) {
      expect(await sqlstateOf(add('system', type)), type).toBe('23514')
    }
  })
})

describe('an event', () => {
  it('says what, where, about whom, by whom and when', async () => {
    const workspace = await createWorkspace(db)
    const id = await emit({
      p_event_stream: 'gates',
      p_event_subject_ref: 'gate:1',
      p_canonical_address: 'stagedoor://gates/1',
      p_workspace_id: workspace,
      p_safe_payload: { gate: 'x', rows: [1, 2] },
    })
    expect(await event(id)).toMatchObject({
      event_stream: 'gates',
      event_subject_ref: 'gate:1',
      canonical_address: 'stagedoor://gates/1',
      workspace_id: workspace,
      correlation_id: id,
      causation_event_id: null,
      causation_depth: 0,
      actor: 'stagedoor_worker',
      actor_via: null,
      safe_payload: { gate: 'x', rows: [1, 2] },
    })
  })

  it('records the person for whom service_role acts, and service_role’s own subject', async () => {
    const service = { role: 'service_role', claims: { sub: 'importer' } }
    const id = await db.as(service, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `select iu_core.fn_event_emit('system', 'gate_changed', p_actor => 'ada') as id`,
      )
      return rows[0]!.id
    })
    expect(await event(id)).toMatchObject({ actor: 'ada', actor_via: 'importer' })
  })

  it('is not written in the name of another by anybody else', async () => {
    expect(await sqlstateOf(emit({ p_actor: 'ada' }))).toBe('SD203')
  })

  it('is gone when its transaction rolls back', async () => {
    const session = await db.session('stagedoor_worker')
    await session.query('begin')
    const { rows } = await session.query(`select iu_core.fn_event_emit('system', 'gate_changed') as id`)
    await session.query('rollback')
    expect(await event(rows[0].id)).toBeUndefined()
  })

  it.each(['authenticated', 'stagedoor_agent', 'stagedoor_reviewer', 'anon'])(
    'cannot be written by %s',
    async (role) => {
      const tried = db.as({ role, claims: { sub: 'eve' } }, (client) =>
        client.query(`select iu_core.fn_event_emit('system', 'gate_changed')`),
      )
      expect(await sqlstateOf(tried)).toBe('42501')
    },
  )
})

describe('a cause', () => {
  it('passes its correlation on, one step deeper each time', async () => {
    const first = await emit()
    const second = await emit({ p_causation_event_id: first })
    const third = await emit({ p_causation_event_id: second })
    expect(await event(second)).toMatchObject({
      correlation_id: first,
      causation_event_id: first,
      causation_depth: 1,
    })
    expect(await event(third)).toMatchObject({
      correlation_id: first,
      causation_event_id: second,
      causation_depth: 2,
    })
  })

  it('may lie in the same transaction', async () => {
    const session = await db.session('stagedoor_worker')
    await session.query('begin')
    const cause = await session.query(`select iu_core.fn_event_emit('system', 'gate_changed') as id`)
    await session.query(
      `select iu_core.fn_event_emit('system', 'gate_changed', p_causation_event_id => $1)`,
      [cause.rows[0].id],
    )
    await session.query('commit')
  })

  it('leaves the last word on the correlation to the caller', async () => {
    const correlation = randomUUID()
    const id = await emit({ p_causation_event_id: await emit(), p_correlation_id: correlation })
    expect(await event(id)).toMatchObject({ correlation_id: correlation, causation_depth: 1 })
  })

  it('is refused when there is no such event', async () => {
    expect(await sqlstateOf(emit({ p_causation_event_id: randomUUID() }))).toBe('SD001')
  })
})
