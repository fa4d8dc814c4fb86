/**
 * Pull requests for SQL: one statement becomes an upload with a plan, which is reviewed, promoted and undone like one from a file.
 *
 *   admit       may the caller stage here, and which tables are open (fn_proposal_admit)
 *   work out    as the login stagedoor_proposer, rolled back (session.ts, statement.ts)
 *   record      the upload as the caller, its plan as the back end (fn_proposal_plan)
 *   continue    submit, promote: as every upload (pipeline.ts)
 *
 * A process that dies before the plan is recorded leaves nothing, or an upload without a reader, which fails like one of a file.
 */
import { createHash, randomUUID } from 'node:crypto'
import { asStagedoorError, StagedoorError } from '../../kernel/errors.ts'
import type { Client, Queryable } from '../../kernel/postgres/connection.ts'
import { mapDatabaseError } from '../../kernel/postgres/errors.ts'
import { inTransaction, SERVICE_ROLE } from '../../kernel/postgres/transaction.ts'
import { withinAssertionLimit } from '../assertion-limit.ts'
import {
  advanceUpload,
  type IngestActor,
  type IngestResult,
  type PipelineDeps,
  type Until,
} from '../pipeline.ts'
import type { ProposalTable } from '../shapes.ts'
import { beginUpload, discardUpload, failUpload, requireUpload, type Upload } from '../uploads.ts'
import { requireImageLength, type WorkedOut, workOut } from './session.ts'
import { type OpenTable, tidyStatement } from './statement.ts'

export interface ProposalOptions {
  readonly actor: IngestActor
  readonly workspaceId: string
  /** What people call it; default: the statement itself. */
  readonly title?: string | undefined
  /** The same key gives the same proposal: for callers that try again. */
  readonly key?: string | undefined
  /** Whose key it is, where callers do not see the proposals of each other; default: of the whole workspace. */
  readonly keyOwner?: string | undefined
  /** How far it goes if nothing stops it; default planned. */
  readonly until?: Exclude<Until, 'staged'> | undefined
  /** Work it out and show the plan; it cannot be promoted. */
  readonly dryRun?: boolean | undefined
}

const PLATFORM = 'sql'
const MAX_TITLE_LENGTH = 200

export async function propose(
  deps: PipelineDeps,
  given: string,
  options: ProposalOptions,
): Promise<IngestResult> {
  const { actor, workspaceId, key, dryRun } = options
  const hash = key === undefined ? undefined : hashOfKey(key, options.keyOwner)
  const statement = tidyStatement(given)
  const { actor: proposer, tables } = await actor.transaction(async (client) => {
    const { rows } = await client.query<{ admitted: { actor: string; tables: OpenTable[] } }>(
      'select iu_core.fn_proposal_admit($1, $2) as admitted',
      [workspaceId, actor.onBehalfOf ?? null],
    )
    return rows[0]!.admitted
  })
  // Before the statement runs: it may change nothing any more, because its proposal was promoted.
  if (hash !== undefined && !dryRun) {
    const upload = await actor.transaction((client) => findByHash(client, workspaceId, hash))
    if (upload !== undefined) return { upload: requireSame(upload, statement, key!), created: false }
  }
  if (deps.proposalPool === undefined)
    throw new StagedoorError('proposal_login_missing', { reason: 'PROPOSAL_DATABASE_URL is not set' })
  const workedOut = await workOut(deps.proposalPool, statement, { workspaceId, actor: proposer, tables })
  if (workedOut.rows.length === 0)
    throw new StagedoorError(
      'proposal_refused',
      { reason: 'it changes no row' },
      { hint: 'Look at its condition: no row that you may see meets it.' },
    )
  requireImageLength(workedOut.rows, workedOut.table.target)
  // The same statement may be right every week: only a key makes two proposals one.
  return record(deps, statement, workedOut, proposer, { ...options, hash: hash ?? hashOfKey(randomUUID()) })
}

/**
 * The same statement once more, as a new proposal under the same title; the earlier one is discarded where it was not promoted, unless this
 * is a dry run. Whoever may propose in a workspace may discard what they see of it, so that is not asked for again.
 */
export async function proposeAgain(
  deps: PipelineDeps,
  upload: string,
  options: Omit<ProposalOptions, 'workspaceId' | 'key' | 'keyOwner'>,
): Promise<IngestResult> {
  const { actor } = options
  const before = await actor.transaction((client) => requireUpload(client, upload))
  if (before.proposal === null)
    throw new StagedoorError('argument_invalid', { reason: `Upload ${upload} is a file and no statement` })
  const result = await propose(deps, before.proposal.statement, {
    ...options,
    // Whoever submits a proposal may have given its change another title.
    title: options.title ?? before.title ?? before.file_name,
    workspaceId: before.workspace_id,
  })
  if (before.status === 'planned' && !options.dryRun)
    await actor
      .transaction((client) => discardUpload(client, upload, actor.onBehalfOf))
      .catch((error: unknown) => {
        // Somebody has discarded or promoted it meanwhile: the new proposal stands beside that.
        if (refusalOf(error).code !== 'upload_state') throw error
      })
  return result
}

const refusalOf = (error: unknown) => asStagedoorError(mapDatabaseError(error))

async function record(
  deps: PipelineDeps,
  statement: string,
  { operation, table, rows, defaults, tookMs, lockedMs }: WorkedOut,
  proposer: string,
  {
    actor,
    workspaceId,
    title,
    key = '',
    hash,
    until = 'planned',
    dryRun = false,
  }: ProposalOptions & { hash: string },
): Promise<IngestResult> {
  const { upload_id, created, reader_token } = await actor.transaction((client) =>
    beginUpload(client, {
      workspace_id: workspaceId,
      dataset: table.dataset,
      platform: PLATFORM,
      file_name: (title ?? titleOf(statement)).slice(0, MAX_TITLE_LENGTH),
      file_hash: hash,
      byte_len: Buffer.byteLength(statement),
      run_mode: dryRun ? 'FULL_DRY_RUN' : 'SAFE_PROD',
      options: { source: 'sql' },
      uploaded_by: actor.onBehalfOf,
    }),
  )
  const find = () => actor.transaction((client) => requireUpload(client, upload_id))
  if (reader_token === null) return { upload: requireSame(await find(), statement, key), created }
  try {
    await inTransaction(
      deps.pool,
      (client) =>
        withinAssertionLimit(client, () =>
          client.query('select from iu_core.fn_proposal_plan($1, $2, $3, $4, $5, $6, $7)', [
            upload_id,
            reader_token,
            JSON.stringify({
              statement,
              operation,
              took_ms: Math.round(tookMs),
              locked_ms: Math.round(lockedMs),
              defaults,
            }),
            rows.map(({ action }) => action),
            rows.map(({ before }) => before),
            rows.map(({ after }) => after),
            proposer,
          ]),
        ),
      SERVICE_ROLE,
    )
  } catch (error) {
    await failUpload(deps.pool, { upload_id, reader_token }, error)
    throw error
  }
  if (until === 'planned' || dryRun) return { upload: await find(), created }
  return { ...(await advanceUpload(deps, upload_id, { actor, until })), created }
}

function hashOfKey(key: string, owner?: string): string {
  return sha256(`proposal ${owner === undefined ? key : `${owner} ${key}`}`)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The proposal of a key, on whatever table. One that is not recorded yet is found when it is begun (fn_ingest_begin). */
async function findByHash(client: Client, workspaceId: string, hash: string): Promise<Upload | undefined> {
  const { rows } = await client.query<{ upload_id: string }>(
    `select upload_id from iu_core.v_ingest_upload
      where workspace_id = $1 and client_id = $1 and platform = $2 and file_hash = $3
        and status in ('planned', 'promoted') and run_mode <> 'FULL_DRY_RUN'
      order by created_at limit 1`,
    [workspaceId, PLATFORM, hash],
  )
  return rows[0] && requireUpload(client, rows[0].upload_id)
}

function requireSame(upload: Upload, statement: string, key: string): Upload {
  const used = upload.proposal?.statement
  if (used === statement) return upload
  if (upload.status === 'reading' || used === undefined)
    throw new StagedoorError('proposal_blocked', { reason: 'a proposal with the same key is being recorded' })
  throw new StagedoorError('proposal_key_used', {
    key,
    upload: upload.upload_id,
    used_digest: sha256(used),
    digest: sha256(statement),
  })
}

function titleOf(statement: string): string {
  const line = statement.replace(/\s+/g, ' ')
  return line.length <= 120 ? line : `${line.slice(0, 119)}…`
}

// Tables that are open. Opening and closing is for administrators.

export interface OpenTableOptions {
  readonly workspaceId: string
  readonly operations?: readonly string[] | undefined
  /** Those that a statement may set; an empty list: all but the key. Default: as before, at first all. */
  readonly columns?: readonly string[] | undefined
  readonly allowTriggers?: boolean | undefined
  readonly maxRows?: number | undefined
}

/** `client` must act as workflow_admin. */
export async function openProposalTable(
  client: Client,
  table: string,
  { workspaceId, operations, columns, allowTriggers, maxRows }: OpenTableOptions,
): Promise<ProposalTable> {
  const { rows } = await client.query<{ target: string }>(
    'select target from iu_core.fn_proposal_open($1, $2, $3, $4, $5, $6)',
    [workspaceId, table, operations ?? null, columns ?? null, allowTriggers ?? null, maxRows ?? null],
  )
  return requireListed(client, workspaceId, rows[0]!.target)
}

/** `client` must act as workflow_admin. */
export async function closeProposalTable(
  client: Client,
  table: string,
  workspaceId: string,
): Promise<ProposalTable> {
  const { rows } = await client.query<{ target: string }>(
    'select target from iu_core.fn_proposal_close($1, $2)',
    [workspaceId, table],
  )
  return requireListed(client, workspaceId, rows[0]!.target)
}

async function requireListed(client: Client, workspace: string, target: string): Promise<ProposalTable> {
  return (await listProposalTables(client, workspace)).find((table) => table.target === target)!
}

/** Without a workspace those of all, for the back end. */
export async function listProposalTables(db: Queryable, workspaceId?: string): Promise<ProposalTable[]> {
  const { rows } = await db.query<ProposalTable>(
    `select workspace_id, target, dataset, operations, columns, key, triggers, triggers_allowed, max_rows, row_security, opened_by, opened_at,
            closed_by, closed_at, not_ready
       from iu_core.fn_proposal_tables($1)`,
    [workspaceId ?? null],
  )
  return rows
}

/** The statements that bring the rights of the login to what is open of a table. `client` must act as workflow_admin. */
export async function proposalGrants(client: Client, target: string): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    'select statement from iu_core.fn_proposal_grants($1) as statement',
    [target],
  )
  return rows.map(({ statement }) => statement)
}

export type { ProposalTable }
