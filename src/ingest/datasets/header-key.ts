/** The key by which headers are compared. */

/** Full-width forms, case, accents, blanks, underscores and punctuation do not tell two headers apart. */
export function headerKey(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replaceAll('đ', 'd')
    .replace(/[\s_.:;,'’‘"“”`´/\\\-–—\u200b\ufeff]+/gu, '')
}
