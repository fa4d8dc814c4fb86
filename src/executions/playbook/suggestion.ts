/** What a misspelt name was probably meant to be. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const meant = nearest(name, known)
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

export function nearest(name: string, known: Iterable<string>): string | undefined {
  const folded = name.toLowerCase()
  // A third of the letters may be wrong; a single letter is like every other.
  const most = Math.floor((folded.length + 1) / 3)
  let best: { name: string; distance: number } | undefined
  for (const candidate of known) {
    if (Math.abs(candidate.length - folded.length) > most) continue
    const distance = editDistance(folded, candidate.toLowerCase())
    if (distance <= most && (best === undefined || distance < best.distance))
      best = { name: candidate, distance }
  }
  return best?.name
}

/** With neighbours that changed places as one edit: `setp` is one from `step`. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1))
      if (
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      ) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[right.length]!
}
