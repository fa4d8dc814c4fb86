/** Text with `${ CEL }` in it. `$${` is a `${` that is meant as text. */
import { ExpressionError } from './expression-error.ts'

/** `offset` is where the expression begins in the text. */
export type Part = string | { readonly expression: string; readonly offset: number }

export function partsOf(text: string): readonly Part[] {
  const parts: Part[] = []
  let plain = ''
  let at = 0
  while (at < text.length) {
    const dollar = text.indexOf('${', at)
    if (dollar === -1) break
    if (text[dollar - 1] === '$' && dollar > at) {
      plain += `${text.slice(at, dollar - 1)}\${`
      at = dollar + 2
      continue
    }
    plain += text.slice(at, dollar)
    if (plain !== '') parts.push(plain)
    plain = ''
    const end = closingBrace(text, dollar + 2)
    parts.push({ expression: text.slice(dollar + 2, end), offset: dollar + 2 })
    at = end + 1
  }
  plain += text.slice(at)
  if (plain !== '') parts.push(plain)
  return parts
}

/** The brace that ends the expression: not one of a map, nor one in a string or a comment of it. */
function closingBrace(text: string, from: number): number {
  let open = 0
  for (let at = from; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"' || sign === "'") at = endOfString(text, at, sign)
    else if (sign === '/' && text[at + 1] === '/') at = endOfLine(text, at)
    else if (sign === '{') open++
    else if (sign === '}' && open-- === 0) return at
  }
  throw new ExpressionError(
    text.slice(from - 2),
    `this \${ has no closing } ($\${ is a \${ that is meant as text)`,
    { offset: from - 2 },
  )
}

/** The place of its last quote. */
function endOfString(text: string, from: number, quote: string): number {
  const fence = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  const raw = /(?:^|[^\w])(?:[rR][bB]?|[bB][rR])$/.test(text.slice(Math.max(0, from - 3), from))
  let at = from + fence.length
  while (at < text.length && !text.startsWith(fence, at)) at += text[at] === '\\' && !raw ? 2 : 1
  if (at >= text.length)
    throw new ExpressionError(text.slice(from), 'this text has no closing quote', { offset: from })
  return at + fence.length - 1
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
