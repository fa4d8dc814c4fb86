import { useCallback, useRef, useState } from 'react'
import { ApiProblem, asFailure, type Failure } from '../../api/failure.ts'
import type { UploadDetail } from '../../api/upload-types.ts'
import { useSession } from '../../session/session.tsx'
import type { Draft, Drafts } from './drafts.ts'

/** All cells of a line that are corrected together. */
export interface Correction {
  readonly line: number
  /** `from`: as it was when it was seen; where it is something else by now the server refuses. */
  readonly cells: readonly { readonly column: string; readonly from: string; readonly to: string }[]
}

export interface Repaired {
  readonly before: UploadDetail
  readonly after: UploadDetail
  /** How many lines were corrected; if it is one, its number. */
  readonly lines: number
  readonly line?: number | undefined
}

/** A line that the server refused, and with it all others. `now`: what somebody else put into the cell. */
export interface RefusedLine {
  readonly line: number
  readonly column?: string
  readonly reason: string
  readonly now?: string
}

/** One correction for each line, whatever the number of its cells. */
export function correctionsOf(drafts: readonly Draft[]): Correction[] {
  const lines = new Map<number, Correction['cells'][number][]>()
  for (const { line, column, base, text } of drafts)
    lines.set(line, [...(lines.get(line) ?? []), { column, from: base, to: text }])
  return [...lines].sort(([one], [other]) => one - other).map(([line, cells]) => ({ line, cells }))
}

/**
 * Sends corrections one after another, each call all or nothing: each answer holds a new plan, and the next must not overtake
 * it. What is corrected meanwhile goes together. Refused ones stay edits.
 */
export function useRepairs(
  upload: UploadDetail,
  drafts: Drafts,
  take: (upload: UploadDetail) => void,
  /** Reads the lines again that the server accepted, before the new plan is shown. */
  accepted: (corrections: readonly Correction[]) => Promise<void> | void,
) {
  const { api } = useSession()
  const [saving, setSaving] = useState<ReadonlySet<number>>(new Set())
  const [failure, setFailure] = useState<Failure>()
  const [repaired, setRepaired] = useState<Repaired>()
  const [refused, setRefused] = useState<readonly RefusedLine[]>([])
  const waiting = useRef<Correction[]>([])
  const running = useRef(false)
  // The page is loaded again every few seconds; `correct` must stay the same function.
  const latest = useRef({ upload, drafts, take, accepted })
  latest.current = { upload, drafts, take, accepted }

  const send = useCallback(
    async (corrections: readonly Correction[]) => {
      const lines = corrections.map(({ line }) => line)
      try {
        const { upload: before } = latest.current
        const after = await api.uploads.repair(
          before.upload_id,
          corrections.map(({ line, cells }) => ({
            line,
            values: Object.fromEntries(cells.map(({ column, to }) => [column, to === '' ? null : to])),
            expect: Object.fromEntries(cells.map(({ column, from }) => [column, from])),
          })),
        )
        latest.current.drafts.saved(
          corrections.flatMap(({ line, cells }) =>
            cells.map(({ column, to: text }) => ({ line, column, text })),
          ),
        )
        setFailure(undefined)
        setRefused([])
        await latest.current.accepted(corrections)
        latest.current.take(after)
        setRepaired({ before, after, lines: lines.length, line: lines[0] })
      } catch (thrown) {
        const problem = asFailure(thrown)
        setFailure(problem)
        setRefused(refusedLines(problem))
      } finally {
        setSaving((now) => new Set([...now].filter((line) => !lines.includes(line))))
      }
    },
    [api],
  )

  const correct = useCallback(
    async (...corrections: Correction[]): Promise<void> => {
      waiting.current.push(...corrections)
      setSaving((lines) => new Set([...lines, ...corrections.map(({ line }) => line)]))
      if (running.current) return
      running.current = true
      while (waiting.current.length > 0) await send(waiting.current.splice(0))
      running.current = false
    },
    [send],
  )

  const saveAll = useCallback(() => correct(...correctionsOf(latest.current.drafts.all())), [correct])

  /** Somebody decided about a refused cell. */
  const settle = useCallback((settled: RefusedLine) => {
    setRefused((now) => now.filter((one) => one !== settled))
    setFailure(undefined)
  }, [])

  return { correct, saveAll, saving, failure, repaired, refused, settle }
}

function refusedLines(failure: Failure): RefusedLine[] {
  if (!(failure instanceof ApiProblem) || failure.code !== 'repair_refused') return []
  const { lines } = failure.details as { lines?: unknown }
  return Array.isArray(lines) ? (lines as RefusedLine[]) : []
}
