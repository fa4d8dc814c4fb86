/** Reading records: the list, one of them, what happened to it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import { listEventsAbout } from '../../../events/outbox.ts'
import { withExactMember } from '../../../staging/exact-json.ts'
import { findRecord, listRecords, readChecklist, type StagingRecord } from '../../../staging/records.ts'
import { namesOf, People } from '../../people.ts'
import { nullable, problems } from '../../responses.ts'
import { Event, presentEvent } from '../events.ts'
import { permissions, readStanding } from './permissions.ts'
import { Detail, Kind, presentChecklist, presentSummary, RecordId, Status, Summary } from './shapes.ts'

const limit = Type.Integer({ minimum: 1, maximum: 200, default: 50 })
const after = Type.Optional(Type.String({ format: 'uuid', description: 'the `next` of the page before' }))

export const recordRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.get(
    '/',
    {
      schema: {
        operationId: 'listStagingRecords',
        summary: 'Staging records that you may see, newest first',
        tags: ['staging'],
        querystring: Type.Object(
          {
            status: Type.Optional(Status),
            kind: Type.Optional(Kind),
            owner: Type.Optional(Type.String({ description: 'the actor who staged it' })),
            workspace: Type.Optional(Type.String({ format: 'uuid' })),
            undecided: Type.Optional(
              Type.Boolean({
                description:
                  'only what needs a person: pending, not expired, approval required; without the reviews of uploads, which are decided there',
              }),
            ),
            limit,
            after,
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ records: Type.Array(Summary), people: People, next: nullable(Type.String()) }),
          ...problems(400, 401),
        },
      },
    },
    async (request) => {
      const { after, limit, ...filter } = request.query
      const { rows, page, people } = await request.transaction(async (client) => {
        const rows = await listRecords(client, {
          ...filter,
          limit: limit + 1,
          ...(after !== undefined && { after }),
        })
        const page = rows.slice(0, limit)
        const people = await namesOf(
          client,
          page.map(({ owner_actor }) => owner_actor),
        )
        return { rows, page, people }
      })
      return {
        records: page.map(presentSummary),
        people,
        next: rows.length > limit ? page.at(-1)!.staging_record_id : null,
      }
    },
  )

  api.get(
    '/:id',
    {
      schema: {
        operationId: 'getStagingRecord',
        summary: 'One record: digests of its parts, its checklist, and what you may do with it',
        tags: ['staging'],
        params: RecordId,
        response: { 200: Detail, ...problems(400, 401, 404) },
      },
    },
    async (request, reply) => {
      const text = await request.transaction((client) => readDetail(client, request, request.params.id))
      // A string is sent as it is: numbers of the metadata are not rounded.
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  )

  api.get(
    '/:id/events',
    {
      schema: {
        operationId: 'listStagingRecordEvents',
        summary: 'What happened to a record, oldest first',
        tags: ['staging', 'events'],
        params: RecordId,
        querystring: Type.Object({ limit, after }, { additionalProperties: false }),
        response: {
          200: Type.Object({ events: Type.Array(Event), next: nullable(Type.String()) }),
          ...problems(400, 401, 404),
        },
      },
    },
    async (request) => {
      const { limit, after } = request.query
      const subject = request.params.id
      const rows = await request.transaction(async (client) => {
        const { staging_record_id } = await requireRecord(client, subject)
        return listEventsAbout(client, {
          domain: 'staging',
          subject: staging_record_id,
          limit: limit + 1,
          ...(after !== undefined && { after }),
        })
      })
      const page = rows.slice(0, limit)
      return { events: page.map(presentEvent), next: rows.length > limit ? page.at(-1)!.id : null }
    },
  )
}

/** What the caller may not see is not there. Asked first by every route of a record. */
export async function requireRecord(client: Client, id: string): Promise<StagingRecord> {
  const record = await findRecord(client, id)
  if (!record) throw new StagedoorError('staging_not_found', { record: id })
  return record
}

/** The record as JSON text, for whoever asks. */
export async function readDetail(client: Client, request: FastifyRequest, id: string): Promise<string> {
  const record = await requireRecord(client, id)
  const checklist = await readChecklist(client, id)
  const standing = await readStanding(client, record.workspace_id, request.principal!)
  const detail = {
    ...presentSummary(record),
    part_digests: record.part_digests.map((part) => ({ ...part, byte_len: String(part.byte_len) })),
    referenced_iu_ids: record.referenced_iu_ids ?? [],
    checklist: presentChecklist(checklist),
    may: permissions(record, checklist, standing),
  }
  return withExactMember(detail, 'metadata', record.metadata && (await readMetadata(client, id)))
}

async function readMetadata(client: Client, id: string): Promise<string> {
  const { rows } = await client.query<{ text: string }>(
    'select metadata::text as text from iu_core.iu_staging_record where staging_record_id = $1',
    [id],
  )
  return rows[0]!.text
}
