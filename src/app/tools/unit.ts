/**
 * The tool `unit`: an execution creates, edits and reads information units, and cuts a manifest that people approved. It never
 * enacts, supersedes, retires or deletes: people do. Run again after a crash, each action finds its own result.
 */
import { createHash } from 'node:crypto'
import {
  REFUSED_UNIT_ACTIONS,
  type Tool,
  ToolArguments,
  type ToolContext,
  ToolError,
  UNIT_ACTIONS,
} from '../../executions/tools/tool.ts'
import { StagedoorError } from '../../kernel/errors.ts'
import { UUID } from '../../kernel/ids.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { Client, Pool } from '../../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../kernel/postgres/transaction.ts'
import { findRecord } from '../../staging/records.ts'
import { cutFromManifest } from '../../units/cut.ts'
import { addEdge } from '../../units/edges.ts'
import { changeProfile, createUnit, editUnit, readUnit } from '../../units/units.ts'
import { actFor, workspaceFor } from './scope.ts'

type Action = (typeof UNIT_ACTIONS)[number]

interface UnitToolDeps {
  /** Login stagedoor_worker. */
  readonly pool: Pool
}

export function unitTool({ pool }: UnitToolDeps): Tool {
  return async (_call, args, context) => {
    const action = actionOf(args)
    const given = new ToolArguments('unit', args, ['action', 'workspace_id', ...ARGUMENTS[action]])
    return inTransaction(
      pool,
      async (client) => {
        await actFor(client, context)
        return asJson(await ACTIONS[action]({ client, given, context }))
      },
      SERVICE_ROLE,
    )
  }
}

function actionOf({ action }: JsonObject): Action {
  const decision = REFUSED_UNIT_ACTIONS.get(String(action))
  if (decision !== undefined) throw new ToolError(decision)
  const known = UNIT_ACTIONS.find((one) => one === action)
  if (known !== undefined) return known
  throw new ToolError(`The argument action of the tool unit must be one of ${UNIT_ACTIONS.join(', ')}`)
}

const ARGUMENTS: Readonly<Record<Action, readonly string[]>> = {
  create: ['address', 'body', 'title', 'unit_kind', 'language', 'container', 'source_ref', 'profile'],
  edit: ['unit', 'expected_version', 'body', 'title', 'language'],
  profile: ['unit', 'patch'],
  edge: ['unit', 'edge_type', 'target'],
  read: ['unit', 'version', 'as_of'],
  cut: ['record', 'digest'],
}

interface ActionInput {
  readonly client: Client
  readonly given: ToolArguments
  readonly context: ToolContext
}

const ACTIONS: Readonly<Record<Action, (input: ActionInput) => Promise<object>>> = {
  create,
  edit,
  async profile({ client, given, context }) {
    const unit = await unitOf(client, given, context)
    return {
      unit_id: unit,
      content_profile: await changeProfile(client, unit, given.map('patch'), onBehalf(context)),
    }
  },
  async edge({ client, given, context }) {
    const unit = await unitOf(client, given, context)
    const edge = { edge_type: given.text('edge_type'), target: given.text('target') }
    return addEdge(client, unit, edge, onBehalf(context))
  },
  async read({ client, given, context }) {
    const version = given.integer('version', 1, MAX_VERSION)
    const asOf = timeOf(given, 'as_of')
    const { version: text, ...unit } = await readUnit(
      client,
      { unit_id: await unitOf(client, given, context) },
      { ...(version !== undefined && { version }), ...(asOf !== undefined && { asOf }) },
    )
    return { ...unit, version: text, body: text.body }
  },
  cut,
}

const MAX_VERSION = 2_147_483_647

/** An address is never reused: a unit that this execution created there with the same text is the result of an earlier run. */
async function create({ client, given, context }: ActionInput): Promise<object> {
  const workspace = requireWorkspace(given, context)
  const address = given.text('address')
  const body = given.text('body')
  const source = given.optionalText('source_ref') ?? `execution:${context.execution_id}`
  const { rows } = await client.query<{ unit_id: string; unit_version_id: string; content_hash: string }>(
    `select u.unit_id, v.unit_version_id, v.content_hash
       from iu_core.information_unit u join iu_core.unit_version v on v.unit_id = u.unit_id and v.version_no = 1
      where u.workspace_id = $1 and u.canonical_address = $2 and u.source_ref = $3 and v.content_hash = $4`,
    [workspace, address, source, sha256(body)],
  )
  if (rows[0]) return { ...rows[0], canonical_address: address, created: false }
  const container = given.optionalText('container')
  const unit = {
    canonical_address: address,
    body,
    source_ref: source,
    profile: given.map('profile'),
    ...textsOf(given, ['title', 'unit_kind', 'language']),
    ...(container !== undefined && { container_id: await namedUnit(client, container, workspace) }),
  }
  const unitCreated = await createUnit(client, workspace, unit, onBehalf(context))
  return { ...unitCreated, canonical_address: address, created: true }
}

/** The note names the step that wrote a version: one with this note, made from the same version, is the result of an earlier run. */
async function edit({ client, given, context }: ActionInput): Promise<object> {
  const unit = await unitOf(client, given, context)
  const expected = given.integer('expected_version', 1, MAX_VERSION)
  if (expected === undefined) throw given.wrong('expected_version', 'is missing')
  const texts = textsOf(given, ['body', 'title', 'language'])
  const { body, title, language } = texts
  const note = noteOf(context)
  const { rows } = await client.query<{ version_no: number; unit_version_id: string; content_hash: string }>(
    `select version_no, unit_version_id, content_hash from iu_core.unit_version
      where unit_id = $1 and version_no = $2 and note = $3 and content_hash = coalesce($4, content_hash)
        and title = coalesce($5, title) and language = coalesce($6, language)`,
    [unit, expected + 1, note, body === undefined ? null : sha256(body), title ?? null, language ?? null],
  )
  if (rows[0]) return { unit_id: unit, ...rows[0], changed: true }
  const edited = await editUnit(
    client,
    unit,
    { expected_version: expected, note, ...texts },
    onBehalf(context),
  )
  return { unit_id: unit, ...edited }
}

/** The author is the person who started the execution; `via` records the back end. */
const onBehalf = ({ started_by }: ToolContext) => ({ actor: started_by })

function noteOf({ playbook, execution_id, step, index }: ToolContext): string {
  return `playbook ${playbook}, execution ${execution_id}, step ${step}${index === undefined ? '' : ` item ${index}`}`
}

/** The database refuses a record that was not approved, and another digest. Manifest and source are parts of the record, never blobs. */
async function cut({ client, given, context }: ActionInput): Promise<object> {
  const id = uuidOf(given, 'record')
  const digest = given.text('digest')
  const record = await findRecord(client, id)
  const workspace = workspaceFor(given, context)
  if (record === undefined || (workspace !== null && record.workspace_id !== workspace)) {
    throw new StagedoorError('staging_not_found', { record: id })
  }
  const earlier = await cutThatConsumed(client, record.consumed_by_run_id, digest)
  if (earlier !== undefined) return { run_id: earlier, staging_record_id: id, already: true }
  return { ...(await cutFromManifest(client, id, digest)), staging_record_id: id, already: false }
}

async function cutThatConsumed(
  client: Client,
  run: string | null,
  digest: string,
): Promise<string | undefined> {
  if (run === null) return undefined
  const { rows } = await client.query<{ run_id: string }>(
    `select run_id from iu_core.dot_iu_command_run
      where run_id = $1 and command = 'dot_iu_cut_from_manifest' and input_digest = $2`,
    [run, digest],
  )
  return rows[0]?.run_id
}

/** A unit of another workspace is answered like a missing one. */
async function unitOf(client: Client, given: ToolArguments, context: ToolContext): Promise<string> {
  const name = given.text('unit')
  const workspace = workspaceFor(given, context)
  if (workspace === null && !UUID.test(name)) requireWorkspace(given, context)
  return namedUnit(client, name, workspace)
}

async function namedUnit(client: Client, name: string, workspace: string | null): Promise<string> {
  const { rows } = await client.query<{ unit_id: string }>(
    `select unit_id from iu_core.information_unit
      where ${UUID.test(name) ? 'unit_id = $1::uuid' : 'canonical_address = $1'} and ($2::uuid is null or workspace_id = $2)`,
    [name, workspace],
  )
  if (rows[0]) return rows[0].unit_id
  throw new StagedoorError('unit_unknown', { unit: name })
}

function requireWorkspace(given: ToolArguments, context: ToolContext): string {
  const workspace = workspaceFor(given, context)
  if (workspace !== null) return workspace
  throw given.wrong('workspace_id', 'is missing: this execution belongs to none')
}

function uuidOf(given: ToolArguments, name: string): string {
  const id = given.text(name)
  if (UUID.test(id)) return id
  throw given.wrong(name, 'must be the id of a staging record')
}

function timeOf(given: ToolArguments, name: string): Date | undefined {
  const text = given.optionalText(name)
  if (text === undefined) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw given.wrong(name, 'must be a time such as 2026-11-16T08:00:00Z')
  return time
}

function textsOf<Name extends string>(
  given: ToolArguments,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = given.optionalText(name)
      return value === undefined ? [] : [[name, value]]
    }),
  ) as Partial<Record<Name, string>>
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Times become ISO texts. */
function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
