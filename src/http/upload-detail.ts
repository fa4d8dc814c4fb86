/** An upload with all that a page about it shows, and what the routes of one upload share. */
import type { FastifyRequest } from 'fastify'
import { actorNames, membersOf } from '../access/members.ts'
import { findStandingOf, listApprovers, ReviewStanding } from '../changes/reviews.ts'
import { readCallerRights } from '../gates/caller-rights.ts'
import { datasetTitles } from '../ingest/datasets/registry.ts'
import { UploadPermissions, uploadPermissions } from '../ingest/permissions.ts'
import { listFailedPromoters } from '../ingest/promotion.ts'
import { Upload } from '../ingest/shapes.ts'
import { requireUpload, uploadHeaders } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client, Queryable } from '../kernel/postgres/connection.ts'
import { nullable, type Row, shape, Text, TextOrNull, TimestampOrNull, Type } from '../kernel/schema.ts'
import { findRecord, readChecklist } from '../staging/records.ts'
import { withRawJson } from './responses.ts'
import { limit } from './routes.ts'

export const UploadDetail = shape('UploadDetail', {
  ...Upload.properties,
  columns: Type.Array(Text, {
    description: 'the headers as the cells of a line are named: one that occurs twice has a number',
  }),
  may: UploadPermissions,
  checklist: Type.Array(
    shape('UploadChecklistItem', {
      item_id: Text,
      text: TextOrNull,
      required: Type.Boolean(),
      ticked_by: TextOrNull,
      ticked_at: TimestampOrNull,
    }),
  ),
  review: nullable(ReviewStanding),
  dataset_title: Text,
  client_name: TextOrNull,
  people: Type.Record(Text, Text, { description: 'actor → how people call them' }),
})

export const answersDetail = { answer: UploadDetail, problems: [403, 404, 409], raw: true } as const

/** Answers an upload that the caller may see, after `work` on it. */
export function answerDetail(
  request: FastifyRequest<{ Params: { id: string } }>,
  work?: (client: Client, id: string) => Promise<unknown>,
  transaction: FastifyRequest['transaction'] = request.transaction,
): Promise<Row<typeof UploadDetail>> {
  const { id } = request.params
  return transaction.bind(request)(async (client) => {
    if (work) {
      await requireUpload(withRawJson(client), id)
      await work(client, id)
    }
    return readDetail(client, request, id)
  })
}

/** Read by withRawJson: to be answered raw. */
async function readDetail(
  client: Client,
  request: FastifyRequest,
  id: string,
): Promise<Row<typeof UploadDetail>> {
  const upload = await requireUpload(withRawJson(client), id)
  const { review_record_id } = upload
  const review = review_record_id === null ? undefined : await findRecord(client, review_record_id)
  const checklist = review ? await readChecklist(client, review.staging_record_id) : []
  const caller = await readCallerRights(client, upload.workspace_id, request.principal!)
  const names = await datasetTitles(client, upload)
  const { role } = request.principal!
  const asks = upload.status === 'promoted' && !caller.rights.includes('review') && role === 'authenticated'
  const reviewers = asks ? await reviewerNames(client, upload.workspace_id) : []
  const standing = review && (await findStandingOf(client, id))
  const actors = [
    ...upload.changed_by,
    upload.uploaded_by,
    upload.planned_by,
    ...(await listApprovers(client, [id])),
    review?.owner_actor ?? null,
    upload.promoted_by,
    upload.undone_by,
    ...(await listFailedPromoters(client, id)),
    ...checklist.map((item) => item.ticked_by),
    ...(standing?.reviews.map(({ reviewer }) => reviewer) ?? []),
    ...(standing?.blocked_by.map(({ reviewer }) => reviewer) ?? []),
  ]
  return {
    ...upload,
    columns: await uploadHeaders(client, id),
    may: uploadPermissions(upload, review && { ...review, standing }, caller, reviewers),
    review: standing ?? null,
    checklist: checklist.map(({ item_id, label, required, ticked_by, ticked_at }) => ({
      item_id,
      text: label,
      required,
      ticked_by,
      ticked_at,
    })),
    dataset_title: names.title,
    client_name: names.client,
    people: await actorNames(client, actors),
  }
}

async function reviewerNames(client: Client, workspace: string): Promise<string[]> {
  const members = await membersOf(client, workspace)
  return members
    .filter(({ role }) => role === 'reviewer' || role === 'admin')
    .map(({ display_name, user_id }) => display_name ?? user_id)
}

export const RowPlace = Type.Optional(
  Type.String({ pattern: '^[0-9]{1,4}[.]-?[0-9]{1,10}$', description: 'the `next` of the page before' }),
)
export const RowLimit = limit(1000, 100)
export const AfterLine = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'the `next` of the page before' }),
)

/** What is asked about an upload that the caller may see. Read raw: to be answered raw. */
export function ofUpload<T>(
  request: FastifyRequest<{ Params: { id: string } }>,
  work: (db: Queryable, upload: Upload) => Promise<T>,
): Promise<T> {
  return request.transaction(async (client) => {
    const db = withRawJson(client)
    return work(db, await requireUpload(db, request.params.id))
  })
}

/** Of what compares rows in a temporary table, which PostgreSQL counts as writing. */
export function refuseReadOnly(request: FastifyRequest, reason: string): void {
  if (request.principal!.readOnly) throw new StagedoorError('permission_denied', { reason })
}
