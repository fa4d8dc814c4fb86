import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ApiProblem, asFailure, type Failure } from '../api/failure.ts'
import type { Page } from '../api/upload-types.ts'
import { useSession } from '../session/session.tsx'

const RETRY_MS = 5_000

/** Rows that are read page by page as one scrolls. What was read is kept. */
export interface Pages<Row> {
  readonly count: number
  /** True: there is nothing after what was read. */
  readonly done: boolean
  /** False until the first page has come. */
  readonly begun: boolean
  readonly failure: Failure | undefined
  at(index: number): Row | undefined
  /** Reads the next page, unless one is on its way or is to be asked for again. */
  more(): void
  /** Puts others in the place of those that match. */
  replace(matches: (row: Row) => boolean, rows: readonly Row[]): void
}

interface Kept<Row> {
  readonly pages: readonly (readonly Row[])[]
  /** The index at which each page begins: pages are of different lengths. */
  readonly starts: readonly number[]
  readonly count: number
  readonly next: string | undefined
  readonly done: boolean
  readonly begun: boolean
}

const NOTHING = { pages: [], starts: [], count: 0, next: undefined, done: false, begun: false }

/** `read` must stay the same function for the same query; another function starts from the first page. */
export function usePages<Row>(read: (after: string | undefined) => Promise<Page<Row>>): Pages<Row> {
  const { signOut } = useSession()
  const [kept, setKept] = useState<Kept<Row>>(NOTHING)
  const [failure, setFailure] = useState<Failure>()
  const current = useRef(read)
  const reading = useRef<typeof read>(undefined)
  /** The page that did not come; asked for again after RETRY_MS. */
  const missed = useRef<{ from: typeof read; after: string | undefined }>(undefined)

  const readPage = useCallback(
    async (from: typeof read, after: string | undefined) => {
      reading.current = from
      try {
        const page = await from(after)
        if (current.current !== from) return
        setFailure(undefined)
        setKept((before) => withPage(after === undefined ? NOTHING : before, page))
      } catch (thrown) {
        if (current.current !== from) return
        const problem = asFailure(thrown)
        if (problem instanceof ApiProblem && problem.status === 401) return signOut(problem)
        missed.current = { from, after }
        setFailure(problem)
      } finally {
        if (reading.current === from) reading.current = undefined
      }
    },
    [signOut],
  )

  // Until the first page of another question has come, the rows of the one before stay: nothing blinks.
  useEffect(() => {
    current.current = read
    readPage(read, undefined)
  }, [read, readPage])

  useEffect(() => {
    if (failure === undefined) return
    const timer = setTimeout(() => {
      const page = missed.current
      missed.current = undefined
      if (page !== undefined && page.from === current.current) readPage(page.from, page.after)
    }, RETRY_MS)
    return () => clearTimeout(timer)
  }, [failure, readPage])

  const more = useCallback(() => {
    if (kept.done || !kept.begun || failure !== undefined || reading.current !== undefined) return
    readPage(read, kept.next)
  }, [kept, failure, read, readPage])

  const replace = useCallback((matches: (row: Row) => boolean, rows: readonly Row[]) => {
    setKept((before) => withPages(before, replaced(before.pages, matches, rows)))
  }, [])

  return useMemo(
    () => ({
      count: kept.count,
      done: kept.done,
      begun: kept.begun,
      failure,
      at: (index) => rowAt(kept, index),
      more,
      replace,
    }),
    [kept, failure, more, replace],
  )
}

function withPage<Row>(kept: Kept<Row>, page: Page<Row>): Kept<Row> {
  const next = page.next === null ? undefined : String(page.next)
  return {
    pages: [...kept.pages, page.rows],
    starts: [...kept.starts, kept.count],
    count: kept.count + page.rows.length,
    next,
    done: next === undefined,
    begun: true,
  }
}

function withPages<Row>(kept: Kept<Row>, pages: readonly (readonly Row[])[]): Kept<Row> {
  let count = 0
  const starts = pages.map((page) => {
    count += page.length
    return count - page.length
  })
  return { ...kept, pages, starts, count }
}

/** The others stand where the first match stood. */
function replaced<Row>(
  pages: readonly (readonly Row[])[],
  matches: (row: Row) => boolean,
  rows: readonly Row[],
): readonly (readonly Row[])[] {
  const index = pages.findIndex((page) => page.some(matches))
  return pages.map((page, at) => {
    if (at !== index) return page
    const first = page.findIndex(matches)
    return [...page.slice(0, first), ...rows, ...page.slice(first).filter((row) => !matches(row))]
  })
}

function rowAt<Row>(kept: Kept<Row>, index: number): Row | undefined {
  let low = 0
  let high = kept.starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (kept.starts[middle]! <= index) low = middle
    else high = middle - 1
  }
  return kept.pages[low]?.[index - (kept.starts[low] ?? 0)]
}
