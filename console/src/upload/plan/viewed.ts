import { useState } from 'react'

/** Kept in this browser: the mark is for oneself. So many plans are remembered; the oldest are forgotten. */
const MOST_PLANS = 50
const NAME = 'stagedoor:viewed'

type Marks = readonly (readonly [digest: string, tables: readonly string[]])[]

export function useViewed(digest: string, table: string): [boolean, (isViewed: boolean) => void] {
  const [marks, setMarks] = useState(readMarks)
  const tables = marks.find(([plan]) => plan === digest)?.[1] ?? []
  const set = (isViewed: boolean) => {
    const now = isViewed ? [...tables, table] : tables.filter((one) => one !== table)
    const others = readMarks().filter(([plan]) => plan !== digest)
    const next: Marks = [[digest, now] as const, ...others].slice(0, MOST_PLANS)
    localStorage.setItem(NAME, JSON.stringify(next))
    setMarks(next)
  }
  return [tables.includes(table), set]
}

function readMarks(): Marks {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]')
    return Array.isArray(stored) ? (stored as Marks) : []
  } catch {
    return []
  }
}
