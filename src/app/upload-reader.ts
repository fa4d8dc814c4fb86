/**
 * The reader of uploads: a worker of its own for the jobs `upload_read:<store>` of every store that this process can open. Files that
 * take minutes to read take no place from other jobs, and jobs that take all places do not hold up an upload.
 */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { type PipelineDeps, readQueued } from '../ingest/pipeline.ts'
import { failReading, isReplaced, outcomeOf, readingKind, takeReading } from '../ingest/reading.ts'
import { emptyFileTrash, homeUploadFiles } from '../ingest/upload-files.ts'
import { JobAborted, type JobHandler, type JobHandlers } from '../jobs/handlers.ts'
import { startWorker, type Worker, type WorkerOptions } from '../jobs/worker.ts'
import { asStagedoorError, StagedoorError } from '../kernel/errors.ts'

/** Files at once. Each takes DuckDB's memory and up to two sessions. */
export const READERS = 4
/** A small file is read to its end when the process stops; a large one is released, and another process reads it from the beginning. */
const READER_SHUTDOWN_MS = 5000

const POLL_MS = 2000

interface ReaderOptions extends Pick<WorkerOptions, 'listenUrl' | 'hooks' | 'longRunningMs' | 'leaseMs'> {
  readonly log: Logger
}

/** Undefined where this process can open no store. */
export async function startReader(deps: PipelineDeps, options: ReaderOptions): Promise<Worker | undefined> {
  const { files = homeUploadFiles(deps.home) } = deps
  const stores = await files.stores()
  if (stores.length === 0) {
    options.log.warn('this process reads no uploads: it can open none of the stores of STAGEDOOR_STORE')
    return undefined
  }
  // Registered with their settings before the worker names them.
  for (const store of stores) await deps.pool.query('select iu_core.fn_ingest_reading_kind($1)', [store])
  const worker = await startWorker({
    ...options,
    pool: deps.pool,
    handlers: readingHandlers(deps, stores),
    name: `${hostname()} ${process.pid} uploads`,
    concurrency: READERS,
    // A file that waits here could be read elsewhere.
    batch: 1,
    // Notifications bring new files; this is for those that are tried again, and for a lost notification.
    pollMs: POLL_MS,
    schedules: false,
    shutdownMs: READER_SHUTDOWN_MS,
  })
  return {
    get id() {
      return worker.id
    },
    health: () => ({ ...worker.health(), name: 'uploads' }),
    stop: () => worker.stop(),
    crash: (error) => worker.crash(error),
  }
}

/** By kind, for each of the stores. */
function readingHandlers(deps: PipelineDeps, stores: readonly string[]): JobHandlers {
  const handler = readingHandler(deps)
  return Object.fromEntries(stores.map((store) => [readingKind(store), handler]))
}

function readingHandler(deps: PipelineDeps): JobHandler {
  return async (job, { signal, log }) => {
    const upload_id = job.target_ref ?? ''
    const taken = await takeReading(deps.pool, upload_id, job)
    if (!taken) return { upload_id, skipped: 'the upload was read already, or was discarded' }
    try {
      const { status } = await readQueued(deps, upload_id, taken, signal)
      return { upload_id, status }
    } catch (error) {
      // Discarded, or taken by another process, which records how it ends.
      if (isReplaced(error))
        return { upload_id, skipped: 'the upload was discarded, or another process reads it' }
      const aborted = signal.aborted && signal.reason instanceof JobAborted ? signal.reason.why : undefined
      // Released: the next process reads the file from the beginning.
      if (aborted === 'stopping' || aborted === 'lease_lost') throw error
      const cause = aborted === 'cancelled' ? jobCancelled() : error
      const outcome = aborted === 'cancelled' ? 'keep' : outcomeOf(cause, taken.last)
      logFailure(log, upload_id, cause, outcome)
      await failReading(deps.pool, { upload_id, ...taken }, cause, outcome)
      if (outcome === 'fail') await emptyFileTrash(deps.pool, deps.files ?? homeUploadFiles(deps.home))
      if (outcome === 'retry' || aborted !== undefined) throw error
      return { upload_id, status: 'failed', code: asStagedoorError(cause).code }
    }
  }
}

/** The upload has the failure, without content; the cause of an error that is not ours is kept nowhere else. */
function logFailure(log: Logger, upload_id: string, thrown: unknown, outcome: string): void {
  const error = asStagedoorError(thrown)
  const { code } = error
  const text = outcome === 'retry' ? 'reading an upload failed; will be retried' : 'upload failed'
  if (code === 'internal') log.error({ upload_id, code, err: error.cause ?? error }, text)
  else log[outcome === 'retry' ? 'warn' : 'info']({ upload_id, code }, text)
}

function jobCancelled(): StagedoorError {
  return new StagedoorError('upload_interrupted', { reason: 'the job that read this file was cancelled' })
}
