/** What templates stage when an entity is created. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../src/kernel/postgres/transaction.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { emit, useReacting } from './reacting.ts'

const db = useDatabase()
const reacting = useReacting(db)
let workspace: string

const service = (sql: string, values: unknown[]) =>
  inTransaction(db.pool('stagedoor_worker'), async (client) => (await client.query(sql, values)).rows, {
    role: 'service_role',
  })
const set = (code: string, template: object) =>
  service('select * from iu_core.fn_iu_auto_instantiate_template_set($1, $2)', [
    code,
    JSON.stringify(template),
  ])

const WELCOME = {
  staging_kind: 'draft_iu_composition',
  payload_type: 'composition_draft',
  purpose: 'Welcome page of {event_subject_ref}',
  parts: [
    {
      part_name: 'draft',
      payload_kind: 'json',
      payload_json: {
        title: 'About {event_subject_ref}',
        stream: '{event_stream}',
        sections: ['{actor}', { by: 'event {event_id}' }],
      },
    },
  ],
}

beforeAll(async () => {
  workspace = await createWorkspace(db)
  await reacting.activate('auto_instantiate_from_template')
})

const staged = (event: string) =>
  db.owner(
    `select r.purpose, r.workspace_id, r.staging_kind, r.lifecycle_status, r.source_kind, p.payload_json, l.template_code
       from iu_core.iu_auto_instantiate_event_log l
       join iu_core.iu_staging_record r using (staging_record_id)
       join iu_core.iu_staging_payload p using (staging_record_id)
      where l.event_id = $1 order by l.template_code`,
    [event],
  )

it('stages a record with the fields of the event filled in, pending, in the workspace of the event', async () => {
  await set('welcome', WELCOME)
  const subject = 'a "quoted" {actor} \\ name'
  const event = await emit(db, 'birth_registry', 'entity_born', { subject, workspace })
  const [job] = await reacting.react()
  expect(job!.result).toMatchObject({ already: 0, staging_record_ids: [expect.any(String)] })
  expect(await staged(event)).toEqual([
    {
      purpose: `Welcome page of ${subject}`,
      workspace_id: workspace,
      staging_kind: 'draft_iu_composition',
      lifecycle_status: 'pending',
      source_kind: 'system',
      payload_json: {
        title: `About ${subject}`,
        stream: '',
        sections: ['stagedoor_worker', { by: `event ${event}` }],
      },
      template_code: 'welcome',
    },
  ])
})

it('stages once for each event and template, also when two runs meet or a template comes later', async () => {
  const event = await emit(db, 'birth_registry', 'entity_born', { subject: 'twice', workspace })
  const run = async () =>
    (
      await db
        .pool('stagedoor_worker')
        .query('select iu_core.fn_iu_auto_instantiate_from_event($1) as did', [event])
    ).rows[0].did
  const runs = await Promise.all([run(), run(), run()])
  expect(runs.map((one) => one.staging_record_ids.length).sort()).toEqual([0, 0, 1])
  await set('second', { ...WELCOME, purpose: 'A second one' })
  expect((await run()).already).toBe(1)
  expect(await staged(event)).toHaveLength(2)
  await service('select iu_core.fn_iu_auto_instantiate_template_delete($1)', ['second'])
})

it('takes only templates of the workspace and of the stream, and none that is switched off', async () => {
  const other = await createWorkspace(db, 'other')
  await set('theirs', { ...WELCOME, workspace_id: other })
  await set('products', { ...WELCOME, event_stream: 'product' })
  await set('off', { ...WELCOME, enabled: false })
  const event = await emit(db, 'birth_registry', 'entity_born', {
    subject: 'p1',
    stream: 'product',
    workspace,
  })
  await reacting.react()
  expect((await staged(event)).map((row) => row.template_code)).toEqual(['products', 'welcome'])
})

it('is refused for an event of another type', async () => {
  const event = await emit(db, 'dot', 'run.applied', { workspace })
  const run = db
    .pool('stagedoor_worker')
    .query('select iu_core.fn_iu_auto_instantiate_from_event($1)', [event])
  expect(await sqlstateOf(run)).toBe('SD001')
})

describe('a template', () => {
  it.each([
    ['a field that events do not have', { purpose: 'For {safe_payload}' }],
    ['a field in a key', { parts: [{ ...WELCOME.parts[0], payload_json: { '{actor}': 1 } }] }],
    ['a purpose that may turn out blank', { purpose: '{event_stream}' }],
    [
      'a blob',
      {
        parts: [{ part_name: 'x', payload_kind: 'blob_ref', blob_ref: 'y', byte_len: 1, content_hash: 'z' }],
      },
    ],
    ['no parts', { parts: {} }],
    ['a column that is not one', { registered_by: 'me' }],
    ['a workspace that is not there', { workspace_id: randomUUID() }],
  ])('with %s is refused', async (_, wrong) => {
    expect(await sqlstateOf(set('wrong', { ...WELCOME, ...wrong }))).toBe('SD001')
  })

  it('that the staging zone would refuse is refused at once', async () => {
    expect(await sqlstateOf(set('wrong', { ...WELCOME, payload_type: 'mark_report' }))).toBe('SD507')
    const package_ = { ...WELCOME, staging_kind: 'review_package', payload_type: 'review_bundle' }
    expect(await sqlstateOf(set('wrong', package_))).toBe('SD506')
  })

  it('is set by back-end code only', async () => {
    for (const role of ['authenticated', 'stagedoor_reviewer', 'stagedoor_agent']) {
      const tried = db.as({ role, claims: { sub: 'ada' } }, (client) =>
        client.query('select iu_core.fn_iu_auto_instantiate_template_set($1, $2)', [
          'mine',
          JSON.stringify(WELCOME),
        ]),
      )
      expect(await sqlstateOf(tried)).toBe('42501')
    }
  })
})
