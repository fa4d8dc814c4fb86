/** Tools for what is going on: the status of whatever was proposed or started, playbooks, and issues. */

import { requireChange } from '../changes/changes.ts'
import { listComments } from '../changes/comments.ts'
import { findStandingOf, listReviews } from '../changes/reviews.ts'
import { type Issue, type IssueSummary, listIssueSummaries, listIssues } from '../events/issues.ts'
import { startOrFindExecution } from '../executions/control.ts'
import { getExecution } from '../executions/queries.ts'
import { findUploadStatus, type UploadStatusRow } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { JsonObject } from '../kernel/json.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { Type } from '../kernel/schema.ts'
import { findRecord, readPart } from '../staging/records.ts'
import type { StagingRecord } from '../staging/shapes.ts'
import { type Answer, counted, pageOf, shorten, withExactNumbers } from './answers.ts'
import type { ToolCall } from './session.ts'
import { After, limit, type Tool, tool, Workspace } from './tool.ts'
import { refusalOf, uploadErrorOf } from './uploads.ts'

/** Of a record whose parts are asked for. */
const MAX_PART_CHARACTERS = 50_000
const MAX_COMMENTS = 50

const getStatusTool = tool({
  name: 'get_status',
  title: 'Status of a proposal or execution',
  description:
    'How an upload, a staged record, a change (#128) or an execution of a playbook stands, and what a review still needs. `details` adds reviews, comments, parts of a record, results and steps.',
  toolsets: ['data', 'knowledge', 'work'],
  reads: true,
  input: {
    id: Type.String({ minLength: 1, maxLength: 100, description: 'id, or number of a change' }),
    details: Type.Optional(Type.Boolean()),
    workspace: Workspace,
  },
  handle: ({ id, details = false, workspace }, call) =>
    call.transaction(async (plain) => {
      const client = withExactNumbers(plain)
      if (EXECUTION_ID.test(id)) return executionStatus(client, id, details)
      const upload = UUID.test(id) ? await findUploadStatus(client, id) : undefined
      if (upload) return uploadStatus(client, call, upload, details)
      const record = UUID.test(id) ? await findRecord(client, id) : undefined
      if (record) return recordStatus(client, call, record, details)
      const workspaceId = workspace === undefined ? undefined : await call.workspace(client, workspace)
      const { kind, subject_id } = await requireChange(client, id, workspaceId)
      const subject = kind === 'upload' ? await findUploadStatus(client, subject_id) : undefined
      if (subject) return uploadStatus(client, call, subject, details)
      const staged = await findRecord(client, subject_id)
      if (staged) return recordStatus(client, call, staged, details)
      throw new StagedoorError('change_not_found', { change: id })
    }),
})

const startPlaybookTool = tool({
  name: 'start_playbook',
  title: 'Start a playbook',
  description:
    'Start a registered playbook that is open to members, where you have the right to operate. The same key with the same arguments is the same execution.',
  toolsets: ['work'],
  right: 'operate',
  reads: false,
  idempotent: true,
  input: {
    playbook: Type.String({ minLength: 1, maxLength: 200 }),
    args: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    key: Type.String({ minLength: 1, maxLength: 500, description: 'your name for this start' }),
    workspace: Workspace,
  },
  async handle({ playbook, args = {}, key, workspace }, call) {
    const started = await call.transaction(async (client) =>
      startOrFindExecution(client, playbook, args as JsonObject, {
        workspaceId: await call.workspace(client, workspace),
        idempotencyKey: key,
      }),
    )
    return {
      summary: started.is_new ? 'The execution is started.' : 'This key has started an execution before.',
      data: { execution: started.execution_id, is_new: started.is_new },
      next: ['get_status follows it.'],
    }
  },
})

const listIssuesTool = tool({
  name: 'list_issues',
  title: 'List issues',
  description:
    'What went wrong in your workspaces and waits for a person, newest first; agents see kind, severity and times.',
  toolsets: ['work'],
  reads: true,
  input: { limit: limit(200, 20), after: After },
  async handle({ limit = 20, after }, call) {
    if (after !== undefined && !UUID.test(after))
      throw new StagedoorError('request_invalid', { reason: '`after` is not the `next` of a page' })
    const isAgent = call.session.principal.role === 'stagedoor_agent'
    const list = isAgent ? listIssueSummaries : listIssues
    const found = await call.transaction<(Issue | IssueSummary)[]>((client) =>
      list(withExactNumbers(client), { limit: limit + 1, ...(after !== undefined && { after }) }),
    )
    const page = pageOf(found, limit, ({ issue_id }) => issue_id)
    return {
      summary: `${counted(page.rows.length, 'open issue')}.`,
      data: page,
      next: isAgent && found.length > 0 ? ['What they are about is for people: the console shows it.'] : [],
    }
  },
})

export const WORK_TOOLS = {
  status: getStatusTool,
  start: startPlaybookTool,
  issues: listIssuesTool,
} satisfies Record<string, Tool>

// Status.

/** Ids of executions have many digits, numbers of changes at most nine. */
const EXECUTION_ID = /^[1-9]\d{9,18}$/

async function uploadStatus(
  client: Client,
  call: ToolCall,
  upload: UploadStatusRow,
  details: boolean,
): Promise<Answer> {
  const { upload_id, status, review_status, change } = upload
  const standing = review_status === 'not_submitted' ? undefined : await findStandingOf(client, upload_id)
  return {
    summary: `The upload is ${status}${review_status === null ? '' : `, its review ${review_status}`}.`,
    data: {
      kind: 'upload',
      upload: upload_id,
      change,
      title: upload.title,
      url: call.changeUrl(change),
      dataset: upload.dataset,
      platform: upload.platform,
      file_name: upload.file_name,
      status,
      review_status,
      review_reason: upload.review_reason,
      review: standing ? { summary: standing.summary, met: standing.met, missing: standing.missing } : null,
      digest: upload.plan_digest,
      totals: upload.plan_totals,
      refusal: refusalOf(upload),
      lines: upload.line_count,
      invalid: upload.invalid_count,
      progress: upload.progress,
      error: uploadErrorOf(upload),
      approvers: upload.approvers,
      promoted_at: upload.promoted_at,
      undone_at: upload.undone_at,
      undo_reason: upload.undo_reason,
      ...(details && change !== null && (await conversation(client, upload_id))),
    },
  }
}

/** A record of several parts shows as much of them as fits; what is left out is said. */
async function recordStatus(
  client: Client,
  call: ToolCall,
  record: StagingRecord,
  details: boolean,
): Promise<Answer> {
  const { staging_record_id: id, lifecycle_status: status, change } = record
  const standing = change === null ? undefined : await findStandingOf(client, id)
  return {
    summary: `The record is ${status}.`,
    data: {
      kind: 'record',
      record: id,
      change,
      url: call.changeUrl(change),
      staging_kind: record.staging_kind,
      payload_type: record.payload_type,
      purpose: record.purpose,
      status,
      review: standing ? { summary: standing.summary, met: standing.met, missing: standing.missing } : null,
      rejected_reason: record.rejected_reason,
      withdrawn: record.withdrawn,
      approvers: record.approvers,
      digest: record.content_hash,
      expires_at: record.expires_at,
      parts: details ? await partsOf(client, record) : record.part_digests,
      ...(details && change !== null && (await conversation(client, id))),
    },
  }
}

async function partsOf(client: Client, { staging_record_id: id, part_digests }: StagingRecord) {
  let left = MAX_PART_CHARACTERS
  const parts: object[] = []
  for (const part of part_digests) {
    const content = left > 0 ? ((await readPart(client, id, part.part_index))?.content ?? null) : null
    const shown = content?.slice(0, left) ?? null
    left -= shown?.length ?? 0
    parts.push({ ...part, content: shown, is_whole: content !== null && shown!.length === content.length })
  }
  return parts
}

/** What people said of it. */
async function conversation(client: Client, subject: string) {
  const { change_id } = await requireChange(client, subject)
  const reviews = await listReviews(client, change_id)
  const comments = await listComments(client, change_id, { limit: MAX_COMMENTS + 1 })
  return {
    reviews: shorten(reviews.slice(0, MAX_COMMENTS)).value,
    comments: shorten(comments.slice(0, MAX_COMMENTS)).value,
    has_more_comments: comments.length > MAX_COMMENTS,
  }
}

async function executionStatus(client: Client, id: string, details: boolean): Promise<Answer> {
  const {
    steps,
    next_steps,
    args,
    result,
    state: _,
    ...execution
  } = await getExecution(client, id, { limit: details ? 50 : 1 })
  const shown = details ? { args, result, steps, more_steps: next_steps !== null } : {}
  return {
    summary: `The execution is ${execution.status}.`,
    data: { kind: 'execution', ...shorten({ ...execution, ...shown }).value },
  }
}
