import type { Reading } from '../api/upload-types.ts'

/**
 * The columns of the file in its order, named as in the staged rows: a header that stands twice is counted, past the
 * names that are taken.
 */
export function headersOf(reading: Reading | null): string[] {
  const headers = reading?.headers ?? []
  const seen = new Map<string, number>()
  const taken = new Set(headers)
  return headers.map((header) => {
    let times = (seen.get(header) ?? 0) + 1
    let name = times === 1 ? header : `${header} (${times})`
    while (times > 1 && taken.has(name)) name = `${header} (${++times})`
    seen.set(header, times)
    taken.add(name)
    return name
  })
}
