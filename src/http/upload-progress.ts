/** The progress of an upload as server-sent events. It is read from the database, so any process can answer. */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { findUploadState, type Progress, requireUpload } from '../ingest/uploads.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'
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

export function uploadProgressRoutes(background: BackgroundUploads) {
  return routes('uploads', async (api) => {
    const streams = limitStreams(MAX_STREAMS, 'uploads')
    api.get('/:id/progress', {
      operationId: 'followUpload',
      summary: 'How far the reading of a file is, as server-sent events',
      description:
        '`event: progress` with {stage, done, total, lines} until `event: done` with {status, error}, which ends the stream.',
      problems: [404, 429],
      schema: EVENT_STREAM,
      handle: async (request, reply) => {
        const { id } = request.params
        await request.transaction((client) => requireUpload(withRawJson(client), id))
        const leave = streams.enter(request.principal!.subject)
        return sendEvents(
          reply,
          (gone) => follow(request, id, background, AbortSignal.any([gone, background.stopped])),
          leave,
        )
      },
    })
  })
}

async function* follow(
  request: FastifyRequest,
  id: string,
  background: BackgroundUploads,
  over: AbortSignal,
): AsyncGenerator<string> {
  let sent = ''
  let sentAt = performance.now()
  for (;;) {
    // Before the query: whatever the pipeline has done by now, the query sees.
    const isHere = background.has(id)
    const state = await request.transaction((client) => findUploadState(client, id))
    if (!state) return
    const hasEnded = state.status !== 'reading' && !(isHere && state.status === 'staged')
    if (hasEnded || over.aborted) {
      return yield serverSentEvent('done', { status: state.status, error: state.error })
    }
    const progress = JSON.stringify(state.status === 'staged' ? PLANNING : (state.progress ?? BEGINNING))
    const isSilent = performance.now() - sentAt > HEARTBEAT_MS
    if (progress !== sent) yield `event: progress\ndata: ${progress}\n\n`
    else if (isSilent) yield HEARTBEAT
    if (progress !== sent || isSilent) sentAt = performance.now()
    sent = progress
    await sleep(POLL_MS, undefined, { signal: over }).catch(() => {})
  }
}

const BEGINNING: Progress = { stage: 'read', done: 0, total: 0 }
/** Staged, and this process makes its plan. */
const PLANNING: Progress = { stage: 'plan', done: 0, total: 1 }

// Uploads that this process continues after it has answered the request: read, plan, submit. The pipeline writes a failure
// to the upload; here it is only logged, without content. An error that is not ours is logged with its cause, which is kept
// nowhere else.

export interface BackgroundUploads {
  start(upload: string, work: (signal: AbortSignal) => Promise<unknown>): void
  /** Whether this process still works on it. */
  has(upload: string): boolean
  /** Aborted when the server stops. */
  readonly stopped: AbortSignal
  stop(): Promise<void>
}

export function createBackgroundUploads(log: FastifyBaseLogger): BackgroundUploads {
  const stopping = new AbortController()
  // Every upload here and everybody who follows one listens.
  setMaxListeners(0, stopping.signal)
  const running = new Map<string, Promise<void>>()
  return {
    stopped: stopping.signal,
    has: (upload) => running.has(upload),
    start(upload, work) {
      const ended = work(stopping.signal)
        .then(
          () => undefined,
          (error) => logFailure(log, upload, asStagedoorError(error)),
        )
        .finally(() => running.delete(upload))
      running.set(upload, ended)
    },
    async stop() {
      stopping.abort(serverStopped())
      await Promise.all(running.values())
    },
  }
}

function logFailure(log: FastifyBaseLogger, upload_id: string, error: StagedoorError): void {
  const { code } = error
  if (code === 'internal') log.error({ upload_id, code, err: error.cause ?? error }, 'upload failed')
  else log.info({ upload_id, code }, 'upload failed')
}

function serverStopped(): StagedoorError {
  return new StagedoorError(
    'upload_interrupted',
    { reason: 'the server was stopped while it read this file' },
    { hint: 'Upload the file again.' },
  )
}
