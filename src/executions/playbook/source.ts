/** A playbook's text, YAML 1.2 or JSON, with the place of everything in it. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
  type Scalar,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml'
import type { Json } from '../../kernel/json.ts'
import { type Finding, Findings, type Place, type Problem, pathText } from './findings.ts'

const MAX_SOURCE_BYTES = 1024 * 1024
/** Aliases can make a short text endless. */
const MAX_NODES = 100_000
const MAX_NESTING = 64
const MAX_OPEN_TOKENS = 4 * MAX_NESTING
const MAX_PROBLEMS = 100
/** Of YAML, brackets, braces, commas and `: ` in an expression without quotes are its own. */
const BARE_EXPRESSION = /\bwhen:\s*[^\s"'|>]|[:,[]\s*\$\{/
const SIGNS: Readonly<Record<string, string>> = {
  'flow-seq-start': 'a [',
  'flow-map-start': 'a {',
  'flow-seq-end': 'a ]',
  'flow-map-end': 'a }',
  comma: 'a comma',
  scalar: 'this text',
}
const QUOTES = 'Put the expression in quotes'

export interface Source {
  /** Undefined when the text is not even YAML. */
  readonly value: Json | undefined
  readonly findings: Findings
  readonly problems: (findings: readonly Finding[]) => Problem[]
}

export function readSource(text: string): Source {
  const findings = new Findings()
  const places = new SourcePositions(text)
  const value = readYaml(text, places, findings)
  return {
    value: findings.hasErrors ? undefined : value,
    findings,
    problems: (all) => locateProblems(all, places),
  }
}

function readYaml(text: string, places: SourcePositions, findings: Findings): Json | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_SOURCE_BYTES) {
    findings.error([], `the playbook has ${bytes} bytes, more than the ${MAX_SOURCE_BYTES} that one may have`)
    return undefined
  }
  const deep = tooDeepAt(text, places)
  if (deep !== undefined) {
    findings.error(places.textAt(deep), 'it is nested too deeply')
    return undefined
  }
  // Its own search for duplicate keys takes time with the square of the keys; nodeValue() finds them too.
  const options = {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    intAsBigInt: true,
    prettyErrors: false,
  } as const
  const document = parseDocument(text, { ...options, lineCounter: places.lines })
  // What follows after the first is mostly its consequence: one bracket can make a hundred.
  const [wrong] = [...document.errors, ...document.warnings].sort((left, right) => left.pos[0] - right.pos[0])
  if (wrong !== undefined) {
    const remedy = places.lineAt(wrong.pos[0]).match(BARE_EXPRESSION) ? { remedy: QUOTES } : {}
    const open = openBracket(document, text, wrong)
    if (open === undefined)
      findings.error(places.textAt(wrong.pos[0]), syntaxErrorText(wrong.message), remedy)
    else findings.error(places.textAt(open), `the ${text[open]} is not closed`, remedy)
  }
  if (findings.hasErrors) return undefined
  if (document.contents === null) {
    findings.error([], 'the playbook is empty')
    return undefined
  }
  return new NodeReader(places, findings).value(document.contents, [])
}

/**
 * parseDocument() goes down a level with every bracket, and V8 ends the whole process when it compiles a pattern on a stack
 * that is nearly used up. The parser of tokens below it keeps a stack of its own, whose height can be looked at.
 */
function tooDeepAt(text: string, places: SourcePositions): number | undefined {
  const parser = new Parser()
  for (const token of new Lexer().lex(text)) {
    for (const _ of parser.next(token));
    if (parser.stack.length <= MAX_OPEN_TOKENS) continue
    // The lines are counted by parseDocument(), which this text never reaches.
    places.countLines()
    return parser.offset
  }
  return undefined
}

/** Where the bracket stands that has no end. The parser notices it only where the next line cannot belong to it. */
function openBracket(
  document: Document,
  text: string,
  { message }: YAMLParseError | YAMLWarning,
): number | undefined {
  const [, end] =
    /^Flow (?:map|sequence) in block collection must be.* end with a ([\]}])/.exec(message) ?? []
  if (end === undefined) return undefined
  let found: number | undefined
  visit(document, {
    Collection(_key, { flow, range }) {
      if (flow && range && text[range[1] - 1] !== end) found ??= range[0]
    },
  })
  return found
}

function syntaxErrorText(message: string): string {
  if (message.startsWith('Source contains multiple documents'))
    return 'a file holds one playbook; remove the `---`'
  const [, sign] = /^Unexpected ([a-z-]+) at node end/.exec(message) ?? []
  if (sign !== undefined) return `${SIGNS[sign] ?? sign} cannot stand here`
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/ at line \d+, column \d+[\s\S]*$/, '')
}

/** Where things stand in the text. */
class SourcePositions {
  readonly text: string
  readonly lines = new LineCounter()
  private readonly keys = new Map<string, number>()
  private readonly values = new Map<string, { start: number; end: number }>()
  private readonly bare = new Map<Place, number>()

  constructor(text: string) {
    this.text = text
  }

  countLines(): void {
    this.lines.addNewLine(0)
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      this.lines.addNewLine(at + 1)
  }

  lineAt(offset: number): string {
    const start = this.text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
    const end = this.text.indexOf('\n', offset)
    return this.text.slice(start, end === -1 ? undefined : end)
  }

  keep(place: Place, value: Node, key?: Node): void {
    if (value.range) this.values.set(JSON.stringify(place), { start: value.range[0], end: value.range[1] })
    if (key?.range) this.keys.set(JSON.stringify(place), key.range[0])
  }

  /** A place that is known by where it is: an error of syntax has no path, a duplicate has that of another. */
  textAt(offset: number, path: Place = []): Place {
    const place = [...path]
    this.bare.set(place, offset)
    return place
  }

  offsetOf({ place, key, offset }: Finding, value: string | undefined): number {
    const bare = this.bare.get(place)
    if (bare !== undefined) return bare
    for (let length = place.length; length >= 0; length--) {
      const name = JSON.stringify(place.slice(0, length))
      const whole = length === place.length
      const atKey = this.keys.get(name)
      if (whole && key && atKey !== undefined) return atKey
      const range = this.values.get(name)
      if (range === undefined) continue
      return whole && offset !== undefined && value !== undefined
        ? this.within(range, value, offset)
        : whole
          ? range.start
          : (atKey ?? range.start)
    }
    return 0
  }

  /** Quotes, escapes and folded lines shift what is inside: what follows there is looked for as it is written. */
  private within({ start, end }: { start: number; end: number }, value: string, offset: number): number {
    const raw = this.text.slice(start, end)
    const following = value.slice(offset).split('\n', 1)[0]!.slice(0, 40)
    const found = following === '' ? -1 : raw.indexOf(following, offset)
    return found === -1 ? start : start + found
  }

  valueAt(place: Place): string | undefined {
    return this.texts.get(JSON.stringify(place))
  }

  readonly texts = new Map<string, string>()
}

function locateProblems(all: readonly Finding[], places: SourcePositions): Problem[] {
  const problems = all.map((finding): Problem & { line: number; column: number } => {
    const { line, col } = places.lines.linePos(places.offsetOf(finding, places.valueAt(finding.place)))
    const { severity, message, remedy } = finding
    // The counter knows no line of an empty text.
    const at = { line: Math.max(line, 1), column: Math.max(col, 1) }
    return {
      severity,
      ...at,
      path: pathText(finding.place),
      message,
      ...(remedy !== undefined && { remedy }),
    }
  })
  problems.sort((left, right) => left.line - right.line || left.column - right.column)
  return problems.slice(0, MAX_PROBLEMS)
}

/** From the nodes of the text to JSON. */
class NodeReader {
  private readonly places: SourcePositions
  private readonly findings: Findings
  private readonly anchors = new Map<string, Node>()
  private nodes = 0

  constructor(places: SourcePositions, findings: Findings) {
    this.places = places
    this.findings = findings
  }

  value(node: Node | null, place: Place, key?: Node): Json {
    if (node === null) {
      if (key) this.places.keep(place, key, key)
      return null
    }
    this.places.keep(place, node, key)
    if (++this.nodes > MAX_NODES || place.length > MAX_NESTING) {
      if (!this.findings.hasErrors)
        this.findings.error(place, 'it is too large or nested too deeply, by its aliases perhaps')
      return null
    }
    if (isAlias(node)) return this.aliased(node.source, place, key)
    if ('anchor' in node && typeof node.anchor === 'string') this.anchors.set(node.anchor, node)
    if (isMap(node)) return this.map(node.items as Pair[], place)
    if (isSeq(node))
      return node.items.map((item, index) => this.value(item as Node | null, [...place, index]))
    return this.scalar((node as Scalar).value, place)
  }

  private aliased(name: string, place: Place, key: Node | undefined): Json {
    const target = this.anchors.get(name)
    if (target !== undefined) return this.value(target, place, key)
    this.findings.error(place, `there is no anchor &${name} above`)
    return null
  }

  private map(items: readonly Pair[], place: Place): Json {
    const map: Record<string, Json> = {}
    for (const { key, value } of items) {
      const name = isScalar(key) && !isAlias(key) ? String(key.value) : undefined
      // In quotes it is a key like any other.
      const merges = name === '<<' && (key as Scalar).type === 'PLAIN'
      if (name === undefined || merges || name === '__proto__') {
        this.findings.error(
          this.places.textAt(key?.range?.[0] ?? 0, place),
          merges ? 'merge keys (<<) are not read' : 'this cannot be a key',
        )
        continue
      }
      const inner = [...place, name]
      if (Object.hasOwn(map, name)) {
        this.findings.error(this.places.textAt(key?.range?.[0] ?? 0, inner), `${name} stands here twice`)
        continue
      }
      map[name] = this.value(value, inner, key as Node)
    }
    return map
  }

  private scalar(value: unknown, place: Place): Json {
    if (typeof value === 'string') this.places.texts.set(JSON.stringify(place), value)
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
    const number = typeof value === 'bigint' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) {
      this.findings.error(place, 'this is no value that JSON knows')
      return null
    }
    if (typeof value === 'bigint' && String(value) !== String(number)) {
      this.findings.error(place, `${value} is beyond 2^53, where numbers are no longer exact`, {
        remedy: 'Put it in quotes',
      })
    }
    return number
  }
}

interface Pair {
  readonly key: Node | null
  readonly value: Node | null
}
