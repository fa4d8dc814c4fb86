/**
 * Files that this process is reading. A failure is written to its upload; here it is only logged, without content. What is
 * not one of our errors is logged with its cause: nowhere else is it kept.
 */
import { setMaxListeners } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import type { Client } from '../../../db/connection.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { asStagedoorError, StagedoorError } from '../../../errors.ts'
import { type IngestContext, stageBegun } from '../../../ingest/ingest.ts'
import { type PlanRequest, planUpload, recordPlanFailure } from '../../../ingest/plan.ts'
import type { SpooledFile } from '../../../ingest/spool.ts'
import type { HowToRead } from '../../../ingest/stage.ts'

export interface ReadingToStart {
  readonly upload_id: string
  readonly reader_token: string
  readonly file: SpooledFile
  readonly how: HowToRead
  readonly request_id: string
  /** Afterwards; undefined: stop at staged. */
  readonly plan: PlanRequest | undefined
}

export interface Readings {
  start(reading: ReadingToStart): void
  /** Whether this process still reads or plans it. */
  has(upload: string): boolean
  /** Aborted when the server stops. */
  readonly stopped: AbortSignal
  stop(): Promise<void>
}

export function createReadings(context: IngestContext, log: FastifyBaseLogger): Readings {
  const stopping = new AbortController()
  // Every file that is read and everybody who follows one listens.
  setMaxListeners(0, stopping.signal)
  const open = new Map<string, Promise<void>>()
  const work = async ({ file, how, plan, request_id, ...begun }: ReadingToStart): Promise<void> => {
    await stageBegun(context, begun, file, { how, request_id, signal: stopping.signal })
    if (!plan || stopping.signal.aborted) return
    const planned = (work: (client: Client) => Promise<unknown>) =>
      inTransaction(context.pool, work, { role: 'service_role' })
    try {
      await planned((client) => planUpload(client, begun.upload_id, plan))
    } catch (error) {
      await planned((client) => recordPlanFailure(client, begun.upload_id, error))
      throw error
    }
  }
  return {
    stopped: stopping.signal,
    has: (upload) => open.has(upload),
    start(reading) {
      const { upload_id } = reading
      const reader = work(reading)
        .catch((error) => tell(log, upload_id, asStagedoorError(error)))
        // Whatever happened before it began to read.
        .then(() => reading.file.remove())
        .catch((error) => log.warn({ upload_id, err: error }, 'a spool folder could not be removed'))
        .finally(() => open.delete(upload_id))
      open.set(upload_id, reader)
    },
    async stop() {
      stopping.abort(stoppedReading())
      await Promise.all(open.values())
    },
  }
}

function tell(log: FastifyBaseLogger, upload_id: string, error: StagedoorError): void {
  const { code } = error
  if (code === 'internal')
    log.error({ upload_id, code, err: error.cause ?? error }, 'an upload came to nothing')
  else log.info({ upload_id, code }, 'an upload could not be read or planned')
}

function stoppedReading(): StagedoorError {
  const message = 'The server was stopped while it read this file'
  return new StagedoorError('reader_replaced', {}, { message, hint: 'Upload the file again.' })
}
