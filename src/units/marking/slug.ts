/** Segments of addresses from titles in any language: readable where Latin letters allow it, and never two titles in one by loss. */
import { createHash } from 'node:crypto'

/** Letters that Unicode does not take apart into a Latin one and its mark. */
const LATIN: Readonly<Record<string, string>> = {
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
}
const LONGEST = 48

/** Letters of other scripts are told by a hash of the title. */
export function slugOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[đðłøßæœþı]/g, (letter) => LATIN[letter]!)
    .replace(/['’]/g, '')
  const words = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, LONGEST)
    .replace(/-$/, '')
  if (!/[\p{L}\p{N}]/u.test(plain.replace(/[a-z0-9]+/g, ''))) return words || 'section'
  const hash = createHash('sha256').update(title.normalize('NFKC').toLowerCase()).digest('hex').slice(0, 8)
  return words ? `${words.slice(0, LONGEST - 9).replace(/-$/, '')}-${hash}` : `h-${hash}`
}
