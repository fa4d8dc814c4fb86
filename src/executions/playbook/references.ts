/** What expressions need of an execution, read from their text: a result that nobody refers to is never loaded. */
import { compile } from './cel.ts'
import type { Json } from './definition.ts'
import { ExpressionError } from './expression-error.ts'
import type { Path } from './paths.ts'
import { partsOf } from './template.ts'

export interface References {
  /** Steps of which anything is needed. */
  readonly steps: string[]
  /** Those whose `result` is needed. */
  readonly values: string[]
  /** Loops whose collected `results` are needed. */
  readonly results: string[]
  readonly args: boolean
  /** Which steps cannot be told (`steps[args.name]`, or `steps` as a whole): every one. */
  readonly all: boolean
}

/** Of templates; the strings of a list may also be conditions, which are CEL without `${}`. */
export function stepsReferredTo(templates: Json | readonly string[]): References {
  const paths: Path[] = []
  if (Array.isArray(templates)) {
    for (const item of templates) if (typeof item === 'string') paths.push(...pathsOfCondition(item))
  }
  collect(templates as Json, paths)
  return referencesIn(paths)
}

export function referencesIn(paths: readonly Path[]): References {
  const steps = new Set<string>()
  const values = new Set<string>()
  const results = new Set<string>()
  let args = false
  let all = false
  for (const [root, step, field] of paths) {
    if (root === 'args') args = true
    if (root !== 'steps') continue
    if (typeof step !== 'string') {
      all = true
      continue
    }
    steps.add(step)
    if (field === undefined || field === 'result') values.add(step)
    if (field === undefined || field === 'results') results.add(step)
  }
  return { steps: [...steps], values: [...values], results: [...results], args, all }
}

function collect(template: Json, paths: Path[]): void {
  if (typeof template === 'string') {
    for (const expression of expressionsIn(template)) paths.push(...pathsOfCondition(expression))
  } else if (typeof template === 'object' && template !== null) {
    for (const inner of Object.values(template)) collect(inner as Json, paths)
  }
}

function expressionsIn(text: string): string[] {
  if (!text.includes('${')) return []
  return quietly(() => partsOf(text).flatMap((part) => (typeof part === 'string' ? [] : [part.expression])))
}

/** Plain text in a list is no condition: what does not compile refers to nothing. */
function pathsOfCondition(text: string): readonly Path[] {
  return quietly(() => [...compile(text).paths])
}

function quietly<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}
