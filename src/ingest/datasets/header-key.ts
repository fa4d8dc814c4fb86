/** The key by which headers are compared. */

/** Full-width forms, case, accents, blanks, underscores and punctuation do not tell two headers apart. */
export function headerKey(header: string): string {
  const known = keys.get(header)
  if (known !== undefined) return known
  const key = header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replaceAll('đ', 'd')
    .replace(/[\s_.:;,'’‘"“”`´/\\\-–—\u200b\ufeff]+/gu, '')
  if (header.length <= MAX_KEPT_LENGTH) {
    if (keys.size >= MAX_KEPT) keys.clear()
    keys.set(header, key)
  }
  return key
}

/** The names and aliases of a dataset are compared with every header of every file: a third of the JavaScript of a small upload. */
const keys = new Map<string, string>()
const MAX_KEPT = 5000
const MAX_KEPT_LENGTH = 200
