/** Uploads: a file comes in, is read by a job, planned, decided, promoted, undone. */
import { actorNames } from '../access/members.ts'
import { Downstream, readDownstream } from '../app/trace.ts'
import { readChecks, UploadChecks } from '../ingest/checks.ts'
import { describeReading } from '../ingest/file-reading.ts'
import { listUploadHistory, UploadHistoryEntry } from '../ingest/history.ts'
import { FileReading } from '../ingest/mapping-shapes.ts'
import { type PipelineDeps, promotePlan } from '../ingest/pipeline.ts'
import { approvePlan, rejectPlan } from '../ingest/plan.ts'
import { planUndo, undoUpload, uploadLineage } from '../ingest/promotion.ts'
import { retryUpload } from '../ingest/reading.ts'
import { LedgerRow, UndoPlan, UPLOAD_STATUSES, Upload } from '../ingest/shapes.ts'
import {
  discardUpload,
  listUploads,
  requireUpload,
  UPLOAD_PROBLEMS,
  type UploadStatus,
} from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Digest, nullable, Type, Uuid } from '../kernel/schema.ts'
import { acceptChangeNumbers } from './changes.ts'
import { ActorNames, withRawJson } from './responses.ts'
import { After, Limit, limit, listPage, page, type Routes, routes } from './routes.ts'
import type { ApiContext } from './server.ts'
import { uploadCreateRoutes } from './upload-create.ts'
import { answerDetail, answersDetail, ofUpload, RowLimit, RowPlace, refuseReadOnly } from './upload-detail.ts'
import { planRoutes } from './upload-plan.ts'
import { uploadProgressRoutes } from './upload-progress.ts'
import { correctionRoutes, repairRoutes, rowRoutes } from './upload-rows.ts'

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

function statuses(list: string): UploadStatus[] {
  const asked = list.split(',').map((status) => status.trim())
  const unknown = asked.find((status) => !UPLOAD_STATUSES.includes(status as UploadStatus))
  if (unknown === undefined) return asked as UploadStatus[]
  const reason = `querystring/status must be of ${UPLOAD_STATUSES.join(', ')}, and ${unknown || 'an empty one'} is not`
  throw new StagedoorError('request_invalid', { reason })
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
