/**
 * JSON on lines of its own, changed in nothing but blanks: parsed, a number beyond 2^53 would be another one, and whoever
 * decides would see other values than those that they approve.
 */
export function indentJson(text: string): string {
  let depth = 0
  let result = ''
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1
      result += token + line()
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1)
      const empty = /[[{]\n *$/.test(result)
      result = empty ? result.trimEnd() + token : result + line() + token
    } else if (token === ',') result += token + line()
    else if (token === ':') result += ': '
    else result += token
  }
  return result
}
