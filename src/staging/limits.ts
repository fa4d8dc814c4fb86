/** Limits of the database, for those who decide before it is asked: what is larger is sent as a blob, or not at all. */
const MEBIBYTE = 1024 ** 2

export const MOST_PARTS = 100
/** Of a JSON or text part. */
export const LARGEST_PART = 10 * MEBIBYTE
/** Of all of them together. */
export const LARGEST_TOTAL = 64 * MEBIBYTE
