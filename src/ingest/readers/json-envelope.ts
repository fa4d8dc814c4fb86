/**
 * Answers of an API saved as they came: `{"data": [records], "paging": …}` of Meta, `{"results": […]}` of Google,
 * `{"code": 0, "data": {"list": […]}}` of TikTok. The records are what the file is about.
 */

/** Where records are, as the names that lead to them. */
const RECORDS = new Set(['data', 'results', 'data.list', 'data.results'])
/** What may stand before them. With any other name before it, `data` is a value of a record. */
const AROUND = new Set(
  [
    ...['data', 'results', 'paging', 'page_info', 'summary', 'meta', 'metadata', 'fieldMask', 'requestId'],
    ...['code', 'message', 'request_id', 'success', 'status', 'nextPageToken', 'totalResultsCount', 'count'],
  ].map((name) => name.toLowerCase()),
)

const TOKEN = /"((?:[^"\\]|\\.)*)"|[{}[\]:,]|[^\s"{}[\]:,]+/y
const SPACE = /\s*/y

/** The byte at which the array of records begins; `undefined` if the text is no envelope. */
export function findEnvelope(head: Buffer): number | undefined {
  // One character a byte, so that places in the text are places in the file.
  const text = head.toString('latin1')
  const path: string[] = []
  let name: string | undefined
  let at = 0
  for (;;) {
    SPACE.lastIndex = at
    SPACE.test(text)
    TOKEN.lastIndex = SPACE.lastIndex
    const start = SPACE.lastIndex
    const token = TOKEN.exec(text)
    if (!token) return undefined
    at = TOKEN.lastIndex
    if (start === 0 || name === undefined) {
      if (token[0] === '{') path.push('')
      else if (token[1] !== undefined && /^\s*:/.test(text.slice(at))) {
        if (!AROUND.has(token[1].toLowerCase()) && token[1] !== 'list') return undefined
        name = token[1]
        at = text.indexOf(':', at) + 1
      } else if (token[0] === '}') {
        if (path.pop() === undefined || path.length === 0) return undefined
      } else if (token[0] !== ',') return undefined
      continue
    }
    const place = [...path.slice(1), name].join('.')
    name = undefined
    if (token[0] === '[') return RECORDS.has(place) && /^\s*[{\]]/.test(text.slice(at)) ? start : undefined
    if (token[0] !== '{') continue
    if (place === 'data') path.push('data')
    else {
      const end = endOfObject(text, start)
      if (end === undefined) return undefined
      at = end
    }
  }
}

function endOfObject(text: string, from: number): number | undefined {
  let open = 0
  TOKEN.lastIndex = from
  for (;;) {
    SPACE.lastIndex = TOKEN.lastIndex
    SPACE.test(text)
    TOKEN.lastIndex = SPACE.lastIndex
    const token = TOKEN.exec(text)
    if (!token) return undefined
    if (token[0] === '{' || token[0] === '[') open++
    if ((token[0] === '}' || token[0] === ']') && --open === 0) return TOKEN.lastIndex
  }
}
