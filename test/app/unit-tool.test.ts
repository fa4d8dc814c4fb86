import { beforeAll, describe, expect, it } from 'vitest'
import { unitTool } from '../../src/app/tools/unit.ts'
import type { ToolContext } from '../../src/executions/tools/tool.ts'
import type { Json, JsonObject } from '../../src/kernel/json.ts'
import { contextOf } from '../executions/run-command/command.ts'
import { useDatabase } from '../support/database.ts'
import { approveManifest, stageManifest } from '../units/cutting.ts'
import { useGraph } from '../units/graph.ts'

const db = useDatabase()
const graph = useGraph(db)

beforeAll(() => db.owner(`select iu_core.fn_gate_set('iu_core.staging_writes_enabled', true)`))

const context = (more: Partial<ToolContext> = {}): ToolContext =>
  contextOf({ workspace_id: graph.workspace, started_by: graph.operator.userId, ...more })
const call = (args: JsonObject, more: Partial<ToolContext> = {}) =>
  unitTool({ pool: db.pool('stagedoor_worker') })(undefined, args, context(more)) as Promise<
    Record<string, Json>
  >
const everywhere = { workspace_id: null }

let made = 0
const create = (more: JsonObject = {}, of: Partial<ToolContext> = {}) =>
  call({ action: 'create', address: `tool/${++made}`, body: 'Spend rose.', ...more }, of)

describe('create', () => {
  it('makes a unit in the workspace of the execution, which it says it came from', async () => {
    const container = await graph.unit('tool-report', { kind: 'document' })
    const unit = await create(
      { unit_kind: 'commentary', title: 'Spend', container: 'tool-report', profile: { summary: 'up' } },
      { execution_id: '77' },
    )
    expect(unit).toMatchObject({ canonical_address: `tool/${made}`, created: true })
    expect(await graph.row(unit.unit_id as string)).toMatchObject({
      workspace_id: graph.workspace,
      source_ref: 'execution:77',
      unit_kind: 'commentary',
      title: 'Spend',
      container_id: container,
      content_profile: { summary: 'up' },
      lifecycle_status: 'draft',
      // Theirs who started it; the worker only did it.
      owner_actor: graph.operator.userId,
      owner_via: expect.any(String),
    })
  })

  it('run again gives the unit that is there; another text, or another execution, does not', async () => {
    const again = { address: 'tool/again' }
    const first = await create(again)
    expect(await create(again)).toEqual({ ...first, created: false })
    const taken = { code: 'unit_address_taken', retryable: false }
    await expect(create({ ...again, body: 'other' })).rejects.toMatchObject(taken)
    await expect(create(again, { execution_id: '2' })).rejects.toMatchObject(taken)
  })

  it('follows from what the execution follows from', async () => {
    const [event] = await db.owner<{ id: string }>(
      `select iu_core.fn_event_emit('system', 'gate_changed', p_workspace_id => $1) as id`,
      [graph.workspace],
    )
    const unit = await create({}, { cause: event!.id })
    const [row] = await db.owner(
      `select causation_event_id from iu_core.event_outbox where event_subject_ref = $1`,
      [unit.unit_id],
    )
    expect(row).toEqual({ causation_event_id: event!.id })
  })

  it('stays in the workspace of the execution; one that has none names one', async () => {
    await expect(create({ workspace_id: graph.other })).rejects.toThrow('the workspace of this execution')
    await expect(create({}, everywhere)).rejects.toThrow('workspace_id of the tool unit is missing')
    const theirs = await create({ workspace_id: graph.other }, everywhere)
    expect(await graph.row(theirs.unit_id as string)).toMatchObject({ workspace_id: graph.other })
    await expect(create({ container: theirs.unit_id! })).rejects.toMatchObject({ code: 'unit_unknown' })
  })
})

describe('edit', () => {
  it('makes a version that says which step wrote it, and run again gives that version', async () => {
    const { unit_id } = await create()
    const edit = { action: 'edit', unit: unit_id!, expected_version: 1, body: 'Spend fell.' }
    const first = await call(edit, { playbook: 'weekly', step: 'correct' })
    expect(first).toMatchObject({ unit_id, version_no: 2, changed: true })
    expect(await call(edit, { playbook: 'weekly', step: 'correct', attempt: 2 })).toEqual(first)
    expect(await graph.row(unit_id as string)).toMatchObject({ version_no: 2 })
    const [version] = await db.owner(
      'select note, edited_by from iu_core.unit_version where unit_version_id = $1',
      [first.unit_version_id],
    )
    expect(version).toEqual({
      note: 'playbook weekly, execution 1, step correct',
      edited_by: graph.operator.userId,
    })
  })

  it('does not pass over what somebody else wrote in between', async () => {
    const { unit_id } = await create()
    await graph.call(`select iu_core.fn_unit_edit($1, 1, 'A person’s')`, [unit_id])
    const edit = { action: 'edit', unit: unit_id!, expected_version: 1, body: 'Spend fell.' }
    await expect(call(edit)).rejects.toMatchObject({
      code: 'unit_version_conflict',
      details: { expected_version: 1, current_version: 2 },
      retryable: false,
    })
  })

  it('of an enacted unit is refused', async () => {
    const { unit_id } = await create()
    await graph.enact(unit_id as string)
    const edit = { action: 'edit', unit: unit_id!, expected_version: 1, body: 'x' }
    await expect(call(edit)).rejects.toMatchObject({ code: 'unit_locked', retryable: false })
  })

  it('wants the version that it was made from', async () => {
    const { unit_id } = await create()
    await expect(call({ action: 'edit', unit: unit_id!, body: 'x' })).rejects.toThrow('expected_version')
  })
})

describe('profile and edge', () => {
  it('change what is known of a unit, as often as they run', async () => {
    const { unit_id } = await create()
    await create({ address: 'tool/target' })
    const describe_ = { action: 'profile', unit: unit_id!, patch: { summary: 'short', none: null } }
    for (const _ of [1, 2]) {
      expect(await call(describe_)).toEqual({ unit_id, content_profile: { summary: 'short' } })
    }
    const connect = {
      action: 'edge',
      unit: `tool/${made - 1}`,
      edge_type: 'refers_to',
      target: 'tool/target',
    }
    const edge = await call(connect)
    expect(edge).toMatchObject({ edge_status: 'verified', created: true })
    expect(await call(connect)).toEqual({ ...edge, created: false })
  })
})

describe('read', () => {
  it('gives a unit by its address or its id, as it is or in a version', async () => {
    const { unit_id } = await create()
    const address = `tool/${made}`
    await call({ action: 'edit', unit: unit_id!, expected_version: 1, body: 'Spend fell.' })
    expect(await call({ action: 'read', unit: address })).toMatchObject({
      unit_id,
      body: 'Spend fell.',
      version_no: 2,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      mup_tier: 0,
    })
    expect(await call({ action: 'read', unit: unit_id!, version: 1 })).toMatchObject({ body: 'Spend rose.' })
    const { version } = (await call({ action: 'read', unit: unit_id!, version: 1 })) as unknown as {
      version: { edited_at: string }
    }
    expect(await call({ action: 'read', unit: unit_id!, as_of: version.edited_at })).toMatchObject({
      body: 'Spend rose.',
      status_then: 'draft',
    })
    await expect(call({ action: 'read', unit: unit_id!, as_of: 'once' })).rejects.toThrow(/must be a time/)
  })
})

it.each(['read', 'edit', 'profile', 'edge'])('%s sees nothing of another workspace', async (action) => {
  const theirs = await create({ workspace_id: graph.other }, everywhere)
  const more: Record<string, JsonObject> = {
    edit: { expected_version: 1, body: 'x' },
    profile: { patch: {} },
    edge: { edge_type: 'a', target: 'b' },
  }
  for (const unit of [theirs.unit_id!, `tool/${made}`]) {
    await expect(call({ action, unit, ...more[action] })).rejects.toMatchObject({ code: 'unit_unknown' })
  }
})

describe('cut', () => {
  const staged = (workspace = graph.workspace) =>
    stageManifest(db, workspace, `cut${++made}`, { leave: 'Thirty days.\n' })

  it('is refused before a person has approved the manifest, and with another digest', async () => {
    const { id, hash } = await staged()
    await expect(call({ action: 'cut', record: id, digest: hash })).rejects.toMatchObject({
      retryable: false,
    })
    await approveManifest(graph, { id, hash })
    await expect(call({ action: 'cut', record: id, digest: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'staging_digest_differs',
    })
  })

  it('makes the units of what was approved, once', async () => {
    const { id, hash } = await staged()
    await approveManifest(graph, { id, hash })
    const cut = await call({ action: 'cut', record: id, digest: hash })
    expect(cut).toMatchObject({ staging_record_id: id, already: false, run_id: expect.any(String) })
    expect(await call({ action: 'read', unit: `cut${made}/leave` })).toMatchObject({ unit_kind: 'section' })
    expect(await call({ action: 'cut', record: id, digest: hash })).toEqual({
      run_id: cut.run_id,
      staging_record_id: id,
      already: true,
    })
  })

  it('sees nothing of another workspace, and wants the id of a record', async () => {
    const { id, hash } = await staged(graph.other)
    await expect(call({ action: 'cut', record: id, digest: hash })).rejects.toMatchObject({
      code: 'staging_not_found',
    })
    await expect(call({ action: 'cut', record: 'x', digest: hash })).rejects.toThrow(
      'must be the id of a staging record',
    )
  })
})

it.each(['enact', 'supersede', 'retire', 'change_kind', 'delete'])('never decides: %s', async (action) => {
  const { unit_id } = await create()
  await expect(call({ action, unit: unit_id! })).rejects.toMatchObject({
    name: 'ToolError',
    retryable: false,
    message: expect.stringContaining('a person decides, not a playbook'),
  })
  expect(await graph.row(unit_id as string)).toMatchObject({ lifecycle_status: 'draft', deleted_at: null })
})

it.each(['toString', 'restore', null])('has no action %s', async (action) => {
  await expect(call({ action })).rejects.toThrow('must be one of create, edit, profile, edge, read, cut')
})

it('does not pass on an argument that the action does not know', async () => {
  await expect(create({ owner_actor: graph.reviewer.userId })).rejects.toThrow('not owner_actor')
})
