/**
 * The tool `ingest`: a file into a dataset, as far as `until` says. Called again with the same file it continues the
 * upload from its status: after a crash, or after a person has approved the plan.
 */

import { type Tool, ToolArguments, ToolError } from '../../executions/tools/tool.ts'
import type { Ingest } from '../../ingest/library.ts'
import { UNTIL } from '../../ingest/pipeline.ts'
import { ON_INVALID } from '../../ingest/plan.ts'
import type { Upload } from '../../ingest/uploads.ts'
import { StagedoorError } from '../../kernel/errors.ts'
import type { Json, JsonObject } from '../../kernel/json.ts'
import { fileBelow } from './files.ts'
import { workspaceFor } from './scope.ts'

export function ingestTool(ingest: Ingest, folder: string): Tool {
  return async (_call, args, context) => {
    const given = new ToolArguments('ingest', args, KNOWN)
    const until = given.oneOf('until', UNTIL) ?? 'planned'
    const onInvalid = given.oneOf('on_invalid', ON_INVALID)
    const workspaceId = workspaceFor(given, context)
    if (workspaceId === null) throw noWorkspace()
    const path = await fileBelow(folder, given.text('file'))
    const target = await ingest.datasets.resolve({
      workspaceId,
      dataset: given.text('dataset'),
      platform: given.optionalText('platform'),
      client: given.optionalText('client'),
    })
    try {
      const { upload, created } = await ingest.run(path, {
        ...target,
        workspaceId,
        until,
        onInvalid,
        threshold: threshold(given),
        sameBytes: 'continue',
        uploadedBy: context.started_by,
        signal: context.signal,
      })
      return { ...resultOf(upload), created }
    } catch (error) {
      throw forPlaybook(error)
    }
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

/** What stops an upload, with what the author of a playbook can do about it. */
function forPlaybook(error: unknown): unknown {
  if (!(error instanceof StagedoorError)) return error
  const { upload, reason, state } = error.details
  switch (error.code) {
    case 'plan_refused': {
      const problems = `${reason} (upload ${upload}: \`stagedoor upload problems ${upload}\` lists them)`
      return new StagedoorError('plan_refused', { ...error.details, reason: problems })
    }
    case 'approval_missing':
      return new ToolError(
        `The plan of upload ${upload} needs an approval, and ${reason}. Use until: submitted, then a step that waits for the approval of review_record_id, then until: promoted with the same file`,
      )
    case 'upload_already_exists':
      return new ToolError(`The same file was uploaded as ${upload}, which is ${state}`, {
        retryable: state === 'reading',
      })
    default:
      return error
  }
}

function noWorkspace(): ToolError {
  return new ToolError(
    'An upload belongs to a workspace, and this execution to none: start it with --workspace (workspace_id over HTTP and in SQL), or give the step args.workspace_id',
  )
}

function threshold(given: ToolArguments): number | undefined {
  const value = given.any('threshold') ?? undefined
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 1)) return value
  throw given.wrong('threshold', 'must be a share from 0 to 1')
}

function resultOf(upload: Upload): JsonObject {
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
