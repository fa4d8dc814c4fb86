/**
 * Reads the tree into which PostgreSQL itself has parsed and resolved a statement, as pg_proc.prosqlbody shows it: `{NODE :field value …}`,
 * lists in parentheses, everything else a word. The format is that of the server (read.c), not SQL.
 */
import { StagedoorError } from '../../kernel/errors.ts'

export type TreeValue = string | TreeNode | readonly TreeValue[]

export class TreeNode {
  readonly label: string
  private readonly fields = new Map<string, readonly TreeValue[]>()

  constructor(label: string) {
    this.label = label
  }

  set(field: string, values: readonly TreeValue[]): void {
    this.fields.set(field, values)
  }

  /** The word of a field; undefined: there is none, or it is a node. */
  word(field: string): string | undefined {
    const value = this.fields.get(field)?.[0]
    return typeof value === 'string' && value !== '<>' ? value : undefined
  }

  number(field: string): number {
    return Number(this.word(field) ?? 0)
  }

  node(field: string): TreeNode | undefined {
    const value = this.fields.get(field)?.[0]
    return value instanceof TreeNode ? value : undefined
  }

  /** The members of a list; none where the field is empty. */
  list(field: string): readonly TreeValue[] {
    const value = this.fields.get(field)?.[0]
    return Array.isArray(value) ? value : []
  }

  nodes(field: string): TreeNode[] {
    return this.list(field).filter((value) => value instanceof TreeNode)
  }

  entries(): IterableIterator<[string, readonly TreeValue[]]> {
    return this.fields.entries()
  }
}

export function readNodeTree(text: string): TreeValue {
  const words = tokens(text)
  let place = 0
  const value = (): TreeValue => {
    const word = words[place++]
    if (word === undefined) throw unreadable()
    if (word === OPEN_LIST) {
      const list: TreeValue[] = []
      while (words[place] !== CLOSE_LIST) list.push(value())
      place++
      return list
    }
    if (word !== OPEN_NODE) {
      if (typeof word !== 'string') throw unreadable()
      return word
    }
    const node = new TreeNode(String(words[place++]))
    while (words[place] !== CLOSE_NODE) {
      const field = words[place++]
      if (typeof field !== 'string' || !field.startsWith(':')) throw unreadable()
      // At least one, whatever it looks like: a name may begin with a colon.
      const values = [value()]
      while (words[place] !== CLOSE_NODE && !String(words[place]).startsWith(':')) values.push(value())
      node.set(field.slice(1), values)
    }
    place++
    return node
  }
  const tree = value()
  if (place !== words.length) throw unreadable()
  return tree
}

/** All nodes, parents first. */
export function* walk(value: TreeValue): Generator<TreeNode> {
  if (typeof value === 'string') return
  if (!(value instanceof TreeNode)) {
    for (const one of value) yield* walk(one)
    return
  }
  yield value
  for (const [, values] of value.entries()) for (const one of values) yield* walk(one)
}

const OPEN_NODE = Symbol('{')
const CLOSE_NODE = Symbol('}')
const OPEN_LIST = Symbol('(')
const CLOSE_LIST = Symbol(')')
const BRACKETS: Readonly<Record<string, symbol>> = {
  '{': OPEN_NODE,
  '}': CLOSE_NODE,
  '(': OPEN_LIST,
  ')': CLOSE_LIST,
}

/** A backslash makes the next character part of a word: so no name of a user is a bracket or ends a word. */
function tokens(text: string): (string | symbol)[] {
  const found: (string | symbol)[] = []
  for (const [word] of text.matchAll(/[{}()]|(?:\\[\s\S]|[^\s{}()\\])+/g)) {
    found.push(BRACKETS[word] ?? word.replace(/\\([\s\S])/g, '$1'))
  }
  return found
}

function unreadable(): StagedoorError {
  return new StagedoorError('internal', {
    reason: 'PostgreSQL shows a statement in a form that is not known',
  })
}
