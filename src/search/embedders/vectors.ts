/** Arithmetic that several embedders and stores share. */

/** In place. False where there is no direction: all zero, or not a number. */
export function normalise(vector: Float32Array): boolean {
  let sum = 0
  for (const value of vector) sum += value * value
  if (!(sum > 0) || sum === Number.POSITIVE_INFINITY) return false
  const scale = 1 / Math.sqrt(sum)
  for (let at = 0; at < vector.length; at++) vector[at]! *= scale
  return true
}

/**
 * Of a text without a single word that the model knows. Its last axis is kept free for them: they are like nothing that has
 * words, and a question without known words points away from them, so that it finds nothing.
 */
export function wordless(dimension: number, use: 'passage' | 'query'): Float32Array {
  const vector = new Float32Array(dimension)
  vector[dimension - 1] = use === 'passage' ? 1 : -1
  return vector
}

/** Whether it is of a question none of whose words the embedder knows: what is nearest to it means nothing. */
export function isWordless(vector: Float32Array): boolean {
  return vector.every((value, axis) => value === (axis === vector.length - 1 ? -1 : 0))
}
