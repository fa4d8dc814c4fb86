/** The plan of an upload: made, read row by row, compared with production and with approved plans, submitted. */
import {
  canBeSubmitted,
  checkPlan,
  listConflicts,
  listPlanRows,
  listStaleRows,
  PlanCheck,
  planDistribution,
  planRequestOf,
  planSince,
  planUpload,
  submitPlan,
} from '../ingest/plan.ts'
import {
  Distribution,
  ON_INVALID,
  PLAN_FILTERS,
  PlanConflicts,
  PlanRow,
  PlanSince,
  replanOptions,
  StaleRow,
} from '../ingest/plan-shapes.ts'
import { readRisk, UploadRisk } from '../ingest/risk.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Digest, Type } from '../kernel/schema.ts'
import { withRawJson } from './responses.ts'
import { listPage, page, type Routes } from './routes.ts'
import { answerDetail, answersDetail, ofUpload, RowLimit, RowPlace, refuseReadOnly } from './upload-detail.ts'

export function planRoutes(api: Routes): void {
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
      action: Type.Optional(
        Type.Enum([...PLAN_FILTERS], { description: '`changes`: new, changed and deleted rows' }),
      ),
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

  api.get('/:id/plan/check', {
    operationId: 'checkPlan',
    summary:
      'Compares the plan with what its tables hold now: how many rows somebody changed since it was made',
    description:
      'Whoever wrote them, Stagedoor or another program. It reads every planned row, for at most 5 seconds. Lists say `outdated` after it where rows differ.',
    answer: PlanCheck,
    problems: [403, 404, 409],
    raw: true,
    handle: (request) =>
      ofUpload(request, (db, { upload_id, status }) => {
        const reason = 'a plan cannot be compared with its tables with a token that can only read'
        if (status === 'planned') refuseReadOnly(request, reason)
        return checkPlan(db, upload_id)
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
