/** What an expression reads: `steps.fetch.result.rows` is the path [steps, fetch, result, rows]. */
import type { ASTNode } from '@marcbachmann/cel-js'

export type Path = readonly (string | number)[]

/** The path, when the whole expression is one. */
export function purePath(node: ASTNode): Path | undefined {
  if (node.op === 'id') return [node.args]
  const key = keyOf(node)
  if (key === undefined) return undefined
  const parent = purePath((node.args as [ASTNode, unknown])[0])
  return parent && [...parent, key]
}

function keyOf(node: ASTNode): string | number | undefined {
  if (node.op === '.') return node.args[1]
  if (node.op !== '[]' || node.args[1].op !== 'value') return undefined
  const key = node.args[1].args
  if (typeof key === 'string') return key
  return typeof key === 'bigint' ? Number(key) : undefined
}

/** Every longest path in it. Names that a macro brings along (`n` in `list.map(n, n + 1)`) are not among them. */
export function pathsOf(node: ASTNode): readonly Path[] {
  const found: Path[] = []
  visit(node, new Set(), found)
  return found
}

function visit(node: ASTNode, own: ReadonlySet<string>, found: Path[]): void {
  const path = purePath(node)
  if (path !== undefined) {
    if (!own.has(path[0] as string) && !isNamespace(path)) found.push(path)
    return
  }
  const named = nameBroughtBy(node)
  const inner = named === undefined ? own : new Set([...own, named])
  for (const child of operandsOf(node)) visit(child, inner, found)
}

/** `cel.bind` and `optional.of` are functions of the language. */
function isNamespace(path: Path): boolean {
  return path.length === 1 && (path[0] === 'cel' || path[0] === 'optional')
}

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter', 'bind'])

function nameBroughtBy(node: ASTNode): string | undefined {
  if (node.op !== 'rcall' || !MACROS.has(node.args[0])) return undefined
  const first = node.args[2][0]
  return node.args[2].length > 1 && first?.op === 'id' ? first.args : undefined
}

export function operandsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'list':
      return node.args
    case 'map':
      return node.args.flat()
    case '!_':
    case '-_':
      return [node.args]
    default:
      return node.args
  }
}
