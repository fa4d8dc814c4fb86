/** An upload with all that a page about it shows. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client, Queryable } from '../../../db/connection.ts'
import type { Dataset } from '../../../ingest/datasets/dataset.ts'
import { tableSql } from '../../../ingest/datasets/registry.ts'
import { rawKeys } from '../../../ingest/readers/raw-payload.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { findRecord, readChecklist } from '../../../staging/records.ts'
import { exactJson, exactly, JSON_TEXT } from '../../exact-answer.ts'
import { namesOf } from '../../people.ts'
import { readStanding } from '../staging/permissions.ts'
import { permissions } from './permissions.ts'

/** Does `work` for an upload that the caller may see, and answers the upload as it is then. */
export async function answerDetail(
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  work: (client: Client, id: string) => Promise<unknown> = async () => {},
  options: { decides?: boolean } = {},
): Promise<never> {
  const { id } = request.params
  const text = await request.transaction(async (client) => {
    await requireUpload(exactly(client), id)
    await work(client, id)
    return readDetail(client, request, id)
  }, options)
  return reply.type(JSON_TEXT).send(text as never) as never
}

async function readDetail(client: Client, request: FastifyRequest, id: string): Promise<string> {
  const upload = await requireUpload(exactly(client), id)
  const { review_record_id } = upload
  const review = review_record_id === null ? undefined : await findRecord(client, review_record_id)
  const checklist = review ? await readChecklist(client, review.staging_record_id) : []
  const standing = await readStanding(client, upload.workspace_id, request.principal!)
  const { title, definition } = await datasetOf(client, upload)
  const actors = [
    ...upload.changed_by,
    upload.uploaded_by,
    upload.planned_by,
    upload.approved_by ?? review?.approved_by ?? null,
    review?.owner_actor ?? null,
    upload.promoted_by,
    upload.undone_by,
    ...checklist.map((item) => item.ticked_by),
  ]
  return exactJson({
    ...upload,
    columns: await columnsOf(client, id),
    may: permissions(upload, review, standing),
    checklist: checklist.map(({ item_id, label, required, ticked_by, ticked_at }) => ({
      item_id,
      text: label,
      required,
      ticked_by,
      ticked_at,
    })),
    dataset_title: title,
    client_name: await clientName(client, definition, upload),
    people: await namesOf(client, actors),
  })
}

async function columnsOf(db: Queryable, id: string): Promise<string[]> {
  const { rows } = await db.query<{ headers: string[] | null }>(
    `select reading -> 'headers' as headers from iu_core.v_ingest_upload where upload_id = $1`,
    [id],
  )
  return rawKeys(rows[0]?.headers ?? [])
}

async function datasetOf(db: Queryable, { dataset }: Upload) {
  const { rows } = await db.query<{ title: string; definition: Pick<Dataset, 'client'> }>(
    `select title, jsonb_build_object('client', definition -> 'client') as definition
       from iu_core.ingest_dataset where dataset = $1`,
    [dataset],
  )
  return rows[0]!
}

/** The table is the user's own; whoever may not read it sees the id. */
async function clientName(
  client: Client,
  { client: clients }: Pick<Dataset, 'client'>,
  { client_id }: Upload,
): Promise<string | null> {
  if (!clients) return null
  const table = tableSql(clients.table)
  const allowed = await client.query<{ allowed: boolean }>(
    `select coalesce(has_table_privilege(to_regclass($1), 'select'), false) as allowed`,
    [table],
  )
  if (!allowed.rows[0]!.allowed) return null
  const { rows } = await client.query<{ name: string }>(
    `select ${client.escapeIdentifier(clients.name)}::text as name from ${table}
      where ${client.escapeIdentifier(clients.id)} = $1`,
    [client_id],
  )
  return rows[0]?.name ?? null
}
