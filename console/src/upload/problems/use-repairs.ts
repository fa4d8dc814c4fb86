import { useCallback, useRef, useState } from 'react'
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
  /** How many lines were corrected; if it is one, its number. */
  readonly lines: number
  readonly line?: number | undefined
}

/**
 * Sends corrections one after another: each answer holds a new plan, and the next must not overtake it. What is
 * corrected meanwhile goes together.
 */
export function useRepairs(
  upload: UploadDetail,
  pages: Pages<ProblemLine>,
  take: (upload: UploadDetail) => void,
  /** Called with the corrections that the server accepted; refused ones stay as drafts. */
  saved: (corrections: readonly Correction[]) => void,
  shows: (line: ProblemLine) => boolean,
) {
  const { api } = useSession()
  const [saving, setSaving] = useState<ReadonlySet<number>>(new Set())
  const [failure, setFailure] = useState<Failure>()
  const [repaired, setRepaired] = useState<Repaired>()
  const waiting = useRef<Correction[]>([])
  const running = useRef(false)
  // The page is loaded again every few seconds; `correct` must stay the same function.
  const latest = useRef({ upload, pages, take, saved, shows })
  latest.current = { upload, pages, take, saved, shows }

  const send = useCallback(
    async (corrections: readonly Correction[]) => {
      const lines = corrections.map(({ row }) => row.row_number)
      try {
        const { upload: before } = latest.current
        const after = await api.uploads.repair(
          before.upload_id,
          corrections.map(({ row, values }) => ({ line: row.row_number, values })),
        )
        latest.current.saved(corrections)
        const rows = await Promise.all(lines.map(readLine))
        for (const [index, row] of rows.entries()) if (row) show(row, corrections[index]!)
        latest.current.take(after)
        setRepaired({ before, after, lines: lines.length, line: lines[0] })
        setFailure(undefined)
      } catch (thrown) {
        setFailure(asFailure(thrown))
      } finally {
        setSaving((now) => new Set([...now].filter((line) => !lines.includes(line))))
      }

      async function readLine(line: number): Promise<StagedRow | undefined> {
        const { upload_id, reading } = latest.current.upload
        const asked = { row_type: reading?.layout.leaf, limit: 1, after: String(line - 1) }
        return (await api.uploads.rows(upload_id, asked)).rows[0]
      }

      function show(row: StagedRow, { row: old, values }: Correction): void {
        const corrected = Object.keys(values).map((column) => ({
          column,
          old: old.raw_payload[column] ?? '',
        }))
        latest.current.pages.replace(
          (line) => line.row.row_number === row.row_number,
          afterRepair(row, corrected).filter(latest.current.shows),
        )
      }
    },
    [api],
  )

  const correct = useCallback(
    async (...corrections: Correction[]): Promise<void> => {
      waiting.current.push(...corrections)
      setSaving((lines) => new Set([...lines, ...corrections.map(({ row }) => row.row_number)]))
      if (running.current) return
      running.current = true
      while (waiting.current.length > 0) await send(waiting.current.splice(0))
      running.current = false
    },
    [send],
  )

  /** Lines that were corrected by another call. */
  const note = useCallback((after: UploadDetail, lines: number) => {
    setRepaired({ before: latest.current.upload, after, lines })
    setFailure(undefined)
  }, [])

  return { correct, note, saving, failure, repaired }
}
