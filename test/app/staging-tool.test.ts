import { beforeAll, describe, expect, it } from 'vitest'
import { stagingTool } from '../../src/app/tools/staging.ts'
import type { ToolContext } from '../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../src/kernel/json.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace, type Member } from '../support/factories.ts'

const db = useDatabase()
let workspace: string
let other: string
let ada: Member
let reviewer: Member

beforeAll(async () => {
  await db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`)
  workspace = await createWorkspace(db)
  other = await createWorkspace(db, 'Other')
  ada = await createMember(db, workspace, 'operator')
  reviewer = await createMember(db, workspace, 'reviewer')
})

let commands = 0
const context = (more: Partial<ToolContext> = {}): ToolContext =>
  contextOf({
    workspace_id: workspace,
    started_by: ada.userId,
    command_id: `1:stage#${++commands}:1`,
    ...more,
  })
const call = (args: JsonObject, more: Partial<ToolContext> = {}) =>
  stagingTool({ pool: db.pool('stagedoor_worker') })(undefined, args, context(more)) as Promise<
    Record<string, Json>
  >

const draft = (text = 'Spend rose.'): JsonObject => ({
  action: 'create',
  staging_kind: 'agent_intermediate',
  payload_type: 'composition_draft',
  purpose: 'commentary of the week',
  parts: [
    { part_name: 'commentary', payload_kind: 'text', payload_text: text },
    { part_name: 'facts', payload_kind: 'json', payload_json: { rose: [1, 2] } },
  ],
})
const idOf = (result: Record<string, Json>) => result.staging_record_id as string
const rowOf = async (id: string) =>
  (await db.owner('select * from iu_core.iu_staging_record where staging_record_id = $1', [id]))[0]!
const approve = (id: string, hash: Json) =>
  db.as(reviewer, (client) => client.query('select iu_core.fn_iu_staging_approve($1, $2)', [id, hash]))

describe('create', () => {
  it('holds a record in the name of whoever started the execution, and says by whom', async () => {
    const made = await call(draft(), { execution_id: '77' })
    expect(made).toMatchObject({ lifecycle_status: 'pending', created: true })
    expect(await rowOf(idOf(made))).toMatchObject({
      workspace_id: workspace,
      owner_actor: ada.userId,
      owner_via: 'stagedoor_worker',
      source_kind: 'system',
      source_ref: 'execution:77',
    })
  })

  it('run again by the same command gives the record that is there', async () => {
    const again = { command_id: '1:stage#again:1' }
    const first = await call(draft('the same'), again)
    const second = await call(draft('the same'), again)
    expect(second).toEqual({ ...first, created: false })
    await expect(call(draft('other'), again)).rejects.toMatchObject({
      code: 'staging_key_taken',
      retryable: false,
    })
    expect(idOf(await call({ ...draft('other'), idempotency_key: 'second of the step' }, again))).not.toBe(
      idOf(first),
    )
  })

  it('stays in the workspace of the execution', async () => {
    await expect(call({ ...draft(), workspace_id: other })).rejects.toThrow('the workspace of this execution')
    const made = await call(
      { ...draft(), workspace_id: other },
      { workspace_id: null, started_by: 'stagedoor_worker' },
    )
    expect(await rowOf(idOf(made))).toMatchObject({ workspace_id: other })
  })

  it('of no workspace is refused where its kind needs an approval: nobody could give it', async () => {
    const none = { workspace_id: null, started_by: 'stagedoor_worker' }
    const preview = { ...draft(), staging_kind: 'cut_preview', payload_type: 'import_preview' }
    await expect(call(preview, none)).rejects.toThrow('nobody could give it')
    expect(await rowOf(idOf(await call(draft('for nobody'), none)))).toMatchObject({ workspace_id: null })
  })

  it('follows from what the execution follows from', async () => {
    const [event] = await db.owner<{ id: string }>(
      `select iu_core.fn_event_emit('system', 'gate_changed', p_workspace_id => $1) as id`,
      [workspace],
    )
    const made = await call(draft('caused'), { cause: event!.id })
    const [row] = await db.owner(
      `select causation_event_id, actor, actor_via from iu_core.event_outbox where event_subject_ref = $1`,
      [idOf(made)],
    )
    expect(row).toEqual({ causation_event_id: event!.id, actor: ada.userId, actor_via: 'stagedoor_worker' })
  })

  it('does not pass on an owner or a field that it does not know', async () => {
    await expect(call({ ...draft(), owner_actor: reviewer.userId })).rejects.toThrow('not owner_actor')
  })
})

describe('read', () => {
  it('gives the record with its parts', async () => {
    const id = idOf(await call(draft('to read')))
    expect(await call({ action: 'read', record: id })).toMatchObject({
      staging_record_id: id,
      lifecycle_status: 'pending',
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
      parts: [
        { part_name: 'commentary', payload_kind: 'text', content: 'to read' },
        { part_name: 'facts', payload_kind: 'json', content: { rose: [1, 2] } },
      ],
    })
  })

  it.each(['read', 'consume', 'withdraw'])('%s sees nothing of another workspace', async (action) => {
    const theirs = await call(
      { ...draft(), workspace_id: other },
      { workspace_id: null, started_by: 'stagedoor_worker' },
    )
    await expect(call({ action, record: idOf(theirs) })).rejects.toMatchObject({ code: 'staging_not_found' })
  })

  it('wants the id of a record', async () => {
    await expect(call({ action: 'read', record: 'nonsense' })).rejects.toThrow(
      'must be the id of a staging record',
    )
  })
})

describe('consume', () => {
  it('uses what a person approved, once, and run again by the same command gives the same run', async () => {
    const made = await call({
      ...draft('to use'),
      staging_kind: 'mark_manifest',
      payload_type: 'mark_report',
    })
    const record = idOf(made)
    await expect(call({ action: 'consume', record })).rejects.toMatchObject({ retryable: false })
    await approve(record, made.content_hash!)
    const again = { command_id: '1:use#1:1' }
    const used = await call({ action: 'consume', record, digest: made.content_hash! }, again)
    expect(await call({ action: 'consume', record }, again)).toEqual(used)
    const row = await rowOf(record)
    expect(row).toMatchObject({ lifecycle_status: 'consumed', consumed_by_run_id: used.run_id })
    expect(
      await db.owner('select actor, actor_via, status from iu_core.dot_iu_command_run where run_id = $1', [
        used.run_id,
      ]),
    ).toEqual([{ actor: ada.userId, actor_via: 'stagedoor_worker', status: 'applied' }])
    await expect(call({ action: 'consume', record })).rejects.toMatchObject({ retryable: false })
  })

  it('proves the blobs first', async () => {
    const made = await call({
      ...draft('proved'),
      staging_kind: 'mark_manifest',
      payload_type: 'mark_report',
    })
    await approve(idOf(made), made.content_hash!)
    const tool = stagingTool({
      pool: db.pool('stagedoor_worker'),
      prove: async () => {
        throw new Error('not the bytes that were approved')
      },
    })
    await expect(tool(undefined, { action: 'consume', record: idOf(made) }, context())).rejects.toThrow(
      'not the bytes',
    )
    expect(await rowOf(idOf(made))).toMatchObject({ lifecycle_status: 'approved' })
  })
})

describe('withdraw', () => {
  it('takes back what the back end staged for itself, also when it runs again', async () => {
    const itself = { started_by: 'stagedoor_worker' }
    const record = idOf(await call(draft('to withdraw'), itself))
    const gone = { staging_record_id: record, lifecycle_status: 'rejected' }
    expect(await call({ action: 'withdraw', record }, itself)).toEqual(gone)
    expect(await call({ action: 'withdraw', record }, itself)).toEqual(gone)
    expect(await rowOf(record)).toMatchObject({ lifecycle_status: 'rejected', rejected_reason: 'withdrawn' })
  })

  it('is refused by the database for what belongs to a person: nobody else withdraws it', async () => {
    const record = idOf(await call(draft('a person’s')))
    await expect(call({ action: 'withdraw', record })).rejects.toMatchObject({
      code: 'staging_not_owner',
      retryable: false,
    })
    expect(await rowOf(record)).toMatchObject({ lifecycle_status: 'pending' })
  })

  it('is not for what belongs to somebody else', async () => {
    const record = idOf(await call(draft('hers'), { started_by: reviewer.userId }))
    await expect(call({ action: 'withdraw', record })).rejects.toMatchObject({ code: 'staging_not_owner' })
  })
})

it.each(['approve', 'reject'])('never decides: %s', async (action) => {
  const made = await call(draft())
  await expect(call({ action, record: idOf(made), digest: made.content_hash! })).rejects.toMatchObject({
    name: 'ToolError',
    retryable: false,
    message: expect.stringContaining('a person decides, not a playbook'),
  })
  expect(await rowOf(idOf(made))).toMatchObject({ lifecycle_status: 'pending' })
})

it.each(['toString', 'unregister', null])('has no action %s', async (action) => {
  await expect(call({ action })).rejects.toThrow('must be one of create, read, consume, withdraw')
})
