/**
 * One JSON object as columns: nested objects flatten to dotted names, arrays stay JSON, and every value is the text
 * that was written: `JSON.parse` would round an id of 18 digits.
 */

/** Deeper objects are nobody's columns. */
const DEEPEST = 50

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r\n]*/y

const QUOTE = 34
const BACKSLASH = 92
/** JSON forbids control characters in strings; the end of the text is none either. */
const FIRST_ALLOWED = 32

class NotJson extends Error {}

/** Names that are there twice with different values are in `repeated`; the last value is shown. */
export interface FlatJson extends Map<string, string> {
  repeated?: string[]
}

/** `undefined` if the text is not one JSON object. */
export function flattenJson(text: string): FlatJson | undefined {
  const reader = new JsonReader(text)
  try {
    return reader.read()
  } catch (error) {
    if (error instanceof NotJson || error instanceof SyntaxError) return undefined
    throw error
  }
}

class JsonReader {
  readonly #text: string
  readonly #values: FlatJson = new Map<string, string>()
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): FlatJson {
    this.#space()
    this.#object('', 0)
    this.#space()
    if (this.#at < this.#text.length) throw new NotJson()
    return this.#values
  }

  #object(prefix: string, depth: number): void {
    this.#expect('{')
    this.#space()
    if (this.#take('}')) return
    do {
      this.#space()
      const name = prefix + this.#string()
      this.#space()
      this.#expect(':')
      this.#space()
      this.#value(name, depth)
      this.#space()
    } while (this.#take(','))
    this.#expect('}')
  }

  #value(name: string, depth: number): void {
    if (this.#text[this.#at] !== '{') {
      const value = this.#scalar()
      const before = this.#values.get(name)
      if (before !== undefined && before !== value) {
        this.#values.repeated ??= []
        this.#values.repeated.push(name)
      }
      this.#values.set(name, value)
      return
    }
    if (depth >= DEEPEST) throw new NotJson()
    this.#object(`${name}.`, depth + 1)
  }

  #scalar(): string {
    switch (this.#text[this.#at]) {
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      case 't':
        return this.#expect('true')
      case 'f':
        return this.#expect('false')
      case 'n':
        this.#expect('null')
        return ''
      default:
        return this.#number()
    }
  }

  #number(): string {
    NUMBER.lastIndex = this.#at
    if (!NUMBER.test(this.#text)) throw new NotJson()
    const written = this.#text.slice(this.#at, NUMBER.lastIndex)
    this.#at = NUMBER.lastIndex
    return written
  }

  #string(): string {
    this.#expect('"')
    const start = this.#at
    let escaped = false
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) break
      if (code === BACKSLASH) {
        escaped = true
        this.#at++
      } else if (!(code >= FIRST_ALLOWED)) throw new NotJson()
      this.#at++
    }
    const written = this.#text.slice(start, this.#at++)
    return escaped ? (JSON.parse(`"${written}"`) as string) : written
  }

  /** As written: its end is found by counting brackets outside strings, then the engine says whether it is JSON. */
  #array(): string {
    const start = this.#at
    let open = 0
    do {
      const character = this.#text[this.#at]
      if (character === undefined) throw new NotJson()
      if (character === '"') {
        this.#string()
        continue
      }
      if (character === '[') open++
      if (character === ']') open--
      this.#at++
    } while (open > 0)
    const written = this.#text.slice(start, this.#at)
    JSON.parse(written)
    return written
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at)
    if (code > 32) return
    SPACE.lastIndex = this.#at
    SPACE.test(this.#text)
    this.#at = SPACE.lastIndex
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(word: string): string {
    if (!this.#text.startsWith(word, this.#at)) throw new NotJson()
    this.#at += word.length
    return word
  }
}
