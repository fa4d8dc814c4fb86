/**
 * The arithmetic of fitting, on matrices that lie row by row in one array. Sums are double, storage is single: the corpus
 * decides the third digit of a vector, not the seventh.
 */

/** Rows of few entries each: row r holds entries from starts[r] to starts[r + 1]. */
export interface SparseRows {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly values: Float32Array
}

/** rows × dense, where `dense` has `width` columns. */
export function times(rows: SparseRows, dense: Float32Array, width: number): Float32Array {
  const count = rows.starts.length - 1
  const product = new Float32Array(count * width)
  for (let row = 0; row < count; row++) {
    const to = row * width
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) {
      const from = rows.columns[at]! * width
      const value = rows.values[at]!
      for (let j = 0; j < width; j++) product[to + j]! += value * dense[from + j]!
    }
  }
  return product
}

/** The transposed rows × dense; they have `columns` columns. */
export function transposedTimes(
  rows: SparseRows,
  dense: Float32Array,
  width: number,
  columns: number,
): Float32Array {
  const product = new Float32Array(columns * width)
  for (let row = 0; row + 1 < rows.starts.length; row++) {
    const from = row * width
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) {
      const to = rows.columns[at]! * width
      const value = rows.values[at]!
      for (let j = 0; j < width; j++) product[to + j]! += value * dense[from + j]!
    }
  }
  return product
}

/** Every column's product with every other: width × width. */
export function gram(dense: Float32Array, width: number): Float64Array {
  const product = new Float64Array(width * width)
  for (let row = 0; row < dense.length; row += width) {
    for (let i = 0; i < width; i++) {
      const value = dense[row + i]!
      const to = i * width
      for (let j = i; j < width; j++) product[to + j]! += value * dense[row + j]!
    }
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < i; j++) product[i * width + j] = product[j * width + i]!
  }
  return product
}

/**
 * Makes the columns orthonormal, in place, by the Cholesky factor of their gram: one sweep over the rows where Gram-Schmidt
 * takes one for every pair. Good enough between iterations; twice, it is good enough at the end.
 */
export function orthonormalise(dense: Float32Array, width: number): void {
  const factor = cholesky(gram(dense, width), width)
  for (let row = 0; row < dense.length; row += width) {
    for (let j = 0; j < width; j++) {
      const value = dense[row + j]! / factor[j * width + j]!
      dense[row + j] = value
      const from = j * width
      for (let next = j + 1; next < width; next++) dense[row + next]! -= value * factor[from + next]!
    }
  }
}

/** Upper factor. Directions that the rows do not have get a pivot of next to nothing instead of none. */
function cholesky(symmetric: Float64Array, width: number): Float64Array {
  const factor = symmetric.slice()
  let trace = 0
  for (let i = 0; i < width; i++) trace += symmetric[i * width + i]!
  const least = Math.max(trace, 1e-30) * 1e-12
  for (let i = 0; i < width; i++) {
    const row = i * width
    const pivot = Math.sqrt(Math.max(factor[row + i]!, least))
    factor[row + i] = pivot
    for (let j = i + 1; j < width; j++) factor[row + j]! /= pivot
    for (let below = i + 1; below < width; below++) {
      const share = factor[row + below]!
      const to = below * width
      for (let j = below; j < width; j++) factor[to + j]! -= share * factor[row + j]!
    }
  }
  return factor
}

/**
 * Eigenvectors of a symmetric matrix, one a row, the greatest eigenvalue first. Jacobi on rows alone: they lie in one
 * piece, columns do not.
 */
export function eigenvectors(
  symmetric: Float64Array,
  width: number,
): { vectors: Float64Array; values: number[] } {
  const rows = symmetric.slice()
  const turned = new Float64Array(width * width)
  for (let i = 0; i < width; i++) turned[i * width + i] = 1
  const squares = new Float64Array(width)
  for (let sweep = 0, moved = true; moved && sweep < 30; sweep++) {
    moved = false
    // Anew for each sweep: what turning adds to them is rounded.
    for (let p = 0; p < width; p++) squares[p] = dot(rows, p * width, p * width, width)
    for (let p = 0; p < width; p++) {
      for (let q = p + 1; q < width; q++) moved = turn(rows, turned, squares, p, q) || moved
    }
  }
  const lengths = Array.from(squares, Math.sqrt)
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b)
  const vectors = new Float64Array(width * width)
  order.forEach((from, to) => {
    vectors.set(turned.subarray(from * width, (from + 1) * width), to * width)
  })
  return { vectors, values: order.map((i) => lengths[i]!) }
}

/** Turns two rows until they are orthogonal. False where they are already. */
function turn(
  rows: Float64Array,
  turned: Float64Array,
  squares: Float64Array,
  p: number,
  q: number,
): boolean {
  const width = squares.length
  const product = dot(rows, p * width, q * width, width)
  if (Math.abs(product) <= 1e-7 * Math.sqrt(squares[p]! * squares[q]!)) return false
  const half = (squares[q]! - squares[p]!) / (2 * product)
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.sqrt(half * half + 1))
  const cosine = 1 / Math.sqrt(tangent * tangent + 1)
  const sine = tangent * cosine
  squares[p]! -= tangent * product
  squares[q]! += tangent * product
  for (const matrix of [rows, turned]) {
    for (let a = p * width, b = q * width; a < (p + 1) * width; a++, b++) {
      const ofP = matrix[a]!
      const ofQ = matrix[b]!
      matrix[a] = cosine * ofP - sine * ofQ
      matrix[b] = sine * ofP + cosine * ofQ
    }
  }
  return true
}

function dot(matrix: Float64Array, p: number, q: number, width: number): number {
  let sum = 0
  for (let j = 0; j < width; j++) sum += matrix[p + j]! * matrix[q + j]!
  return sum
}
