/** How far the reading of a file is, as server-sent events. Asked of the database, so any process can answer. */
import { finished, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Queryable } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { Progress } from '../../../ingest/progress.ts'
import { requireUpload, type Upload } from '../../../ingest/uploads.ts'
import { exactly } from '../../exact-answer.ts'
import { problems } from '../../responses.ts'
import type { Readings } from './readings.ts'
import { UploadId } from './shapes.ts'

const LOOK_EVERY_MS = 300
/** Silence between us and the caller may be taken for a dead connection. */
const HEARTBEAT_MS = 15_000
const MOST_STREAMS = 20

export function progressRoutes(readings: Readings): FastifyPluginAsyncTypebox {
  return async (api) => {
    const streams = new Map<string, number>()
    api.get(
      '/:id/progress',
      {
        schema: {
          operationId: 'followUpload',
          summary: 'How far the reading of a file is, as server-sent events',
          description:
            '`event: progress` with {stage, done, total, lines} until `event: done` with {status, error}, which ends the stream.',
          tags: ['uploads'],
          params: UploadId,
          response: {
            200: {
              description: 'server-sent events',
              content: { 'text/event-stream': { schema: Type.String() } },
            },
            ...problems(400, 401, 404, 429),
          },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        await request.transaction((client) => requireUpload(exactly(client), id))
        const leave = enter(streams, request.principal!.subject)
        const gone = new AbortController()
        finished(reply.raw, () => {
          leave()
          gone.abort()
        })
        const stream = Readable.from(
          follow(request, id, readings, AbortSignal.any([gone.signal, readings.stopped])),
        )
        return reply
          .type('text/event-stream; charset=utf-8')
          .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
          .send(stream as never)
      },
    )
  }
}

function enter(streams: Map<string, number>, caller: string): () => void {
  const open = streams.get(caller) ?? 0
  if (open >= MOST_STREAMS) {
    const message = `You follow ${MOST_STREAMS} uploads already`
    throw new StagedoorError('rate_limited', { seconds: 1 }, { message, hint: 'Close one of them first.' })
  }
  streams.set(caller, open + 1)
  return () => {
    const left = streams.get(caller)! - 1
    if (left === 0) streams.delete(caller)
    else streams.set(caller, left)
  }
}

type Look = Pick<Upload, 'status' | 'progress' | 'error'>

async function* follow(
  request: FastifyRequest,
  id: string,
  readings: Readings,
  over: AbortSignal,
): AsyncGenerator<string> {
  let told = ''
  let spoke = performance.now()
  for (;;) {
    // Asked first: what it has done by then, the look below sees.
    const here = readings.has(id)
    const look = await request.transaction((client) => lookAt(client, id))
    if (!look) return
    const ended = look.status !== 'reading' && !(here && look.status === 'staged')
    if (ended || over.aborted) {
      return yield event('done', { status: look.status, error: look.error })
    }
    const now = JSON.stringify(look.status === 'staged' ? PLANNING : (look.progress ?? BEGINNING))
    if (now !== told) yield `event: progress\ndata: ${now}\n\n`
    else if (performance.now() - spoke > HEARTBEAT_MS) yield ': still here\n\n'
    if (now !== told || performance.now() - spoke > HEARTBEAT_MS) spoke = performance.now()
    told = now
    await sleep(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {})
  }
}

const BEGINNING: Progress = { stage: 'read', done: 0, total: 0 }
/** Staged, and this process is at its plan. */
const PLANNING: Progress = { stage: 'plan', done: 0, total: 1 }

async function lookAt(db: Queryable, id: string): Promise<Look | undefined> {
  const { rows } = await db.query<Look>(
    'select status, progress, error from iu_core.ingest_upload where upload_id = $1',
    [id],
  )
  return rows[0]
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
