interface TextPart {
  readonly text: string
  readonly marked: boolean
}

/** The snippet in parts. The server counts characters as code points, and ranges do not overlap. */
export function highlighted(snippet: string, ranges: readonly (readonly number[])[]): TextPart[] {
  const characters = [...snippet]
  const parts: TextPart[] = []
  let at = 0
  const add = (to: number, marked: boolean) => {
    if (to > at) parts.push({ text: characters.slice(at, to).join(''), marked })
    at = Math.max(at, to)
  }
  for (const [from = 0, to = 0] of ranges) {
    add(from, false)
    add(to, true)
  }
  add(characters.length, false)
  return parts
}
