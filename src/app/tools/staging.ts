/**
 * The tool `staging`: an execution stages records for review, reads and consumes them, on behalf of the person who started it. It
 * never approves or rejects: people do, and the execution waits for them.
 */

import {
  REFUSED_STAGING_ACTIONS,
  STAGING_ACTIONS,
  type Tool,
  ToolArguments,
  type ToolContext,
  ToolError,
} from '../../executions/tools/tool.ts'
import { StagedoorError } from '../../kernel/errors.ts'
import { UUID } from '../../kernel/ids.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import type { Client, Pool } from '../../kernel/postgres/connection.ts'
import { inTransaction, SERVICE_ROLE } from '../../kernel/postgres/transaction.ts'
import {
  createRecord,
  findRecord,
  readPart,
  type StagingRecord,
  withdrawRecord,
} from '../../staging/records.ts'
import { actFor, workspaceFor } from './scope.ts'

interface StagingToolDeps {
  /** Login stagedoor_worker. */
  readonly pool: Pool
  /** Proves the blobs of a record before it is used. */
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export function stagingTool({ pool, prove }: StagingToolDeps): Tool {
  return async (_call, args, context) => {
    const action = actionOf(args)
    return inTransaction(
      pool,
      async (client) => {
        await actFor(client, context)
        switch (action) {
          case 'create':
            return create(client, args, context)
          case 'read':
            return read(client, args, context)
          case 'consume':
            return consume(client, args, context, prove)
          case 'withdraw':
            return withdraw(client, args, context)
        }
      },
      SERVICE_ROLE,
    )
  }
}

function actionOf({ action }: JsonObject): (typeof STAGING_ACTIONS)[number] {
  const decision = REFUSED_STAGING_ACTIONS.get(String(action))
  if (decision !== undefined) throw new ToolError(decision)
  const known = STAGING_ACTIONS.find((one) => one === action)
  if (known !== undefined) return known
  throw new ToolError(`The argument action of the tool staging must be one of ${STAGING_ACTIONS.join(', ')}`)
}

const RECORD_FIELDS = [
  'staging_kind',
  'payload_type',
  'purpose',
  'parts',
  'source_kind',
  'source_ref',
  'expires_at',
  'metadata',
  'referenced_iu_ids',
] as const

/** The command is the key: run again after a crash, it finds the record that it made. */
async function create(client: Client, args: JsonObject, context: ToolContext): Promise<Json> {
  const given = new ToolArguments('staging', args, [
    'action',
    ...RECORD_FIELDS,
    'workspace_id',
    'idempotency_key',
  ])
  const workspace_id = workspaceFor(given, context)
  if (workspace_id === null) await refuseUndecidable(client, args)
  const fields = Object.fromEntries(RECORD_FIELDS.map((name) => [name, args[name]]))
  const request = {
    source_kind: 'system',
    source_ref: `execution:${context.execution_id}`,
    ...withoutUndefined(fields),
    workspace_id,
    owner_actor: context.started_by,
  }
  const key = given.optionalText('idempotency_key') ?? context.command_id
  return { ...(await createRecord(client, JSON.stringify(request), key)) }
}

/** A record of no workspace has no members who could decide on it, and an execution would wait for them in vain. */
async function refuseUndecidable(client: Client, { staging_kind: kind }: JsonObject): Promise<void> {
  const { rows } = await client.query(
    'select from iu_core.iu_staging_kind_policy where staging_kind = $1 and approval_required',
    [kind],
  )
  if (rows.length === 0) return
  throw new ToolError(
    `A ${kind} needs an approval, and nobody could give it: this execution belongs to no workspace. Start it with --workspace (workspace_id over HTTP and in SQL), or give the step args.workspace_id`,
  )
}

async function read(client: Client, args: JsonObject, context: ToolContext): Promise<Json> {
  const record = await recordOf(client, new ToolArguments('staging', args, ['action', 'record']), context)
  // Committed before the step gets the text: the database refuses to make a unit of text that was not approved.
  await client.query('select iu_core.fn_execution_track_read($1, $2)', [
    context.execution_id,
    record.staging_record_id,
  ])
  const parts: Json[] = []
  for (const { part_index: index } of record.part_digests) {
    const part = await readPart(client, record.staging_record_id, index)
    if (part === undefined) continue
    const { part_name, payload_kind, content, blob_ref, content_hash } = part
    const value = payload_kind === 'json' && content !== null ? (JSON.parse(content) as Json) : content
    parts.push({ part_name, payload_kind, content: value, blob_ref, content_hash })
  }
  // Times become ISO texts.
  return { ...(JSON.parse(JSON.stringify(record)) as JsonObject), parts }
}

async function consume(
  client: Client,
  args: JsonObject,
  context: ToolContext,
  prove: StagingToolDeps['prove'],
): Promise<Json> {
  const given = new ToolArguments('staging', args, ['action', 'record', 'digest'])
  const record = await recordOf(client, given, context)
  const { staging_record_id: id, workspace_id: workspace, content_hash: hash } = record
  const command = `playbook ${context.playbook} ${context.command_id}`
  const earlier = await runThatConsumed(client, record)
  if (earlier?.command === command)
    return { staging_record_id: id, run_id: earlier.run_id, content_hash: hash }
  await prove?.(client, id)
  const { rows } = await client.query<{ run: string }>(
    'select iu_core.fn_command_run_start($1, $2, $3, $4) as run',
    [command, hash, workspace, context.started_by],
  )
  const { run } = rows[0]!
  await client.query('select iu_core.fn_iu_staging_consume($1, $2, $3)', [
    id,
    run,
    given.optionalText('digest') ?? null,
  ])
  await client.query('select iu_core.fn_command_run_finish($1)', [run])
  return { staging_record_id: id, run_id: run, content_hash: hash }
}

async function runThatConsumed(
  client: Client,
  { consumed_by_run_id: run }: StagingRecord,
): Promise<{ run_id: string; command: string } | undefined> {
  if (run === null) return undefined
  const { rows } = await client.query<{ run_id: string; command: string }>(
    'select run_id, command from iu_core.dot_iu_command_run where run_id = $1',
    [run],
  )
  return rows[0]
}

/** Only the owner may withdraw: the execution must have been started by the owner of the record. */
async function withdraw(client: Client, args: JsonObject, context: ToolContext): Promise<Json> {
  const record = await recordOf(client, new ToolArguments('staging', args, ['action', 'record']), context)
  const { staging_record_id: id, owner_actor: owner } = record
  if (owner !== context.started_by) throw new StagedoorError('staging_not_owner', { record: id })
  // An earlier run of this command did it, or the owner: either way the step has what it asked for.
  const isWithdrawn = record.lifecycle_status === 'rejected' && record.rejected_reason === 'withdrawn'
  if (!isWithdrawn) await withdrawRecord(client, id)
  return { staging_record_id: id, lifecycle_status: 'rejected' }
}

/** A record of another workspace is answered like a missing one. */
async function recordOf(
  client: Client,
  given: ToolArguments,
  { workspace_id: own }: ToolContext,
): Promise<StagingRecord> {
  const id = given.text('record')
  if (!UUID.test(id)) {
    throw given.wrong('record', 'must be the id of a staging record')
  }
  const record = await findRecord(client, id)
  if (record !== undefined && (own === null || record.workspace_id === own)) return record
  throw new StagedoorError('staging_not_found', { record: id })
}

function withoutUndefined(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  )
}
