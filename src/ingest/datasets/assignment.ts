/** The assignment with the best total: each row to at most one column, each column to at most one row. */

/** For each row the index of its column, or -1. Pairs with a score of 0 are never assigned. */
export function assign(scores: readonly (readonly number[])[]): number[] {
  const result = scores.map(() => -1)
  const open = { rows: new Set(scores.keys()), columns: new Set(scores[0]?.keys() ?? []) }
  // The same name on both sides needs no weighing; what is left is small even for a table of 1,600 columns.
  for (const row of open.rows) {
    const same = [...open.columns].filter((column) => scores[row]![column]! >= 1)
    if (same.length !== 1) continue
    result[row] = same[0]!
    open.rows.delete(row)
    open.columns.delete(same[0]!)
  }
  const rows = [...open.rows].filter((row) => [...open.columns].some((column) => scores[row]![column]! > 0))
  const columns = [...open.columns].filter((column) => rows.some((row) => scores[row]![column]! > 0))
  if (rows.length === 0) return result
  const weights = rows.map((row) => columns.map((column) => scores[row]![column]!))
  const best = rows.length * columns.length > MAX_WEIGHED ? assignGreedily(weights) : assignOptimally(weights)
  for (const [index, at] of best.entries()) if (at >= 0) result[rows[index]!] = columns[at]!
  return result
}

const MAX_WEIGHED = 250_000

function assignGreedily(weights: readonly (readonly number[])[]): number[] {
  const pairs = weights.flatMap((row, at) => row.map((weight, column) => ({ at, column, weight })))
  const result = weights.map(() => -1)
  const taken = new Set<number>()
  for (const { at, column, weight } of pairs.sort((a, b) => b.weight - a.weight)) {
    if (weight <= 0 || result[at]! >= 0 || taken.has(column)) continue
    result[at] = column
    taken.add(column)
  }
  return result
}

/** The Hungarian method (Jonker's form of it with potentials), on a matrix that is filled up to a square. */
function assignOptimally(weights: readonly (readonly number[])[]): number[] {
  const size = Math.max(weights.length, weights[0]!.length)
  const costOf = (row: number, column: number) => -((weights[row]?.[column] ?? 0) ** 2)
  const rowPotential = new Float64Array(size + 1)
  const columnPotential = new Float64Array(size + 1)
  const rowOf = new Int32Array(size + 1)
  const before = new Int32Array(size + 1)
  for (let row = 1; row <= size; row++) {
    rowOf[0] = row
    let column = 0
    const least = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY)
    const isUsed = new Uint8Array(size + 1)
    do {
      isUsed[column] = 1
      const from = rowOf[column]!
      let delta = Number.POSITIVE_INFINITY
      let next = 0
      for (let other = 1; other <= size; other++) {
        if (isUsed[other]) continue
        const reduced = costOf(from - 1, other - 1) - rowPotential[from]! - columnPotential[other]!
        if (reduced < least[other]!) {
          least[other] = reduced
          before[other] = column
        }
        if (least[other]! < delta) {
          delta = least[other]!
          next = other
        }
      }
      for (let other = 0; other <= size; other++) {
        if (isUsed[other]) {
          rowPotential[rowOf[other]!] = rowPotential[rowOf[other]!]! + delta
          columnPotential[other] = columnPotential[other]! - delta
        } else least[other] = least[other]! - delta
      }
      column = next
    } while (rowOf[column] !== 0)
    do {
      const previous = before[column]!
      rowOf[column] = rowOf[previous]!
      column = previous
    } while (column !== 0)
  }
  const result = weights.map(() => -1)
  for (let column = 1; column <= size; column++) {
    const row = rowOf[column]! - 1
    if ((weights[row]?.[column - 1] ?? 0) > 0) result[row] = column - 1
  }
  return result
}
