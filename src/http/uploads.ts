/** Uploads: a file comes in, is read by a job, planned, decided, promoted, undone. */

import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { actorNames } from '../access/members.ts'
import { Downstream, readDownstream } from '../app/trace.ts'
import { listApprovers } from '../changes/reviews.ts'
import { readChecks, UploadChecks } from '../ingest/checks.ts'
import { type ColumnEdit, findEdited } from '../ingest/column-edits.ts'
import { TABLE_PATTERN } from '../ingest/datasets/declare.ts'
import { describeReading } from '../ingest/file-reading.ts'
import { listUploadHistory, UploadHistoryEntry } from '../ingest/history.ts'
import { admitFile, type PipelineDeps, promotePlan } from '../ingest/pipeline.ts'
import {
  approvePlan,
  canBeSubmitted,
  listConflicts,
  listPlanRows,
  listStaleRows,
  planDistribution,
  planRequestOf,
  planSince,
  planUpload,
  rejectPlan,
  submitPlan,
} from '../ingest/plan.ts'
import { planUndo, rowLineage, undoUpload, uploadLineage } from '../ingest/promotion.ts'
import { rawKeys } from '../ingest/readers/chunks.ts'
import { retryUpload } from '../ingest/reading.ts'
import { MAX_CELLS, repairUpload } from '../ingest/repair.ts'
import { readRisk, UploadRisk } from '../ingest/risk.ts'
import {
  Distribution,
  FileReading,
  LedgerRow,
  LeftOutLine,
  LineageEntry,
  ON_INVALID,
  PLAN_ACTIONS,
  PlanConflicts,
  PlanRow,
  PlanSince,
  ProblemKind,
  RepairOutcome,
  replanOptions,
  StagedRow,
  StaleRow,
  UndoPlan,
  UPLOAD_STATUSES,
  Upload,
  VALIDATION_STATUSES,
} from '../ingest/shapes.ts'
import type { SpooledFile } from '../ingest/spool.ts'
import { exportProblems, listLeftOut, listProblemKinds, listRows } from '../ingest/staged-rows.ts'
import {
  discardUpload,
  listUploads,
  requireUpload,
  UPLOAD_PROBLEMS,
  type UploadStatus,
} from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { Digest, nullable, type Static, shape, Text, Type, Uuid } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { acceptChangeNumbers } from './changes.ts'
import { acceptFiles, fileRoute, receiveFile, refuseTooLarge, spoolSink } from './receive-file.ts'
import { ActorNames, attachment, withRawJson } from './responses.ts'
import { After, Limit, limit, listPage, page, type Routes, routes, Workspace } from './routes.ts'
import type { ApiContext } from './server.ts'
import { readExactly, uploadCreateRoutes } from './upload-create.ts'
import { answerDetail, UploadDetail } from './upload-detail.ts'
import { uploadProgressRoutes } from './upload-progress.ts'

/** More than any upload has: one for each thing that was done to it. */
const RowPlace = Type.Optional(
  Type.String({ pattern: '^[0-9]{1,4}[.]-?[0-9]{1,10}$', description: 'the `next` of the page before' }),
)
const RowLimit = limit(1000, 100)
const AfterLine = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'the `next` of the page before' }),
)
const answersDetail = { answer: UploadDetail, problems: [403, 404, 409], raw: true } as const

export function uploadRoutes({ ingest }: ApiContext) {
  return routes('uploads', async (api) => {
    acceptChangeNumbers(api.fastify, 'upload')
    // It reads bodies in a way of its own, which the others must not inherit.
    await api.fastify.register(uploadCreateRoutes(ingest))
    await api.fastify.register(correctionRoutes(ingest))
    await api.fastify.register(uploadProgressRoutes())
    readRoutes(api)
    rowRoutes(api)
    repairRoutes(api, ingest)
    planRoutes(api)
    decisionRoutes(api, ingest)
  })
}

function readRoutes(api: Routes): void {
  api.get('/', {
    operationId: 'listUploads',
    replica: true,
    summary: 'Uploads that you may see, newest first; without how they were read',
    query: {
      workspace_id: Type.Optional(Uuid),
      status: Type.Optional(
        Type.String({ description: 'one or several', examples: ['staged,planned'], maxLength: 200 }),
      ),
      waiting: Type.Optional(Type.Boolean({ description: 'only those that wait for a decision' })),
      problem: Type.Optional(
        Type.Enum([...UPLOAD_PROBLEMS], {
          description:
            'only planned ones with invalid lines, whose promotion failed, or whose plan is or may be outdated',
        }),
      ),
      limit: Limit,
      after: After,
    },
    answer: page('uploads', Upload, { people: ActorNames }),
    raw: true,
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(
          request.query,
          'uploads',
          'upload_id',
          ({ status, workspace_id: workspaceId, ...filter }) =>
            listUploads(withRawJson(client), {
              ...filter,
              workspaceId,
              ...(status !== undefined && { status: statuses(status) }),
            }),
        )
        const uploaders = list.uploads.map(({ uploaded_by }) => uploaded_by)
        return { ...list, people: await actorNames(client, uploaders) }
      }),
  })

  api.get('/:id', {
    operationId: 'getUpload',
    summary: 'One upload: how it was read, its plan and review, and what you may do with it',
    ...answersDetail,
    handle: (request) => answerDetail(request),
  })

  api.get('/:id/reading', {
    operationId: 'getUploadReading',
    summary: 'How the file was read: columns, matched values, options, and who chose them',
    answer: Type.Object({ reading: nullable(FileReading), people: ActorNames }),
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const reading = await describeReading(client, request.params.id)
        const actors = [...(reading?.columns ?? []), ...(reading?.values ?? [])].map(({ by }) => by)
        return { reading, people: await actorNames(client, actors) }
      }),
  })

  api.get('/:id/history', {
    operationId: 'listUploadHistory',
    replica: true,
    summary:
      'What exactly happened to an upload, oldest first: lines and columns from what to what, plans, reviews with their text, reasons, counts',
    query: {
      limit: limit(1000, 200),
      after: Type.Optional(Type.String({ maxLength: 100, description: 'the `next` of the page before' })),
    },
    answer: page('history', UploadHistoryEntry, { people: ActorNames }),
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { upload_id } = await requireUpload(withRawJson(client), request.params.id)
        const list = await listPage(request.query, 'history', 'place', (asked) =>
          listUploadHistory(client, upload_id, asked),
        )
        const actors = list.history.flatMap(({ actor, detail }) => [actor, ...peopleIn(detail)])
        return { ...list, people: await actorNames(client, actors) }
      }),
  })

  api.get('/:id/checks', {
    operationId: 'listUploadChecks',
    replica: true,
    summary: 'The checks of an upload: what each found, in how many lines, and the time that it took',
    answer: UploadChecks,
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { upload_id } = await requireUpload(withRawJson(client), request.params.id)
        return readChecks(client, upload_id)
      }),
  })

  api.get('/:id/lineage', {
    operationId: 'listUploadLineage',
    replica: true,
    summary: 'The production rows that an upload wrote, with the lines that they come from',
    query: { limit: RowLimit, after: RowPlace },
    answer: page('rows', LedgerRow),
    problems: [404],
    raw: true,
    handle: (request) =>
      listPage(
        request.query,
        'rows',
        ({ type_order, line }: LedgerRow) => `${type_order}.${line}`,
        (page) => ofUpload(request, (db, { upload_id }) => uploadLineage(db, upload_id, page)),
      ),
  })
}

/** Of an entry of the history: whose review it is about, and who was asked. */
function peopleIn({ reviewer, reviewers }: UploadHistoryEntry['detail']): string[] {
  const asked: readonly unknown[] = Array.isArray(reviewers) ? reviewers : []
  return [reviewer, ...asked].filter((one) => typeof one === 'string')
}

/** What is asked about an upload that the caller may see. Read raw: to be answered raw. */
function ofUpload<T>(
  request: FastifyRequest<{ Params: { id: string } }>,
  work: (db: Queryable, upload: Upload) => Promise<T>,
): Promise<T> {
  return request.transaction(async (client) => {
    const db = withRawJson(client)
    return work(db, await requireUpload(db, request.params.id))
  })
}

/** Of what compares rows in a temporary table, which PostgreSQL counts as writing. */
function refuseReadOnly(request: FastifyRequest, reason: string): void {
  if (request.principal!.readOnly) throw new StagedoorError('permission_denied', { reason })
}

function statuses(list: string): UploadStatus[] {
  const asked = list.split(',').map((status) => status.trim())
  const unknown = asked.find((status) => !UPLOAD_STATUSES.includes(status as UploadStatus))
  if (unknown === undefined) return asked as UploadStatus[]
  const reason = `querystring/status must be of ${UPLOAD_STATUSES.join(', ')}, and ${unknown || 'an empty one'} is not`
  throw new StagedoorError('request_invalid', { reason })
}

function planRoutes(api: Routes): void {
  api.post('/:id/plan', {
    operationId: 'planUpload',
    summary: 'Plan what an upload would change; replaces an earlier plan',
    description:
      'With `submit` it is handed to its reviewers in the same transaction, if the plan can be promoted: title, description and reviewers stay, and those whose approval fell are asked again. Where production has moved on since the last plan and the file would take that back, it answers 409 `plan_conflicts` until `on_conflict` says whose values count.',
    body: {
      ...replanOptions,
      submit: Type.Optional(Type.Boolean({ description: 'also submit it for review; default false' })),
    },
    example: { on_invalid: 'skip', threshold: 0.95 },
    ...answersDetail,
    handle: (request) =>
      answerDetail(request, async (client, id) => {
        const plan = await planUpload(client, id, {
          onInvalid: request.body.on_invalid,
          threshold: request.body.threshold,
          repeatedKeys: request.body.repeated_keys,
          maxDeleted: request.body.max_deleted,
          allowShortFile: request.body.allow_short_file,
          onConflict: request.body.on_conflict,
          conflictsDigest: request.body.conflicts_digest,
        })
        if (request.body.submit && canBeSubmitted(plan)) await submitPlan(client, id, plan.digest)
      }),
  })

  api.get('/:id/plan/rows', {
    operationId: 'listPlanRows',
    summary: 'What would change, row by row, in the order in which it will be applied',
    query: {
      row_type: Type.Optional(Type.String({ maxLength: 63 })),
      action: Type.Optional(Type.Enum([...PLAN_ACTIONS])),
      column: Type.Optional(
        Type.String({ maxLength: 63, description: 'only updates that change this column' }),
      ),
      by_more_than: Type.Optional(
        Type.Number({ minimum: 0, description: '… by more than this share of the old value: 0.5' }),
      ),
      line: Type.Optional(Type.Integer({ description: 'only the rows of this line of the file' })),
      by_amount: Type.Optional(Type.Number({ minimum: 0, description: '… by more than this amount' })),
      value: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'instead: rows that are written with this value in the column, as text',
        }),
      ),
      empty: Type.Optional(Type.Boolean({ description: '… or with none' })),
      since: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'only rows that are not as in the plan with this digest, which somebody approved',
        }),
      ),
      limit: RowLimit,
      after: RowPlace,
    },
    answer: page('rows', PlanRow),
    problems: [404],
    raw: true,
    handle: (request) => {
      const { by_more_than, by_amount, value, empty, column } = request.query
      const needing = Object.entries({ by_more_than, by_amount, value, empty }).find(
        ([, given]) => given !== undefined,
      )
      if (needing !== undefined && column === undefined) {
        throw new StagedoorError('request_invalid', { reason: `${needing[0]} needs a column` })
      }
      return listPage(
        request.query,
        'rows',
        ({ type_order, row_number }: PlanRow) => `${type_order}.${row_number}`,
        ({ row_type: rowType, by_more_than: byMoreThan, by_amount: byAmount, ...page }) =>
          ofUpload(request, (db, { upload_id }) =>
            listPlanRows(db, upload_id, { ...page, rowType, byMoreThan, byAmount }),
          ),
      )
    },
  })

  api.get('/:id/plan/distribution', {
    operationId: 'readPlanDistribution',
    summary: 'How the numbers of a column are distributed before and after the plan',
    query: { row_type: Type.String({ maxLength: 63 }), column: Type.String({ maxLength: 63 }) },
    answer: Distribution,
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { upload_id } = await requireUpload(withRawJson(client), request.params.id)
        const { row_type: rowType, column } = request.query
        return planDistribution(client, upload_id, { rowType, column })
      }),
  })

  api.get('/:id/risk', {
    operationId: 'getUploadRisk',
    summary: 'What is unusual about the plan, against the last promoted uploads of the same source',
    description: 'Computed from all rows of the plan when it is first asked for, and kept with the plan.',
    answer: UploadRisk,
    problems: [404, 409],
    raw: true,
    handle: (request) => ofUpload(request, (db, { upload_id }) => readRisk(db, upload_id)),
  })

  api.get('/:id/plan/stale', {
    operationId: 'listStaleRows',
    summary:
      'The rows that somebody changed since the plan was made: what it saw, what it would write, what is there now',
    query: {
      conflicts: Type.Optional(
        Type.Boolean({ description: 'without rows in which both changes can live (other_cells)' }),
      ),
      limit: RowLimit,
      after: RowPlace,
    },
    answer: Type.Object({
      items: Type.Array(StaleRow),
      total: Type.Integer({ description: 'in all, also beyond the limit; 0: the plan is not stale' }),
      counts: Type.Record(Type.String(), Type.Integer(), { description: 'conflict → rows, of all of them' }),
      next: Type.Union([Type.String(), Type.Null()], { description: 'of the page after this one' }),
    }),
    problems: [403, 404, 409],
    raw: true,
    handle: (request) =>
      ofUpload(request, (db, { upload_id, status }) => {
        const reason = 'a plan cannot be compared with its tables with a token that can only read'
        if (status === 'planned') refuseReadOnly(request, reason)
        return listStaleRows(db, upload_id, request.query)
      }),
  })

  api.get('/:id/plan/conflicts', {
    operationId: 'listPlanConflicts',
    summary:
      'What planning again would ask: rows and cells in which production has moved on since the last plan, and the file says otherwise',
    description:
      'The plan is made and thrown away, so nothing changes. Give `digest` as `conflicts_digest` with the answer: then it counts for exactly these.',
    query: {
      on_invalid: Type.Optional(Type.Enum([...ON_INVALID], { description: 'as of the plan to be made' })),
      limit: RowLimit,
      after: RowPlace,
    },
    answer: PlanConflicts,
    problems: [403, 404, 409],
    raw: true,
    handle: (request) =>
      ofUpload(request, (db, { upload_id, ...upload }) => {
        refuseReadOnly(request, 'a plan cannot be made with a token that can only read')
        const { on_invalid: onInvalid, ...page } = request.query
        const before = planRequestOf(upload)
        return listConflicts(db, upload_id, { ...before, onInvalid: onInvalid ?? before.onInvalid, ...page })
      }),
  })

  api.get('/:id/plan/since', {
    operationId: 'readPlanSince',
    summary: 'What differs between the plan and an earlier plan that somebody approved, in rows',
    description: '`GET /uploads/{id}/plan/rows?since=` lists the rows that differ.',
    query: { digest: Digest },
    answer: PlanSince,
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { upload_id } = await requireUpload(withRawJson(client), request.params.id)
        return planSince(client, upload_id, request.query.digest)
      }),
  })

  api.post('/:id/submit', {
    operationId: 'submitUpload',
    summary: 'Hand the plan that you saw to a second person',
    body: { digest: Digest },
    ...answersDetail,
    handle: (request) => answerDetail(request, (client, id) => submitPlan(client, id, request.body.digest)),
  })
}

function decisionRoutes(api: Routes, ingest: PipelineDeps): void {
  api.post('/:id/approve', {
    operationId: 'approveUpload',
    summary: 'Approve exactly the plan that you saw, ticking what you looked at',
    body: {
      digest: Digest,
      ticked: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, default: [] }),
    },
    ...answersDetail,
    handle: (request) =>
      answerDetail(request, (client, id) => approvePlan(client, id, request.body), request.decide),
  })

  api.post('/:id/reject', {
    operationId: 'rejectUpload',
    summary: 'Reject the plan of an upload, with a reason; it can be corrected and planned again',
    body: { reason: Type.String({ minLength: 1, maxLength: 2000 }) },
    example: { reason: 'The spend of week 27 is doubled.' },
    ...answersDetail,
    handle: (request) =>
      answerDetail(request, (client, id) => rejectPlan(client, id, request.body.reason), request.decide),
  })

  api.post('/:id/promote', {
    operationId: 'promoteUpload',
    summary: 'Apply the plan that you saw, all of it in one transaction',
    body: { digest: Digest },
    ...answersDetail,
    handle: async (request) => {
      const caller = { transaction: request.transaction.bind(request) }
      await promotePlan(ingest, caller, request.params.id, request.body.digest)
      return answerDetail(request)
    },
  })

  api.get('/:id/undo', {
    operationId: 'planUploadUndo',
    summary: 'What an undo would do now; changes nothing',
    answer: UndoPlan,
    problems: [403, 404, 409],
    raw: true,
    handle: (request) =>
      ofUpload(request, (db, { upload_id, status }) => {
        const reason = 'an undo cannot be worked out with a token that can only read'
        if (status === 'promoted') refuseReadOnly(request, reason)
        return planUndo(db, upload_id)
      }),
  })

  api.get('/:id/downstream', {
    operationId: 'readUploadDownstream',
    summary: 'Jobs and executions that follow from the promotion, and who will be told of an undo',
    answer: Downstream,
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => {
        const { upload_id } = await requireUpload(withRawJson(client), request.params.id)
        return readDownstream(client, upload_id)
      }),
  })

  api.post('/:id/undo', {
    operationId: 'undoUpload',
    summary: 'Take a promotion back, if it is still the undo that you saw',
    body: {
      digest: Digest,
      reason: Type.Optional(
        Type.String({ minLength: 1, maxLength: 2000, description: 'why; kept with the upload' }),
      ),
    },
    ...answersDetail,
    handle: (request) =>
      answerDetail(request, (client, id) => undoUpload(client, id, request.body), request.decide),
  })

  api.post('/:id/retry', {
    operationId: 'retryUpload',
    summary: 'Read the kept file of a failed upload again',
    description:
      'Where reading failed for a reason that may pass, the file is kept for a week (`file_kept_until`). A job reads it again: follow it at /api/v1/uploads/{id}/progress.',
    ...answersDetail,
    problems: [403, 404, 409, 429],
    handle: (request) => answerDetail(request, retryUpload),
  })

  api.post('/:id/discard', {
    operationId: 'discardUpload',
    summary: 'Throw an upload away that was not promoted; one that is being read is cancelled',
    ...answersDetail,
    handle: (request) => answerDetail(request, discardUpload),
  })
}

const EXPORT_PAGE = 500
const INVALID = { status: 'invalid' } as const

/** Which lines of an upload are meant; see LineFilter. */
const lineFilter = {
  status: Type.Optional(Type.Enum([...VALIDATION_STATUSES])),
  problems: Type.Optional(Type.Boolean({ description: 'only lines with an error or a warning' })),
  rule: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'only lines with a problem by this rule' }),
  ),
  column: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: 'only lines with a problem in this column' }),
  ),
  contains: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'only lines with this text in a cell' }),
  ),
}

function rowRoutes(api: Routes): void {
  api.get('/:id/rows', {
    operationId: 'listUploadRows',
    replica: true,
    summary: 'The lines of an upload with what is wrong with them, in the order of the file',
    query: {
      row_type: Type.Optional(
        Type.String({ maxLength: 63, description: 'default: the one with a row for each line' }),
      ),
      ...lineFilter,
      limit: RowLimit,
      after: AfterLine,
    },
    answer: page('rows', StagedRow),
    problems: [404],
    raw: true,
    handle: (request) =>
      listPage(request.query, 'rows', 'row_number', ({ row_type, ...filter }) =>
        request.transaction(async (client) => {
          const { upload_id, reading } = await requireUpload(client, request.params.id)
          const type = row_type ?? reading?.layout.leaf
          if (type === undefined) return []
          return listRows(withRawJson(client), upload_id, { ...filter, rowType: type })
        }),
      ),
  })

  api.get('/:id/problems', {
    operationId: 'listUploadProblemKinds',
    replica: true,
    summary: 'What is wrong in an upload, counted by rule and column',
    answer: Type.Object({ kinds: Type.Array(ProblemKind) }),
    problems: [404],
    handle: (request) =>
      request.transaction(async (client) => ({
        kinds: await listProblemKinds(client, await requireUpload(client, request.params.id)),
      })),
  })

  api.get('/:id/left-out', {
    operationId: 'listUploadLeftOut',
    summary: 'The lines that are left out, each with its reason and its figures, in the order of the file',
    query: {
      limit: RowLimit,
      after: AfterLine,
    },
    answer: page('lines', LeftOutLine),
    problems: [404],
    raw: true,
    handle: (request) =>
      listPage(request.query, 'lines', 'line', (page) =>
        ofUpload(request, (db, { upload_id }) => listLeftOut(db, upload_id, page)),
      ),
  })

  api.get('/:id/problems.csv', {
    operationId: 'downloadUploadProblems',
    summary: 'The wrong lines as a CSV, with what is wrong beside each: correct it and upload it again',
    query: {
      left_out: Type.Optional(
        Type.Boolean({
          description: 'the lines that are left out instead, with the reason beside each',
        }),
      ),
      ...lineFilter,
    },
    problems: [404],
    schema: {
      response: { 200: { description: 'the wrong lines', content: { 'text/csv': { schema: Text } } } },
    },
    handle: async (request, reply) => {
      const upload = await request.transaction((client) => requireUpload(client, request.params.id))
      const { upload_id, reading, file_name } = upload
      const { left_out, ...asked } = request.query
      const isFiltered = Object.values(asked).some((value) => value !== undefined)
      const filter = left_out ? { status: 'skipped' as const } : isFiltered ? asked : INVALID
      // Each page in a transaction of its own: none of them waits for whoever downloads.
      const page = async (after: number) =>
        reading
          ? request.transaction((client) =>
              listRows(client, upload_id, {
                ...filter,
                rowType: reading.layout.leaf,
                limit: EXPORT_PAGE,
                after,
              }),
            )
          : []
      const lines = exportProblems(page, reading ? rawKeys(reading.headers) : [])
      return reply
        .type('text/csv; charset=utf-8')
        .headers({
          'content-disposition': attachment(
            `${file_name.replace(/\.[^.]*$/, '')} ${request.query.left_out ? 'left out' : 'problems'}.csv`,
          ),
          'cache-control': 'private, no-store',
          'content-security-policy': "default-src 'none'; sandbox",
        })
        .send(Readable.from(lines) as never)
    },
  })
}

// Correcting lines. The caller's right is checked under their own role; the check of the lines is the back end's.

const Corrections = {
  rows: Type.Optional(
    Type.Array(
      shape(
        'LineCorrection',
        {
          line: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
          values: Type.Optional(
            Type.Record(
              Text,
              // As a list of types: in a union null would be taken for an empty string.
              Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 }),
              {
                description:
                  'header → corrected text; the other cells stay. Without any the line is checked again as it stands',
              },
            ),
          ),
          expect: Type.Optional(
            Type.Record(Text, Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 }), {
              description:
                'header → the text that the cell had when you saw it; where it has another one now, nothing is corrected, and the error names every such line',
            }),
          ),
          leave_out: Type.Optional(
            Type.Boolean({
              description: 'nothing is made of the line; corrected or checked again it is taken in again',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_CELLS },
    ),
  ),
  edits: Type.Optional(
    Type.Array(
      shape(
        'ColumnEdit',
        {
          column: Type.String({ minLength: 1, maxLength: 10_000, description: 'header' }),
          from: Type.Optional(
            Type.Unsafe<string | null>({
              type: ['string', 'null'],
              maxLength: 100_000,
              description: 'cells with exactly this text; null: empty cells; left out: all cells',
            }),
          ),
          to: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            maxLength: 100_000,
            description: 'the text that they get; null: none',
          }),
          lines: Type.Optional(
            Type.Array(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), {
              minItems: 2,
              maxItems: 2,
              description: 'only in lines from … to …, both included',
            }),
          ),
          match: Type.Optional(
            Type.Enum(['cell', 'part'], {
              description: 'part: `from` is replaced wherever it stands in a cell; default cell',
            }),
          ),
          where: Type.Optional(
            shape('LineFilter', lineFilter, {
              additionalProperties: false,
              description: 'only in lines that the list of lines shows with this filter',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 100, description: 'instead of rows: edits of columns, one after the other' },
    ),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'only say which cells of how many lines would change' }),
  ),
  unsaved: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[0-9]{1,10}$' }),
      Type.Record(Text, Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 })),
      { description: 'of a dry run of edits: line → header → text that is not sent yet; the edits see it' },
    ),
  ),
  replan: Type.Optional(
    Type.Boolean({ description: 'plan again in the mode of the plan that was there; default true' }),
  ),
}

const RepairedUpload = shape('RepairedUpload', { ...UploadDetail.properties, repair: RepairOutcome })

function repairRoutes(api: Routes, ingest: PipelineDeps): void {
  api.patch('/:id/rows', {
    operationId: 'repairUploadRows',
    summary: 'Correct lines, which are checked again by the same rules, or leave them out',
    description: `Up to ${MAX_CELLS.toLocaleString('en')} cells at once: by line (rows), or by column (edits). A plan is brought up to date; its review is closed. Whoever corrected a line cannot approve.`,
    body: Corrections,
    example: { rows: [{ line: 31447, values: { 'Ad ID': '120253000000000123' } }] },
    answer: RepairedUpload,
    raw: true,
    problems: [403, 404, 409, 413],
    preValidation: async (request) => requireText(request.body),
    handle: async (request) => {
      const { rows, edits, replan, dry_run: dryRun, unsaved } = request.body
      if ((rows === undefined) === (edits === undefined))
        throw new StagedoorError('request_invalid', { reason: 'The body has either rows or edits' })
      const corrections =
        rows?.map(({ leave_out: leaveOut, ...row }) => ({ ...row, leaveOut })) ??
        ((client: Client, upload: Upload) =>
          findEdited(
            client,
            upload,
            edits!.map(columnEdit),
            Object.entries(unsaved ?? {}).map(([line, values]) => ({ line: Number(line), values })),
          ))
      if (unsaved !== undefined && (!dryRun || edits === undefined))
        throw new StagedoorError('request_invalid', { reason: 'unsaved goes with a dry run of edits' })
      const caller = { transaction: request.transaction.bind(request) }
      const upload = request.params.id
      const repair = await repairUpload(ingest.pool, caller, { upload, corrections, replan, dryRun })
      return { ...(await answerDetail(request)), repair }
    },
  })
}

const correctionOptions = {
  dry_run: Type.Optional(Type.Boolean({ description: 'only say which cells would change' })),
  replan: Type.Optional(Type.Boolean({ description: 'default true' })),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
}
const CorrectionForm = shape(
  'CorrectionForm',
  {
    ...correctionOptions,
    file: Type.Optional(Type.String({ format: 'binary', description: 'the last field' })),
  },
  { description: 'file must be there and comes last.' },
)
const CorrectionOptions = Type.Object(correctionOptions, { additionalProperties: false })

/** A corrected file: it takes a body of its own, which the other routes must not inherit. */
function correctionRoutes(ingest: PipelineDeps) {
  return routes('uploads', async (api) => {
    await acceptFiles(api.fastify)
    const { preValidation, body } = fileRoute(CorrectionForm)
    api.post('/:id/corrections', {
      operationId: 'uploadCorrections',
      summary: 'Correct lines by a file: the exported wrong lines after somebody corrected their cells',
      description:
        'The file has the column “Stagedoor: line” of the export and the columns that change, or it is the whole file, corrected. Only cells that differ are corrections.',
      query: correctionOptions,
      answer: RepairedUpload,
      raw: true,
      problems: [403, 404, 409, 413, 422],
      preValidation,
      schema: { body },
      handle: async (request, reply) => {
        // If anything goes wrong, the rest of the body is still on its way: the connection is of no further use.
        reply.header('connection', 'close')
        const caller = { transaction: request.transaction.bind(request) }
        const { file, file_name, options } = await receiveFile<Static<typeof CorrectionOptions>, SpooledFile>(
          request,
          spoolSink(ingest.home),
          {
            options: CorrectionOptions,
            admit: async () => {
              const { workspace_id } = await caller.transaction((client) =>
                requireUpload(withRawJson(client), request.params.id),
              )
              const { maxBytes: limit } = await admitFile(caller, workspace_id)
              refuseTooLarge(request, limit)
              return { limit }
            },
          },
        )
        reply.removeHeader('connection')
        try {
          const { readCorrections } = await import('../ingest/corrections.ts')
          const repair = await repairUpload(ingest.pool, caller, {
            upload: request.params.id,
            corrections: (client, upload) => readCorrections(client, upload, file.path, file_name),
            replan: options.replan,
            dryRun: options.dry_run,
          })
          return { ...(await answerDetail(request)), repair }
        } finally {
          await file.remove()
        }
      },
    })
  })
}

function columnEdit({ lines, ...edit }: Omit<ColumnEdit, 'lines'> & { lines?: number[] }): ColumnEdit {
  return { ...edit, lines: lines && [lines[0]!, lines[1]!] }
}

/** Before validation, which makes text of numbers: of 120253000000000123 another one. */
function requireText(body: unknown): void {
  const { rows } = (body ?? {}) as { rows?: unknown }
  for (const [index, row] of (Array.isArray(rows) ? rows : []).entries()) {
    for (const [header, value] of Object.entries(row?.values ?? {})) {
      if (value === null || typeof value === 'string') continue
      const reason = `body/rows/${index}/values/${header} must be text, as it would stand in the file, or null`
      throw new StagedoorError('request_invalid', { reason })
    }
  }
}

// Where a production row comes from.

export const lineageRoutes = routes('uploads', (api) => {
  api.get('/lineage', {
    operationId: 'getRowLineage',
    replica: true,
    summary: 'Every promotion that wrote a production row, newest first: which file, which line, who',
    query: {
      workspace_id: Workspace,
      target: Type.String({
        pattern: TABLE_PATTERN,
        examples: ['public.daily_metrics'],
      }),
      id: Type.Optional(Type.String({ format: 'uuid', description: 'of the row' })),
      key: Type.Optional(
        Type.String({
          maxLength: 10_000,
          description: 'the whole natural key of the row, as a JSON object; instead of id',
          examples: ['{"order_id":"0198c5e0-7c1e-7000-8000-000000000001","position":3}'],
        }),
      ),
    },
    answer: Type.Object({ entries: Type.Array(LineageEntry), people: ActorNames }),
    problems: [403],
    raw: true,
    handle: async (request) => {
      const { workspace_id, target, id, key } = request.query
      const row = rowOf(id, key)
      return request.transaction(async (client) => {
        const workspace = await workspaceOf(client, workspace_id)
        const entries = await rowLineage(withRawJson(client), workspace, target, row)
        const approvers = await listApprovers(
          client,
          entries.map(({ upload_id }) => upload_id),
        )
        const actors = entries.flatMap((entry) => [entry.uploaded_by, entry.promoted_by, entry.undone_by])
        return { entries, people: await actorNames(client, [...approvers, ...actors]) }
      })
    },
  })
})

function rowOf(id: string | undefined, key: string | undefined) {
  if (id !== undefined && key === undefined) return { id }
  const named = id === undefined && key !== undefined ? readExactly(key, 'key') : undefined
  if (named !== null && typeof named === 'object' && !Array.isArray(named)) {
    return { key: named as Record<string, unknown> }
  }
  throw new StagedoorError('request_invalid', {
    reason: 'name the row by its id, or by its key as a JSON object',
  })
}
