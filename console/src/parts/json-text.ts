/**
 * Indents JSON without parsing it: parsing would round numbers beyond 2^53, and reviewers would see other values than those that they
 * approve.
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
