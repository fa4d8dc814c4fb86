/** Text: what PostgreSQL can store, the name that a misspelt one was meant to be, and a time for people. */
import { distance } from 'fastest-levenshtein'

/** Without NUL and without halves of surrogate pairs, which PostgreSQL cannot store. `nul` takes the place of NUL. */
export function storableText(text: string, nul = '\ufffd'): string {
  return text.replaceAll('\0', nul).replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** "Did you mean …?", or nothing where no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const meant = nearest(name, known)
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

/** The nearest known name by edit distance, at most a third of its letters; none for a single letter. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const folded = name.toLowerCase()
  const max = Math.floor((folded.length + 1) / 3)
  let best: { readonly name: string; readonly edits: number } | undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - folded.length) > max) continue
    const edits = editDistance(folded, candidate.toLowerCase())
    if (edits <= max && (best === undefined || edits < best.edits)) best = { name: candidate, edits }
  }
  return best?.name
}

/** Those that are near to one of the names, at most a third of its letters away; the nearest first. */
export function nearestFirst<T>(
  names: readonly string[],
  candidates: readonly T[],
  textOf: (candidate: T) => string,
): T[] {
  return candidates
    .flatMap((candidate) => {
      const edits = names
        .map((name) => ({
          edits: editDistance(name, textOf(candidate)),
          max: Math.floor((name.length + 1) / 3),
        }))
        .filter(({ edits, max }) => edits <= max)
        .map(({ edits }) => edits)
      return edits.length === 0 ? [] : [{ candidate, edits: Math.min(...edits) }]
    })
    .sort((left, right) => left.edits - right.edits)
    .map(({ candidate }) => candidate)
}

/** Letters missing, added or replaced. Two neighbours that changed places are one edit: `setp` is one from `step`. */
export function editDistance(left: string, right: string): number {
  return isSwap(left, right) ? 1 : distance(left, right)
}

function isSwap(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return (
    at + 1 < left.length &&
    left[at] === right[at + 1] &&
    left[at + 1] === right[at] &&
    left.slice(at + 2) === right.slice(at + 2)
  )
}

/** 2026-11-20 14:05 UTC: where the day alone would not say by when. */
export function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
