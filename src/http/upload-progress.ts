/** The progress of an upload as server-sent events. It is read from the database, so any process can answer. */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { findUploadState, type Progress, requireUpload } from '../ingest/uploads.ts'
import {
  EVENT_STREAM,
  HEARTBEAT,
  HEARTBEAT_MS,
  limitStreams,
  sendEvents,
  serverSentEvent,
} from './event-stream.ts'
import { withRawJson } from './responses.ts'
import { routes } from './routes.ts'

const POLL_MS = 300
const MAX_STREAMS = 20

export function uploadProgressRoutes() {
  return routes('uploads', async (api) => {
    const stopping = new AbortController()
    // Everybody who follows an upload listens.
    setMaxListeners(0, stopping.signal)
    api.fastify.addHook('preClose', async () => stopping.abort())
    const streams = limitStreams(MAX_STREAMS, 'uploads')
    api.get('/:id/progress', {
      operationId: 'followUpload',
      summary: 'How far the reading of a file is, as server-sent events',
      description:
        '`event: progress` with {stage, done, total, lines, problem} until `event: done` with {status, error}, which ends the stream. Any server answers, whichever process reads the file. A server that stops ends the stream without `done`: follow it on another one.',
      problems: [404, 429],
      schema: EVENT_STREAM,
      handle: async (request, reply) => {
        const { id } = request.params
        await request.transaction((client) => requireUpload(withRawJson(client), id))
        const leave = streams.enter(request.principal!.subject)
        return sendEvents(
          reply,
          (gone) => follow(request, id, AbortSignal.any([gone, stopping.signal])),
          leave,
        )
      },
    })
  })
}

async function* follow(request: FastifyRequest, id: string, over: AbortSignal): AsyncGenerator<string> {
  let sent = ''
  let sentAt = performance.now()
  for (;;) {
    const state = await request.transaction((client) => findUploadState(client, id))
    if (!state) return
    const { status, error } = state
    if (status !== 'reading' && !state.is_in_progress) return yield serverSentEvent('done', { status, error })
    // The upload goes on elsewhere.
    if (over.aborted) return
    const progress = JSON.stringify(status === 'reading' ? (state.progress ?? BEGINNING) : PLANNING)
    const isSilent = performance.now() - sentAt > HEARTBEAT_MS
    if (progress !== sent) yield `event: progress\ndata: ${progress}\n\n`
    else if (isSilent) yield HEARTBEAT
    if (progress !== sent || isSilent) sentAt = performance.now()
    sent = progress
    await sleep(POLL_MS, undefined, { signal: over }).catch(() => {})
  }
}

const BEGINNING: Progress = { stage: 'read', done: 0, total: 0 }
/** Staged, and its plan is being made. */
const PLANNING: Progress = { stage: 'plan', done: 0, total: 1 }
