/** Tools for uploads: rows are proposed, checked, planned, corrected, read, and handed to people. None of them approves or promotes. */
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { editChange, requireChange, setReviewers } from '../changes/changes.ts'
import type { Change } from '../changes/shapes.ts'
import { resolveDatasetTarget } from '../ingest/datasets/registry.ts'
import { type IngestSource, ingest } from '../ingest/pipeline.ts'
import { listPlanRows, submitPlan } from '../ingest/plan.ts'
import { PLAN_FILTERS, type PlanRow, planOptions } from '../ingest/plan-shapes.ts'
import { rowLineage, uploadLineage } from '../ingest/promotion.ts'
import { repairUpload } from '../ingest/repair.ts'
import { readRisk } from '../ingest/risk.ts'
import type { LedgerRow, Upload } from '../ingest/shapes.ts'
import { listProblemKinds, listRows, type StagedRow } from '../ingest/staged-rows.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { Type } from '../kernel/schema.ts'
import { counted, isLong, pageOf, shorten, withExactNumbers } from './answers.ts'
import { MAX_CONTENT_BYTES, requireSmall } from './datasets.ts'
import { inTools, toolAdvice } from './hints.ts'
import type { ToolCall } from './session.ts'
import { After, Cell, Id, limit, type Tool, tool, Workspace } from './tool.ts'

/** Lines with problems that an answer lists; the others are counted. */
const MAX_PROBLEM_LINES = 50
/** How long a proposal waits while the workspace reads as many files as it may. */
const MAX_QUEUE_WAIT_MS = 20_000
const PLAN_PAGE = 50
const MAX_PLAN_PAGE = 500

const proposeRowsTool = tool({
  name: 'propose_rows',
  title: 'Propose rows',
  description:
    'Propose new or changed rows of a dataset. They are staged, checked and planned against production, which stays as it is. Answers problems by line, totals and the digest of the plan. The same `key` with the same rows finds the proposal that is there.',
  toolsets: ['data'],
  right: 'stage',
  reads: false,
  idempotent: true,
  input: {
    dataset: Type.String({ minLength: 1, maxLength: 63 }),
    key: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
      description: 'your name for this proposal; reviewers see it as the name of the file',
    }),
    rows: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        minItems: 1,
        maxItems: 50_000,
        description: 'header → value; numbers of more than 15 digits as text',
      }),
    ),
    csv: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_CONTENT_BYTES, description: 'instead of rows' }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'instead, where the server was given --files',
      }),
    ),
    platform: Type.Optional(Type.String({ maxLength: 63, description: 'where the dataset has several' })),
    client: Type.Optional(Type.String({ maxLength: 200, description: 'id or name, where it has clients' })),
    workspace: Workspace,
    on_invalid: planOptions.on_invalid,
    repeated_keys: planOptions.repeated_keys,
  },
  async handle(
    { key, dataset, platform, client: named, workspace, on_invalid, repeated_keys, ...given },
    call,
  ) {
    const content = await contentOf(call, key, given)
    const target = await call.transaction(async (client) => {
      const workspaceId = await call.workspace(client, workspace)
      return {
        workspaceId,
        ...(await resolveDatasetTarget(client, { workspaceId, dataset, platform, client: named })),
      }
    })
    const { upload, created } = await call.inSlot(() =>
      ingest(call.deps.ingest, content.source, {
        ...target,
        actor: call.actor,
        until: 'planned',
        sameBytes: 'continue',
        fileName: content.fileName,
        file: content.format && { format: content.format },
        onInvalid: on_invalid,
        repeatedKeys: repeated_keys,
        maxQueueWaitMs: MAX_QUEUE_WAIT_MS,
        beforeOpening: (client, { file_hash }) => requireKey(client, { ...target, key, hash: file_hash }),
        signal: call.signal,
      }),
    )
    const data = await call.transaction((client) => describeProposal(client, call, upload.upload_id))
    return { ...summarize(data, created, aboutRows(data)), data: { created, ...data } }
  },
})

const repairRowsTool = tool({
  name: 'repair_rows',
  title: 'Correct lines of a proposal',
  description:
    'Correct cells of lines, or leave lines out. They are checked again and the plan is made again; a review that waits is closed. Values are text, as in a file.',
  toolsets: ['data'],
  right: 'stage',
  reads: false,
  idempotent: true,
  input: {
    upload: Id,
    lines: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
          values: Type.Optional(
            Type.Record(Type.String(), Cell, { description: 'header → corrected text; other cells stay' }),
          ),
          leave_out: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 10_000 },
    ),
  },
  async handle({ upload: named, lines }, call) {
    const id = await uploadIdOf(call, named)
    const corrections = lines.map(({ leave_out: leaveOut, ...line }) => ({ ...line, leaveOut }))
    const repair = await call.inSlot(() =>
      repairUpload(call.deps.ingest.pool, call.actor, { upload: id, corrections }),
    )
    const data = await call.transaction((client) => describeProposal(client, call, id))
    const { summary, next } = summarize(data, true, aboutRows(data))
    return {
      summary: `${counted(repair.lines, 'line')} and ${counted(repair.cells, 'cell')} corrected. ${summary}`,
      data: { repair, ...data },
      next,
    }
  },
})

const getPlanTool = tool({
  name: 'get_plan',
  title: 'Read a plan',
  description:
    'What a proposal would change in production, row by row with old and new values, and what is unusual about it. Filter by action, row type, column or line.',
  toolsets: ['data'],
  reads: true,
  input: {
    upload: Id,
    action: Type.Optional(Type.Enum([...PLAN_FILTERS])),
    row_type: Type.Optional(Type.String({ maxLength: 63 })),
    column: Type.Optional(Type.String({ maxLength: 63, description: 'updates that change it' })),
    line: Type.Optional(Type.Integer()),
    limit: limit(MAX_PLAN_PAGE, PLAN_PAGE),
    after: After,
  },
  async handle({ upload: named, row_type: rowType, limit = PLAN_PAGE, after, ...filter }, call) {
    const id = await uploadIdOf(call, named)
    requirePlace(after)
    const data = await call.transaction((client) =>
      readPlan(withExactNumbers(client), call, id, { ...filter, rowType, limit, after }),
    )
    return {
      summary: `${data.rows.length} rows of the plan${data.next === null ? '' : ', and there are more'}. Production is unchanged until a person approves and promotes.`,
      data,
      next: data.next === null ? [] : ['The next page: `after` = the `next` of the data.'],
    }
  },
})

const submitTool = tool({
  name: 'submit',
  title: 'Ask people for a review',
  description:
    'Hand a proposal to people with a title and an explanation: a plan (with the digest that you saw), or a staged record, which waits already. Answers the address of the console where a person decides. You cannot decide.',
  toolsets: ['data', 'knowledge'],
  right: 'stage',
  reads: false,
  idempotent: true,
  input: {
    change: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'number, or id of the upload or record',
    }),
    digest: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of the plan' })),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    explanation: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'why, for the reviewer; Markdown',
    }),
    reviewers: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 20, description: 'user ids' }),
    ),
    groups: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 20 })),
    workspace: Workspace,
  },
  async handle({ change: named, workspace, ...request }, call) {
    const change = await call.transaction(async (client) => {
      const workspaceId = workspace === undefined ? undefined : await call.workspace(client, workspace)
      const found = await requireChange(client, named, workspaceId)
      await submitChange(client, found, request)
      return requireChange(client, found.change_id)
    })
    const url = call.changeUrl(change.number)!
    const asked = inputResponse(call.context.mcpReq.inputResponses, 'review')
    if (call.opensUrls && asked.kind === 'missing')
      return inputRequired({
        inputRequests: {
          review: inputRequired.elicitUrl({
            message: `Change #${change.number} waits for a review. Open it in the console to look at it and decide.`,
            url,
          }),
        },
      })
    return {
      summary: `Change #${change.number} waits for people: ${url}`,
      data: {
        change: change.number,
        status: change.status,
        title: change.title,
        url,
        reviewers: change.reviewers,
        digest: change.digest,
        ...(asked.kind === 'elicit' && { opened_by_user: asked.action }),
      },
      next: ['Give the address to the person. get_status says what they decided.'],
    }
  },
})

const lineageTool = tool({
  name: 'lineage',
  title: 'Where a row comes from',
  description:
    'Which promotions wrote a production row (table with id or key), with file, line, approver and old and new values; or which rows an upload wrote.',
  toolsets: ['data'],
  reads: true,
  input: {
    upload: Type.Optional(Id),
    table: Type.Optional(Type.String({ maxLength: 130, description: 'schema.table' })),
    id: Type.Optional(Type.String({ maxLength: 200, description: 'uuid of the row' })),
    key: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'column → value' })),
    limit: limit(MAX_PLAN_PAGE, PLAN_PAGE),
    after: After,
    workspace: Workspace,
  },
  async handle({ upload, table, id, key, limit = PLAN_PAGE, after, workspace }, call) {
    if (
      (upload === undefined) === (table === undefined) ||
      (table !== undefined && (id === undefined) === (key === undefined))
    )
      throw new StagedoorError('request_invalid', {
        reason: 'give an upload, or a table with the id or the key of a row',
      })
    if (id !== undefined && !UUID.test(id))
      throw new StagedoorError('request_invalid', {
        reason: `id: ${id} is not a uuid; name a row without one by its key, such as {"key": {"sku": "A-17"}}`,
      })
    requirePlace(after)
    const page =
      upload === undefined
        ? await call.transaction(async (client) => {
            const entries = await rowLineage(
              withExactNumbers(client),
              await call.workspace(client, workspace),
              table!,
              id === undefined ? { key: key! } : { id },
            )
            const { rows, cut_texts } = pageOf(entries, limit, ({ upload_id }) => upload_id)
            return { rows, cut_texts, more: entries.length - rows.length }
          })
        : await uploadIdOf(call, upload).then((found) =>
            call.transaction(async (client) => {
              const exact = withExactNumbers(client)
              await requireUpload(exact, found)
              const rows = await uploadLineage(exact, found, { limit: limit + 1, after })
              return pageOf(rows, limit, ({ type_order, line }: LedgerRow) => `${type_order}.${line}`)
            }),
          )
    return { summary: `${page.rows.length} entries of the lineage.`, data: page }
  },
})

export const UPLOAD_TOOLS = {
  propose: proposeRowsTool,
  repair: repairRowsTool,
  plan: getPlanTool,
  submit: submitTool,
  lineage: lineageTool,
} satisfies Record<string, Tool>

// What is proposed.

interface Content {
  readonly source: IngestSource
  readonly fileName: string
  readonly format?: 'csv' | 'jsonl'
}

async function contentOf(
  call: ToolCall,
  key: string,
  given: {
    rows?: readonly Record<string, unknown>[] | undefined
    csv?: string | undefined
    file?: string | undefined
  },
): Promise<Content> {
  const { rows, csv, file } = given
  if ([rows, csv, file].filter((one) => one !== undefined).length !== 1)
    throw new StagedoorError('request_invalid', { reason: 'give exactly one of rows, csv and file' })
  if (file !== undefined) {
    const path = await call.fileIn(file)
    const fileName = `${key}${/\.[A-Za-z0-9]{1,8}$/.exec(path)?.[0] ?? ''}`
    return { source: path, fileName }
  }
  const text = csv ?? linesOf(rows!)
  requireSmall(text)
  const format = csv === undefined ? 'jsonl' : 'csv'
  return { source: once(Buffer.from(text)), fileName: `${key}.${format}`, format }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** A number that JavaScript has rounded already cannot be told from one that was sent so: it is refused, and sent as text. */
function linesOf(rows: readonly Record<string, unknown>[]): string {
  for (const [index, row] of rows.entries())
    for (const [header, value] of Object.entries(row))
      if (
        typeof value === 'number' &&
        (isLong(String(value)) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      )
        throw new StagedoorError('request_invalid', {
          reason: `row ${index + 1}: the number in ${header} has more than 15 digits; send it as text`,
        })
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/**
 * A key stands for the same rows for ever: with other ones it is refused, also as a text or a file, whose name has another ending. The lock
 * lasts until the transaction has opened the upload, so that two calls at the same time see each other.
 */
async function requireKey(
  client: Client,
  { workspaceId, dataset, key, hash }: { workspaceId: string; dataset: string; key: string; hash: string },
): Promise<void> {
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended(concat_ws(chr(10), 'mcp', $1::text, $2::text, $3::text, iu_core.fn_actor()), 0))`,
    [workspaceId, dataset, key],
  )
  const { rows } = await client.query<{ upload_id: string; file_hash: string }>(
    `select upload_id, file_hash from iu_core.v_ingest_upload
      where workspace_id = $1 and dataset = $2 and uploaded_by = iu_core.fn_actor()
        and (file_name = $3 or starts_with(file_name, $3 || '.') and substr(file_name, length($3) + 2) ~ '^[A-Za-z0-9]{1,8}$')
        and file_hash <> $4 and status in ('reading', 'staged', 'planned', 'promoted') limit 1`,
    [workspaceId, dataset, key, hash],
  )
  if (rows[0])
    throw new StagedoorError('proposal_key_used', {
      key,
      upload: rows[0].upload_id,
      used_digest: rows[0].file_hash,
      digest: hash,
    })
}

/** By its id or by the number of its change. */
export async function uploadIdOf(call: ToolCall, named: string): Promise<string> {
  if (UUID.test(named)) return named
  const { kind, subject_id, number } = await call.transaction((client) => requireChange(client, named))
  if (kind === 'upload') return subject_id
  throw new StagedoorError('request_invalid', { reason: `change #${number} is no upload` })
}

function requirePlace(after: string | undefined): void {
  if (after === undefined || /^[0-9]{1,4}[.]-?[0-9]{1,10}$/.test(after)) return
  throw new StagedoorError('request_invalid', { reason: '`after` is not the `next` of a page' })
}

/** The state of a proposal with its problems by line, as it is after it was proposed or corrected. */
export async function describeProposal(client: Client, call: ToolCall, id: string) {
  const exact = withExactNumbers(client)
  const upload = await requireUpload(exact, id)
  const kinds = await listProblemKinds(client, upload)
  const leaf = upload.reading?.layout.leaf
  const lines =
    leaf === undefined || kinds.length === 0
      ? []
      : await listRows(client, id, { rowType: leaf, problems: true, limit: MAX_PROBLEM_LINES + 1 })
  const page = pageOf(lines.map(problemsOf), MAX_PROBLEM_LINES, ({ line }) => String(line))
  return {
    ...stateOf(call, upload),
    lines: {
      total: upload.line_count,
      valid: upload.valid_count,
      invalid: upload.invalid_count,
      left_out: upload.skipped_count,
      with_warnings: upload.warning_count,
    },
    totals: upload.plan_totals,
    control: upload.control,
    refusal: refusalOf(upload),
    notes: [...upload.notes, ...upload.plan_notes],
    problem_kinds: shorten(kinds).value,
    problem_lines: page.rows,
    /** More lines with problems than are listed. */
    has_more_problem_lines: page.next !== null,
    error: uploadErrorOf(upload),
  }
}

function problemsOf({ row_number, validation_status, raw_payload, ...row }: StagedRow) {
  const problem = (severity: string) => (one: StagedRow['validation_errors'][number]) => ({
    severity,
    column: one.column,
    value: one.value,
    rule: one.rule,
    message: one.message,
    suggestion: one.suggestion && inTools(one.suggestion),
  })
  return {
    line: row_number,
    status: validation_status,
    problems: [
      ...row.validation_errors.map(problem('error')),
      ...row.validation_warnings.map(problem('warning')),
    ],
  }
}

export const refusalOf = ({ plan_refusal }: Pick<Upload, 'plan_refusal'>) =>
  plan_refusal === null ? null : inTools(plan_refusal)

export const uploadErrorOf = ({ error }: Pick<Upload, 'error'>) =>
  error === null ? null : { ...error, hint: toolAdvice(error.hint) }

function stateOf(call: ToolCall, { upload_id, change, status, review_status, plan_digest }: Upload) {
  return {
    upload: upload_id,
    change,
    url: call.changeUrl(change),
    status,
    review_status,
    digest: plan_digest,
  }
}

/** What a summary says of the plan of rows, or of a statement. */
interface AboutPlan {
  /** Behind "The upload is planned". */
  readonly counts: string
  readonly refused: string
  readonly remedy: string
}

function aboutRows({ lines }: Awaited<ReturnType<typeof describeProposal>>): AboutPlan {
  return {
    counts: `: ${counted(lines.total ?? 0, 'line')}, ${lines.invalid ?? 0} of them invalid`,
    refused: 'The plan cannot be submitted yet.',
    remedy: 'repair_rows corrects lines; `refusal` and `problem_lines` say what is wrong.',
  }
}

/** In words of ours, with what can be done next. */
export function summarize(
  { status, refusal, digest }: Awaited<ReturnType<typeof describeProposal>>,
  created: boolean,
  { counts, refused, remedy }: AboutPlan,
): { summary: string; next: readonly string[] } {
  const found = created ? '' : 'This proposal was there already. '
  const stands = `${found}The upload is ${status}${counts}. Production is unchanged.`
  if (status === 'promoted')
    return { summary: `${found}The upload is promoted: people approved it.`, next: [] }
  if (refusal !== null) return { summary: `${stands} ${refused}`, next: [remedy] }
  if (digest === null) return { summary: stands, next: ['get_status says what to wait for.'] }
  return { summary: stands, next: ['get_plan shows each row; submit asks people for a review.'] }
}

/** A page of the plan. The first one has what is unusual about the whole. */
export async function readPlan(
  db: Client,
  call: ToolCall,
  id: string,
  { limit, ...filter }: Parameters<typeof listPlanRows>[2],
) {
  const upload = await requireUpload(db, id)
  const found = await listPlanRows(db, id, { ...filter, limit: limit + 1 })
  const page = pageOf(found.map(planRowOf), limit, ({ place }) => place)
  const isFirst = filter.after === undefined && upload.plan_digest !== null
  return {
    ...stateOf(call, upload),
    totals: upload.plan_totals,
    refusal: refusalOf(upload),
    outdated: upload.outdated,
    ...(isFirst && upload.proposal !== null && { statement: upload.proposal.statement }),
    ...(isFirst && { control: upload.control, snapshot: upload.plan_snapshot, risk: await readRisk(db, id) }),
    ...page,
    rows: page.rows.map(({ place: _, ...row }) => row),
  }
}

function planRowOf({
  type_order,
  row_number,
  row_type,
  action,
  before,
  after,
  changed,
  reason,
  ...row
}: PlanRow) {
  // Of an update only the cells that change: the other ones are the same in both.
  const only = (image: PlanRow['before']) =>
    action === 'update' && changed !== null && image !== null
      ? Object.fromEntries(changed.map((column) => [column, image[column]]))
      : image
  return {
    place: `${type_order}.${row_number}`,
    line: row_number,
    row_type,
    action,
    key: row.row_key,
    before: only(before),
    after: only(after),
    reason,
    dependents: row.dependents,
  }
}

interface Submission {
  readonly digest?: string | undefined
  readonly title: string
  readonly explanation: string
  readonly reviewers?: readonly string[] | undefined
  readonly groups?: readonly string[] | undefined
}

/** In one transaction. Submitted again with the same digest it waits as before. */
async function submitChange(client: Client, change: Change, submission: Submission): Promise<void> {
  const { digest, title, explanation, reviewers, groups } = submission
  if (change.kind === 'upload')
    await submitUpload(client, await requireUpload(client, change.subject_id), digest)
  await editChange(client, change.change_id, { title, description: explanation })
  if (reviewers !== undefined || groups !== undefined)
    await setReviewers(client, change.change_id, { reviewers, groups })
}

async function submitUpload(client: Client, upload: Upload, digest: string | undefined): Promise<void> {
  if (digest === undefined)
    throw new StagedoorError('request_invalid', {
      reason: 'a plan is submitted with its digest, which propose_rows, repair_rows and get_plan answer',
    })
  if (upload.review_status === 'pending' && upload.plan_digest === digest) return
  await submitPlan(client, upload.upload_id, digest)
}
