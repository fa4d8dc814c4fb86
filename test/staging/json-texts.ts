/** JSON as people and programs really write it: every notation, not only what JSON.stringify would give. */
import fc from 'fast-check'

const blank = fc.oneof(
  { weight: 12, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 }) },
)

const digits = (most: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0012345678900'), minLength: 1, maxLength: most })
const whole = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.constantFrom(...'123456789'), fc.option(digits(30), { nil: '' })).map((pair) => pair.join('')),
)
const exponent = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -30, max: 30 }) },
  { weight: 2, arbitrary: fc.integer({ min: -405, max: 405 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(-20000, -16384, -16383, -401, -400, 399, 400, 401, 131071, 131072, 4e9),
  },
)
const power = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '0', '00'), exponent, fc.boolean())
  .map(([letter, zeros, value, plus]) => {
    const sign = value < 0 ? '-' : plus ? '+' : ''
    return `${letter}${sign}${zeros}${Math.abs(value)}`
  })
export const numberText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '', '-'),
    whole,
    fc.option(
      digits(30).map((after) => `.${after}`),
      { nil: '', freq: 2 },
    ),
    fc.option(power, { nil: '', freq: 2 }),
  )
  .map((parts) => parts.join(''))

/** Characters, each as itself or as an escape. Astral, combining, controls, and what looks like an escape. */
const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'abcAB019 _-:,{}[]'.split('')) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'é',
      'e\u0301',
      'ß',
      '中',
      'ệ',
      '\u00a0',
      '\u2028',
      '\ufeff',
      '\uffff',
      '\ue000',
      '\u007f',
      '\u0080',
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.constantFrom('😀', '👨‍👩‍👧', '𝒳', '\u{10ffff}', '\u{10000}') },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 0x1f }).map((code) => String.fromCharCode(code)) },
  { weight: 2, arbitrary: fc.constantFrom('"', '\\', '/', '\b', '\f', '\n', '\r', '\t', '\\u0041') },
)
const SHORT: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}
const written = fc.tuple(character, fc.nat(3)).map(([text, way]) => {
  if (way === 3)
    return [...Array(text.length).keys()].map((at) => hexEscape(text.charCodeAt(at), at)).join('')
  return [...text]
    .map((one) =>
      way === 2 ? (SHORT[one] ?? JSON.stringify(one).slice(1, -1)) : JSON.stringify(one).slice(1, -1),
    )
    .join('')
})
function hexEscape(unit: number, at: number): string {
  const hex = unit.toString(16).padStart(4, '0')
  return `\\u${at % 2 ? hex.toUpperCase() : hex}`
}
export const stringText: fc.Arbitrary<string> = fc
  .array(written, { maxLength: 12 })
  .map((characters) => `"${characters.join('')}"`)

/** Few different keys, so that they repeat, also under different spellings. */
const keyText = fc.oneof(
  fc.constantFrom(
    '""',
    '"a"',
    '"\\u0061"',
    '"b"',
    '"aa"',
    '"ab"',
    '"é"',
    '"\\u00e9"',
    '"z"',
    '"\\n"',
    '"\\\\"',
    '"\\""',
    '"😀"',
    '"\ufffd"',
  ),
  stringText,
)

const { value } = fc.letrec<{ value: string }>((tie) => {
  const padded = fc.tuple(blank, tie('value'), blank).map((parts) => parts.join(''))
  const member = fc
    .tuple(blank, keyText, blank, blank, tie('value'), blank)
    .map(([before, key, behind, ahead, inner, after]) => `${before}${key}${behind}:${ahead}${inner}${after}`)
  const listed = (open: string, items: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> =>
    fc
      .tuple(fc.array(items, { maxLength: 6 }), blank)
      .map(([list, empty]) => `${open}${list.length > 0 ? list.join(',') : empty}${close}`)
  return {
    value: fc.oneof(
      { maxDepth: 6, depthSize: 'small' },
      fc.constantFrom('null', 'true', 'false', '[]', '{}', '0'),
      numberText,
      stringText,
      listed('[', padded, ']'),
      listed('{', member, '}'),
      // As deep as is taken, and a little deeper.
      {
        weight: 1,
        arbitrary: fc.tuple(tie('value'), fc.constantFrom(1, 2, 97, 99, 100, 101, 102)).map(nested),
      },
    ),
  }
})
function nested([inner, depth]: [string, number]): string {
  return depth % 2 === 0
    ? `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`
    : `${'{"k":'.repeat(depth)}${inner}${'}'.repeat(depth)}`
}
export const jsonText: fc.Arbitrary<string> = fc.tuple(blank, value, blank).map((parts) => parts.join(''))

/** JSON with one thing wrong, mostly: a character more, less or other, two swapped, an end cut off. */
export const brokenText: fc.Arbitrary<string> = fc
  .tuple(
    jsonText,
    fc.nat(),
    fc.constantFrom(...'{}[]",:\\-+.eE019tfnu \n\f\v\'x/*\u00a0\ufeff'.split('')),
    fc.nat(4),
  )
  .map(([text, place, character, way]) => {
    const at = place % (text.length + 1)
    const [before, after] = [text.slice(0, at), text.slice(at)]
    if (way === 0) return `${before}${character}${after}`
    if (way === 1) return `${before}${after.slice(1)}`
    if (way === 2) return `${before}${character}${after.slice(1)}`
    if (way === 3) return before
    return `${before}${after.charAt(1)}${after.charAt(0)}${after.slice(2)}`
  })
  // Half a surrogate pair cannot even be sent to PostgreSQL.
  .filter((text) => !/\p{Surrogate}/u.test(text))
