import { useRef, useState } from 'react'
import { asFailure, type Failure } from '../../api/failure.ts'
import type { StagedRow, UploadDetail } from '../../api/upload-types.ts'
import type { Pages } from '../../grid/use-pages.ts'
import { useSession } from '../../session/session.tsx'
import { afterRepair, type ProblemLine } from './problem-lines.ts'

export interface Correction {
  readonly row: StagedRow
  /** Header → corrected text. */
  readonly values: Readonly<Record<string, string | null>>
}

export interface Repaired {
  readonly before: UploadDetail
  readonly after: UploadDetail
  readonly lines: readonly number[]
}

/**
 * Sends corrections one after another: each answer holds a new plan, and the next must not overtake it. What is
 * corrected meanwhile goes together.
 */
export function useRepairs(
  upload: UploadDetail,
  pages: Pages<ProblemLine>,
  take: (upload: UploadDetail) => void,
) {
  const { api } = useSession()
  const [saving, setSaving] = useState<ReadonlySet<number>>(new Set())
  const [failure, setFailure] = useState<Failure>()
  const [repaired, setRepaired] = useState<Repaired>()
  const waiting = useRef<Correction[]>([])
  const running = useRef(false)
  const latest = useRef(upload)
  latest.current = upload

  async function correct(correction: Correction): Promise<void> {
    waiting.current.push(correction)
    setSaving((lines) => new Set(lines).add(correction.row.row_number))
    if (running.current) return
    running.current = true
    while (waiting.current.length > 0) await send(waiting.current.splice(0))
    running.current = false
  }

  async function send(corrections: readonly Correction[]): Promise<void> {
    const lines = corrections.map(({ row }) => row.row_number)
    try {
      const before = latest.current
      const after = await api.uploads.repair(
        upload.upload_id,
        corrections.map(({ row, values }) => ({ line: row.row_number, values })),
      )
      const rows = await Promise.all(corrections.map(({ row }) => readLine(row.row_number)))
      for (const [index, row] of rows.entries()) if (row) show(row, corrections[index]!)
      take(after)
      setRepaired({ before, after, lines })
      setFailure(undefined)
    } catch (thrown) {
      setFailure(asFailure(thrown))
    } finally {
      setSaving((now) => new Set([...now].filter((line) => !lines.includes(line))))
    }
  }

  async function readLine(line: number): Promise<StagedRow | undefined> {
    const page = await api.uploads.rows(upload.upload_id, {
      row_type: upload.reading?.layout.leaf,
      limit: 1,
      after: String(line - 1),
    })
    return page.rows[0]
  }

  function show(row: StagedRow, { row: old, values }: Correction): void {
    const corrected = Object.keys(values).map((column) => ({ column, old: old.raw_payload[column] ?? '' }))
    pages.replace((line) => line.row.row_number === row.row_number, afterRepair(row, corrected))
  }

  return { correct, saving, failure, repaired }
}
