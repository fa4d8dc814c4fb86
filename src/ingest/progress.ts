/** How far an upload is: told to whoever asked, and to the database, where every process can see it. */
import type { Pool } from '../db/connection.ts'
import { inTransaction } from '../db/transaction.ts'

export interface Progress {
  /** `wait`: in line, because the workspace reads as many as it may; `total` is the place in it. */
  readonly stage: 'wait' | 'read' | 'check' | 'stage' | 'plan' | 'promote'
  readonly done: number
  readonly total: number
  readonly lines?: number
}

export type ReportProgress = (progress: Progress) => void

const EVERY_MS = 300

export interface ProgressReport {
  readonly report: ReportProgress
  stop(): Promise<void>
}

/**
 * Writes the newest progress now and then; it is the reader's sign of life, too, so it goes on while nothing moves.
 * A write that fails is not the upload's failure: if the reader was given up, its end says so.
 */
export function reportProgress(
  pool: Pool,
  upload: { upload_id: string; reader_token: string },
  listener: ReportProgress = () => {},
): ProgressReport {
  let latest: Progress = { stage: 'read', done: 0, total: 0 }
  let writing: Promise<unknown> | undefined
  let ticks = 0
  let written: Progress | undefined
  const write = (): void => {
    // Every ten seconds also without news.
    if (writing || (latest === written && ++ticks % 33 !== 0)) return
    written = latest
    writing = inTransaction(
      pool,
      (client) =>
        client.query('select iu_core.fn_ingest_progress($1, $2, $3)', [
          upload.upload_id,
          upload.reader_token,
          JSON.stringify(latest),
        ]),
      { role: 'service_role' },
    )
      .catch(() => undefined)
      .finally(() => {
        writing = undefined
      })
  }
  const timer = setInterval(write, EVERY_MS)
  return {
    report(progress) {
      latest = progress
      listener(progress)
    },
    async stop() {
      clearInterval(timer)
      await writing
    },
  }
}
