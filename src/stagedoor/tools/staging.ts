/**
 * The tool `staging`: records that an execution holds for review, reads and uses, on behalf of whoever started it. It never
 * decides: approving and rejecting is a person's, and the execution waits for it.
 */

import type { Client, Pool } from '../../db/connection.ts'
import { inTransaction } from '../../db/transaction.ts'
import { UUID } from '../../db/uuid.ts'
import { StagedoorError } from '../../errors.ts'
import type { Json, JsonObject } from '../../executions/playbook/definition.ts'
import { type Tool, type ToolContext, ToolError } from '../../executions/tool.ts'
import { Arguments } from '../../executions/tools/arguments.ts'
import { STAGING_ACTIONS, STAGING_DECISIONS } from '../../executions/tools/staging-actions.ts'
import {
  createRecord,
  findRecord,
  readPart,
  type StagingRecord,
  withdrawRecord,
} from '../../staging/records.ts'
import { actFor, workspaceFor } from './workspace.ts'

export interface StagingToolOptions {
  /** Of the login stagedoor_worker. */
  readonly pool: Pool
  /** Proves the blobs of a record before it is used. */
  readonly prove?: (client: Client, record: string) => Promise<void>
}

export function stagingTool({ pool, prove }: StagingToolOptions): Tool {
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
      { role: 'service_role' },
    )
  }
}

function actionOf({ action }: JsonObject): (typeof STAGING_ACTIONS)[number] {
  const decision = STAGING_DECISIONS.get(String(action))
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
  const given = new Arguments('staging', args, [
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
  const record = await recordOf(client, new Arguments('staging', args, ['action', 'record']), context)
  // Committed with this transaction, before the text is handed out: what lacks its approval becomes no unit.
  await client.query('select iu_core.fn_execution_reads_record($1, $2)', [
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
  // Its times as JSON writes them.
  return { ...(JSON.parse(JSON.stringify(record)) as JsonObject), parts }
}

async function consume(
  client: Client,
  args: JsonObject,
  context: ToolContext,
  prove: StagingToolOptions['prove'],
): Promise<Json> {
  const given = new Arguments('staging', args, ['action', 'record', 'digest'])
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

/** The database lets only the owner withdraw, and the back end is not the person it staged for: then it refuses. */
async function withdraw(client: Client, args: JsonObject, context: ToolContext): Promise<Json> {
  const record = await recordOf(client, new Arguments('staging', args, ['action', 'record']), context)
  const { staging_record_id: id, owner_actor: owner } = record
  if (owner !== context.started_by) throw new StagedoorError('staging_not_owner', { record: id })
  // By an earlier run of this command, or by the owner: either way it is what was asked for.
  const isWithdrawn = record.lifecycle_status === 'rejected' && record.rejected_reason === 'withdrawn'
  if (!isWithdrawn) await withdrawRecord(client, id)
  return { staging_record_id: id, lifecycle_status: 'rejected' }
}

/** One of another workspace is answered like one that is not there. */
async function recordOf(
  client: Client,
  given: Arguments,
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
