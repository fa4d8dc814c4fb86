/** From a file to as far as it is asked to go: each step as the member that is named, the reading as the back end. */
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { StagedoorError } from '../../../errors.ts'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import { listClients, listDatasets } from '../../../ingest/datasets/registry.ts'
import type { IngestOptions, IngestSource } from '../../../ingest/ingest.ts'
import { planUpload, submitPlan } from '../../../ingest/plan.ts'
import type { ReportProgress } from '../../../ingest/progress.ts'
import { promoteUpload } from '../../../ingest/promotion.ts'
import { beginInTurn } from '../../../ingest/turn.ts'
import { beginUpload, requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { requireStaging } from '../../../staging/gate.ts'
import { workspaceOf } from '../../acting.ts'
import { unknown } from '../dataset/look.ts'
import type { Session } from './session.ts'
import { stoppedAt } from './stopped.ts'

export interface FileToIngest {
  readonly file: string
  /** What it is called, where it comes from standard input. */
  readonly name?: string | undefined
  readonly dataset: string
  readonly platform?: string | undefined
  readonly workspace?: string | undefined
  /** Id or name. */
  readonly client?: string | undefined
  readonly further: Pick<
    IngestOptions,
    'on_invalid' | 'threshold' | 'repeated_keys' | 'until' | 'dry_run' | 'how' | 'cursor'
  >
}

export interface Ingested {
  readonly upload: Upload
  readonly created: boolean
  /** Why it did not go as far as it was asked to. */
  readonly stopped?: StagedoorError
}

export async function ingestFile(
  session: Session,
  given: FileToIngest,
  watch: { report: ReportProgress; signal: AbortSignal },
): Promise<Ingested> {
  const source = await sourceOf(given.file)
  const options: IngestOptions = { ...given.further, ...(await settle(session, given)) }
  const begun = await read(session, source, given, options, watch)
  if (!begun.created) return withReason(begun, options, session)
  return goOn(session, begun.upload, options, watch.report)
}

function withReason(ingested: Ingested, options: IngestOptions, session: Session): Ingested {
  const stopped = stoppedAt(ingested.upload, options, session)
  return { ...ingested, ...(stopped && { stopped }) }
}

async function sourceOf(file: string): Promise<IngestSource> {
  if (file === '-') {
    if (process.stdin.isTTY) throw invalid('Nothing is piped in: give a file, or pipe one into this command')
    return process.stdin
  }
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw invalid(
      error.code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${error.message}`,
    )
  })
  if (found.isDirectory()) throw invalid(`${file} is a folder; give one file`)
  return file
}

type Settled = Pick<IngestOptions, 'dataset' | 'platform' | 'workspace_id' | 'client_id'>

/** What was left out and can only mean one thing. Whoever may not stage is refused before a byte is taken. */
async function settle(session: Session, given: FileToIngest): Promise<Settled> {
  return session.act(async (client) => {
    const workspace = await workspaceOf(client, given.workspace)
    await requireStaging(client, workspace)
    const registered = await listDatasets(client)
    const dataset = registered.find((found) => found.dataset === given.dataset)?.definition
    if (!dataset) throw unknown(given.dataset, registered)
    const clients = await listClients(client, dataset, workspace)
    return {
      dataset: dataset.name,
      platform: platformOf(dataset, given.platform),
      workspace_id: workspace,
      client_id: clientOf(dataset, clients, given.client),
    }
  })
}

function platformOf(dataset: Dataset, named: string | undefined): string {
  const platforms = Object.keys(dataset.platforms)
  if (named === undefined && platforms.length === 1) return platforms[0]!
  if (named !== undefined && platforms.includes(named)) return named
  if (named === undefined) throw invalid(`Say which platform with --platform: ${platforms.join(', ')}`)
  throw new StagedoorError(
    'dataset_unknown',
    { dataset: dataset.name, platform: named },
    { message: `The dataset ${dataset.name} has no platform ${named}; it has ${platforms.join(', ')}` },
  )
}

function clientOf(
  dataset: Dataset,
  clients: readonly { id: string; name: string }[],
  named: string | undefined,
): string | undefined {
  if (!dataset.client) {
    if (named === undefined) return undefined
    throw invalid(`The dataset ${dataset.name} has no clients; leave --client out`)
  }
  const found =
    named === undefined ? clients : clients.filter(({ id, name }) => id === named || name === named)
  if (found.length === 1) return found[0]!.id
  const names = clients.map(({ name }) => name).join(', ')
  if (clients.length === 0) {
    throw new StagedoorError(
      'client_unknown',
      { client: named ?? '' },
      { message: 'The workspace has no client yet', hint: 'Add one: `stagedoor client add NAME`.' },
    )
  }
  if (named === undefined) throw invalid(`Say for which client with --client: ${names}`)
  if (found.length > 1)
    throw invalid(`There are ${found.length} clients ${named}; give the id of one of them`)
  throw new StagedoorError(
    'client_unknown',
    { client: named },
    { message: `The workspace has no client ${named}; it has ${names}` },
  )
}

/** The member opens the upload, so that it is theirs; rows are written by the back end alone. */
async function read(
  session: Session,
  source: IngestSource,
  { file, name }: FileToIngest,
  options: IngestOptions,
  { report, signal }: { report: ReportProgress; signal: AbortSignal },
): Promise<Ingested> {
  // Loaded here, because the other commands need no DuckDB.
  const { newUpload, spoolSource, stageBegun } = await import('../../../ingest/ingest.ts')
  const context = { pool: session.pool, home: session.config.home }
  const spooled = await spoolSource(context, source, { workspace_id: options.workspace_id, signal })
  const fileName = name ?? (file === '-' ? 'standard input' : basename(file))
  const upload = newUpload(spooled, { ...options, file_name: fileName })
  const begun = await beginInTurn(
    session.pool,
    options.workspace_id,
    () => session.act((client) => beginUpload(client, upload)),
    { onProgress: report, signal },
  ).catch(async (error) => {
    await spooled.remove()
    throw signal.aborted ? stopped(error) : error
  })
  const { upload_id, reader_token } = begun
  if (reader_token === null) await spooled.remove()
  else {
    await stageBegun(context, { upload_id, reader_token }, spooled, {
      onProgress: report,
      signal,
      until: options.until,
      ...(options.how && { how: options.how }),
    }).catch((error) => {
      throw signal.aborted ? stopped(error) : error
    })
  }
  return { upload: await session.act((client) => requireUpload(client, upload_id)), created: begun.created }
}

async function goOn(
  session: Session,
  staged: Upload,
  options: IngestOptions,
  report: ReportProgress,
): Promise<Ingested> {
  const { until = 'promoted', on_invalid, threshold, dry_run } = options
  const id = staged.upload_id
  const now = async (): Promise<Ingested> => {
    const upload = await session.act((client) => requireUpload(client, id))
    return withReason({ upload, created: true }, options, session)
  }
  if (until === 'staged') return { upload: staged, created: true }
  report({ stage: 'plan', done: 0, total: 1 })
  const plan = await session.act((client) =>
    planUpload(client, id, {
      gate_mode: on_invalid === 'skip' ? 'LENIENT' : 'STRICT',
      ...(threshold !== undefined && { threshold }),
    }),
  )
  report({ stage: 'plan', done: 1, total: 1 })
  if (until === 'planned' || dry_run || plan.refusal !== null) return now()
  if (plan.approval_required) {
    await session.act((client) => submitPlan(client, id, plan.digest))
    return now()
  }
  report({ stage: 'promote', done: 0, total: 1 })
  await session.act((client) => promoteUpload(client, id, plan.digest))
  report({ stage: 'promote', done: 1, total: 1 })
  return now()
}

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}

function stopped(cause: unknown): StagedoorError {
  return new StagedoorError(
    'argument_invalid',
    { reason: 'Stopped. Nothing of the file was kept' },
    { cause, hint: 'The same command again begins anew.' },
  )
}
