import { beforeAll, describe, expect, it } from 'vitest'
import {
  activateConsumer,
  consumerEvidence,
  deleteConsumer,
  disableConsumer,
  dryRunConsumer,
  findConsumer,
  listConsumers,
  type NewConsumer,
  registerConsumer,
  reviewConsumer,
} from '../../../src/events/consumers.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { MIGRATOR } from '../../support/template.ts'
import { active, consumer, dispatch, emit, openSwitch, REVIEWER, register, reviewed } from './registered.ts'

const db = useDatabase()
const owner = () => db.pool(MIGRATOR)
const review = (id: string, evidence = 1) =>
  db.as(REVIEWER, (client) => reviewConsumer(client, id, { evidence }))
const state = async (id: string) => (await findConsumer(owner(), id))!.state

beforeAll(() => openSwitch(db))

describe('the vocabulary', () => {
  it('has types in every one of the twelve domains', async () => {
    expect(
      await db.owner(
        `select event_domain from iu_core.event_domain d
          where not exists (select from iu_core.event_vocabulary v where v.event_domain = d.event_domain)`,
      ),
    ).toEqual([])
    expect(await db.owner('select from iu_core.event_domain')).toHaveLength(12)
  })
})

describe('registering', () => {
  it('starts disabled, in dry run, without a review', async () => {
    expect(await register(db, 'fresh')).toMatchObject({
      state: 'disabled',
      enabled: false,
      dry_run: true,
      fail_closed: true,
      executor: 'PG_worker',
      max_depth: 8,
      registered_by: MIGRATOR,
      reviewed_by: null,
      activated_at: null,
    })
    expect((await listConsumers(owner())).map((one) => one.consumer_id)).toContain('fresh')
  })

  it.each<[string, Partial<NewConsumer> & Record<string, unknown>, string]>([
    ['an event that is not in the vocabulary', { event_type: 'never_happens' }, 'SD301'],
    ['an executor outside the whitelist', { executor: 'bash' }, 'SD704'],
    ['a field that a consumer does not have', { sql: 'drop table' }, 'SD001'],
    ['no key template', { idempotency_key_template: undefined as never }, 'SD001'],
    ['a workspace that is not there', { workspace_id: '00000000-0000-0000-0000-000000000001' }, 'SD001'],
    ['a rate without a period', { rate: 5 }, 'SD001'],
    ['a colon in the id', { consumer_id: 'a:b' }, 'SD001'],
  ])('is refused with %s', async (_, overrides, state) => {
    expect(await sqlstateOf(register(db, 'refused', overrides))).toBe(state)
    expect(await findConsumer(owner(), 'refused')).toBeUndefined()
  })

  it('the same again changes nothing, and the review stays', async () => {
    const before = await active(db, 'twice')
    expect(await register(db, 'twice')).toEqual(before)
  })

  it('changes what needs no review without disabling', async () => {
    await active(db, 'tuned')
    expect(await register(db, 'tuned', { priority: 5, notes: 'hurry', max_depth: 3 })).toMatchObject({
      state: 'active',
      priority: 5,
      max_depth: 3,
    })
  })
})

describe('a template', () => {
  const FIELDS = [
    'event_id',
    'event_domain',
    'event_type',
    'event_stream',
    'event_subject_ref',
    'canonical_address',
    'workspace_id',
    'correlation_id',
    'causation_event_id',
    'actor',
  ]

  it('takes every field of the whitelist', async () => {
    const template = FIELDS.map((field) => `{${field}}`).join('/')
    expect(await register(db, 'all_fields', { idempotency_key_template: template })).toMatchObject({
      idempotency_key_template: template,
    })
  })

  it.each([
    '{safe_payload}',
    '{event_id}{tx}',
    '{safe_payload.secret}',
    '{EVENT_ID}',
    '{event_id',
    'event_id}',
    '{}{event_id}',
    '{{event_id}}',
    "{event_id}' || pg_read_file('x') || '{",
    '',
  ])('%j is refused', async (template) => {
    expect(await sqlstateOf(register(db, 'bad_key', { idempotency_key_template: template }))).toBe('SD321')
    expect(await sqlstateOf(register(db, 'bad_ref', { payload_ref_template: template }))).toBe('SD321')
    // Not by hand either.
    expect(
      await sqlstateOf(
        db.owner(
          `update iu_core.consumer_registry set payload_ref_template = $1 where consumer_id = 'fresh'`,
          [template],
        ),
      ),
    ).toBe('SD321')
  })

  it('that is the same for every event is no key, but may be a reference', async () => {
    expect(await sqlstateOf(register(db, 'bad_key', { idempotency_key_template: 'constant' }))).toBe('SD321')
    expect(await register(db, 'start_report', { payload_ref_template: 'playbook:report' })).toMatchObject({
      payload_ref_template: 'playbook:report',
    })
  })

  it('that is refused names what is wrong and lists the fields', async () => {
    const refused = await register(db, 'bad', { idempotency_key_template: '{event_id}{payload}' }).catch(
      (error) => error,
    )
    expect(refused.message).toContain('{payload}')
    expect(JSON.parse(refused.detail).fields.sort()).toEqual([...FIELDS].sort())
  })

  it('is text and columns: quotes, backslashes, percent signs and SQL in it stay text', async () => {
    const text = `'; drop table iu_core.job_queue; -- \\ % $1 "x" ' || e.safe_payload || '`
    await register(db, 'odd', {
      idempotency_key_template: `${text}{event_id}`,
      payload_ref_template: `%s{actor}${text}`,
    })
    await dryRunConsumer(owner(), 'odd')
    const event = await emit(db)
    await dispatch(db)
    const [line] = await consumerEvidence(owner(), 'odd')
    expect(line).toMatchObject({
      idempotency_key: `odd:${text}${event}`,
      payload_ref: `%sstagedoor_worker${text}`,
      problem: null,
    })
    await disableConsumer(owner(), 'odd')
  })
})

describe('the way to active', () => {
  it('goes through dry run and somebody else’s review', async () => {
    await register(db, 'steps')
    expect(await sqlstateOf(review('steps'))).toBe('SD323')
    expect(await sqlstateOf(activateConsumer(owner(), 'steps'))).toBe('SD322')
    await dryRunConsumer(owner(), 'steps')
    expect(await sqlstateOf(activateConsumer(owner(), 'steps'))).toBe('SD322')
    await emit(db)
    await dispatch(db)
    expect(await consumerEvidence(owner(), 'steps')).toHaveLength(1)
    expect(await review('steps', 1)).toMatchObject({ state: 'reviewed', reviewed_by: 'rita' })
    expect(await activateConsumer(owner(), 'steps')).toMatchObject({
      state: 'active',
      enabled: true,
      dry_run: false,
    })
    await expect(review('steps', 1)).rejects.toThrow(
      /steps is active: a consumer is reviewed during its dry run/,
    )
  })

  it('is not open to whoever saw more evidence than this definition has left', async () => {
    await register(db, 'seen')
    await dryRunConsumer(owner(), 'seen')
    await emit(db)
    await dispatch(db)
    await register(db, 'seen', { job_kind: 'another' })
    await dryRunConsumer(owner(), 'seen')
    expect(await sqlstateOf(review('seen', 1))).toBe('SD323')
    await emit(db)
    await dispatch(db)
    expect(await review('seen', 1)).toMatchObject({ reviewed_by: 'rita' })
  })

  it('is not open to whoever looked at nothing', async () => {
    await register(db, 'unseen')
    await dryRunConsumer(owner(), 'unseen')
    expect(await sqlstateOf(review('unseen', 0))).toBe('SD001')
    expect(await sqlstateOf(review('unseen', 1))).toBe('SD323')
    expect(await state('unseen')).toBe('dry_run')
  })

  it('is not open to the registrant, not even in the name of another', async () => {
    await register(db, 'own')
    await dryRunConsumer(owner(), 'own')
    expect(await sqlstateOf(reviewConsumer(owner(), 'own', { evidence: 1 }))).toBe('SD324')
    const forged = db.owner(
      `update iu_core.consumer_registry set reviewed_by = 'rita', reviewed_at = now() where consumer_id = 'own'`,
    )
    expect(await sqlstateOf(forged)).toBe('SD203')
    const self = db.owner(
      `update iu_core.consumer_registry set reviewed_by = $1, reviewed_at = now() where consumer_id = 'own'`,
      [MIGRATOR],
    )
    expect(await sqlstateOf(self)).toBe('23514')
    const through = db.owner(
      `update iu_core.consumer_registry set registered_by = 'eve', registered_via = $1, job_kind = 'other'
        where consumer_id = 'own'`,
      [MIGRATOR],
    )
    expect(await sqlstateOf(through)).toBe('SD203')
    expect(await state('own')).toBe('dry_run')
  })

  it('is not open to a service that registered it for somebody', async () => {
    const service = await db.session('postgres')
    expect(await registerConsumer(service, consumer('for_ada'), 'ada')).toMatchObject({
      registered_by: 'ada',
      registered_via: 'postgres',
    })
    await dryRunConsumer(service, 'for_ada')
    expect(await sqlstateOf(reviewConsumer(service, 'for_ada', { evidence: 1 }))).toBe('SD324')
    expect(await sqlstateOf(reviewConsumer(service, 'for_ada', { evidence: 1, actor: 'ada' }))).toBe('SD324')
  })

  it('cannot be cut short by hand', async () => {
    await register(db, 'by_hand')
    const short = db.owner(
      `update iu_core.consumer_registry set enabled = true, dry_run = false where consumer_id = 'by_hand'`,
    )
    expect(await sqlstateOf(short)).toBe('23514')
    await db.owner(
      `insert into iu_core.consumer_registry (consumer_id, event_domain, event_type, job_kind, idempotency_key_template,
         enabled, dry_run, reviewed_by, reviewed_at, registered_by)
       values ('inserted', 'dot', 'run.applied', 'work', '{event_id}', true, false, 'rita', now(), 'ada')`,
    )
    expect(await findConsumer(owner(), 'inserted')).toMatchObject({
      state: 'disabled',
      reviewed_by: null,
      registered_by: MIGRATOR,
    })
  })

  it('is open again after a mere switching off', async () => {
    await active(db, 'paused')
    expect(await disableConsumer(owner(), 'paused')).toMatchObject({ state: 'disabled', reviewed_by: 'rita' })
    expect(await activateConsumer(owner(), 'paused')).toMatchObject({ state: 'active' })
  })
})

describe('a change by another', () => {
  const CHANGES: [string, string][] = [
    ['event_domain, event_type', `('system', 'issue_resolved')`],
    ['event_stream', `'uploads'`],
    ['workspace_id', `(select id from public.workspaces limit 1)`],
    ['job_kind', `'other_work'`],
    ['executor', `'Hermes'`],
    ['idempotency_key_template', `'{event_id}:2'`],
    ['payload_ref_template', `'{actor}'`],
  ]

  it.each(CHANGES)(
    'of %s takes the review away, disables and makes them the registrant',
    async (columns, value) => {
      await createWorkspace(db)
      await active(db, 'changed')
      const session = await db.session('postgres')
      await session.query(
        `update iu_core.consumer_registry set ${columns.includes(',') ? `(${columns})` : columns} = ${value}
        where consumer_id = 'changed'`,
      )
      expect(await findConsumer(owner(), 'changed')).toMatchObject({
        state: 'disabled',
        reviewed_by: null,
        activated_at: null,
        registered_by: 'postgres',
      })
      await deleteConsumer(owner(), 'changed')
    },
  )
})

it('every step emits an event, and refers to the consumer only', async () => {
  await reviewed(db, 'told')
  await activateConsumer(owner(), 'told')
  await disableConsumer(owner(), 'told')
  await deleteConsumer(owner(), 'told')
  const events = await db.owner<{ state: string }>(
    `select safe_payload ->> 'state' as state from iu_core.event_outbox
      where event_domain = 'governance' and event_type = 'consumer_changed' and event_subject_ref = 'told' order by seq`,
  )
  expect(events.map((event) => event.state)).toEqual([
    'disabled',
    'dry_run',
    'reviewed',
    'active',
    'disabled',
    'removed',
  ])
})

it('a consumer that is not there is an error of its own', async () => {
  for (const call of [dryRunConsumer, activateConsumer, disableConsumer, deleteConsumer]) {
    expect(await sqlstateOf(call(owner(), 'nobody'))).toBe('SD320')
  }
  expect(await sqlstateOf(review('nobody'))).toBe('SD320')
})
