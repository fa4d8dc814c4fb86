/**
 * The tool `ingest`: a file into a dataset, as far as `until` says. Called again with the same file it goes on where the
 * upload stands: after a crash, or after a person has approved the plan.
 */
import { UUID } from '../../db/uuid.ts'
import { StagedoorError } from '../../errors.ts'
import type { Json, JsonObject } from '../../executions/playbook/definition.ts'
import { type Tool, type ToolContext, ToolError } from '../../executions/tool.ts'
import { Arguments } from '../../executions/tools/arguments.ts'
import type { Dataset } from '../../ingest/datasets/dataset.ts'
import type { Ingest } from '../../ingest/library.ts'
import type { Upload } from '../../ingest/uploads.ts'
import { fileBelow } from './files.ts'
import { workspaceFor } from './workspace.ts'

const UNTIL = ['staged', 'planned', 'submitted', 'promoted'] as const
type Until = (typeof UNTIL)[number]

export function ingestTool(ingest: Ingest, folder: string): Tool {
  return async (_call, args, context) => {
    const given = new Arguments('ingest', args, KNOWN)
    const until = given.oneOf('until', UNTIL) ?? 'planned'
    const workspace = workspaceFor(given, context)
    if (workspace === null) throw noWorkspace()
    const path = await fileBelow(folder, given.text('file'))
    const dataset = await datasetOf(ingest, given.text('dataset'))
    const { upload, created } = await ingest.run(path, {
      dataset: dataset.name,
      platform: given.optionalText('platform') ?? onlyPlatform(dataset),
      workspace_id: workspace,
      client_id: await clientOf(ingest, dataset, workspace, given.optionalText('client')),
      until: until === 'staged' ? 'staged' : 'planned',
      on_invalid: given.oneOf('on_invalid', ['refuse', 'skip']),
      threshold: threshold(given),
      uploaded_by: context.started_by,
      signal: context.signal,
    })
    return { ...shown(await goOn(ingest, upload, until, given, context)), created }
  }
}

const KNOWN = [
  'file',
  'dataset',
  'platform',
  'client',
  'on_invalid',
  'threshold',
  'until',
  'workspace_id',
] as const

async function goOn(
  ingest: Ingest,
  upload: Upload,
  until: Until,
  given: Arguments,
  { started_by: by }: ToolContext,
): Promise<Upload> {
  const id = upload.upload_id
  if (upload.status === 'reading') {
    throw new ToolError(`The same file is being read as upload ${id}`, { retryable: true })
  }
  if (upload.status === 'staged' && until !== 'staged') {
    const gate = given.oneOf('on_invalid', ['refuse', 'skip']) === 'skip' ? 'LENIENT' : 'STRICT'
    const share = threshold(given)
    await ingest.plan(id, {
      gate_mode: gate,
      planned_by: by,
      ...(share !== undefined && { threshold: share }),
    })
  }
  const planned = await found(ingest, id)
  if (planned.status !== 'planned' || until === 'staged' || until === 'planned') return planned
  if (planned.plan_refusal !== null) {
    const reason = `${planned.plan_refusal} (upload ${id}: \`stagedoor upload problems ${id}\` lists them)`
    throw new StagedoorError('plan_refused', { upload: id, reason })
  }
  const digest = planned.plan_digest!
  if (planned.approval_required && planned.review_status === 'not_submitted')
    await ingest.submit(id, digest, by)
  if (until === 'promoted') {
    if (planned.approval_required && planned.review_status !== 'approved') throw notApproved(planned)
    await ingest.promote(id, digest, by)
  }
  return found(ingest, id)
}

async function found(ingest: Ingest, id: string): Promise<Upload> {
  const upload = await ingest.get(id)
  if (upload === undefined) throw new ToolError(`The upload ${id} is gone`)
  return upload
}

function notApproved({ upload_id: id, review_status: status }: Upload): ToolError {
  const state = status === 'not_submitted' ? 'nobody has decided yet' : `it is ${status}`
  return new ToolError(
    `The plan of upload ${id} needs an approval, and ${state}. Use until: submitted, then a step that waits for the approval of review_record_id, then until: promoted with the same file`,
  )
}

function noWorkspace(): ToolError {
  return new ToolError(
    'An upload belongs to a workspace, and this execution to none: start it with --workspace (workspace_id over HTTP and in SQL), or give the step args.workspace_id',
  )
}

async function datasetOf(ingest: Ingest, dataset: string): Promise<Dataset> {
  const known = (await ingest.datasets.list()).find((one) => one.dataset === dataset)
  if (known !== undefined) return known.definition
  throw new StagedoorError('dataset_unknown', { dataset, platform: '' })
}

function onlyPlatform({ name, platforms: known }: Dataset): string {
  const platforms = Object.keys(known)
  if (platforms.length === 1) return platforms[0]!
  throw new ToolError(`The dataset ${name} has several platforms; name one: ${platforms.join(', ')}`)
}

/** By its name or id, as on the command line; left out, the only one there is. */
async function clientOf(
  ingest: Ingest,
  { name: dataset, client }: Dataset,
  workspace: string,
  named: string | undefined,
): Promise<string | undefined> {
  if (!client) {
    if (named === undefined) return undefined
    throw new ToolError(`The dataset ${dataset} has no clients; leave client out`)
  }
  // Whether there is such a one is the database's to say.
  if (named !== undefined && UUID.test(named)) return named
  const clients = await ingest.datasets.clients(dataset, workspace)
  const found = named === undefined ? clients : clients.filter(({ name }) => name === named)
  if (found.length === 1) return found[0]!.id
  const names = clients.map(({ name }) => name).join(', ') || 'none yet'
  if (named === undefined) throw new ToolError(`Say for which client this upload is; there are ${names}`)
  throw new ToolError(
    found.length > 1
      ? `There are ${found.length} clients ${named}; give the id of one of them`
      : `The workspace has no client ${named}; there are ${names}`,
  )
}

function threshold(given: Arguments): number | undefined {
  const value = given.any('threshold') ?? undefined
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 1)) return value
  throw given.wrong('threshold', 'must be a share from 0 to 1')
}

function shown(upload: Upload): JsonObject {
  return {
    upload_id: upload.upload_id,
    status: upload.status,
    counts: {
      lines: upload.line_count,
      valid: upload.valid_count,
      invalid: upload.invalid_count,
      skipped: upload.skipped_count,
      warnings: upload.warning_count,
    },
    left_out: upload.left_out as Json,
    control: upload.control as unknown as Json,
    plan: upload.plan_totals as Json,
    plan_refusal: upload.plan_refusal,
    approval_required: upload.approval_required,
    review_record_id: upload.review_record_id,
    promotion: upload.promotion_totals as Json,
  }
}
