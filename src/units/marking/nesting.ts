/**
 * How deep lists and quotes are nested within a line, as `> - 1. text` is three deep. The parser's time rises with the square of it: a
 * line of 8 KB took it 18 s.
 */
const DEEPEST = 32

/** The first line that is nested deeper than anybody writes; undefined: none. */
export function lineNestedTooDeep(text: string): number | undefined {
  let number = 1
  for (let line = 0; line < text.length; number += 1) {
    if (isTooDeep(text, line)) return number
    const newline = text.indexOf('\n', line)
    if (newline < 0) return undefined
    line = newline + 1
  }
  return undefined
}

function isTooDeep(text: string, line: number): boolean {
  const marker = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y
  marker.lastIndex = line
  let depth = 0
  while (depth <= DEEPEST && marker.test(text)) depth += 1
  return depth > DEEPEST && !isRule(text, line)
}

/** `- - -` of any length is a line across the page. */
function isRule(text: string, line: number): boolean {
  const rule = /[ \t]*([-*])(?:[ \t]|\1)*(?:\n|$)/y
  rule.lastIndex = line
  return rule.test(text)
}
