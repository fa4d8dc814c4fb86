/**
 * Regular expressions of `matches`. JavaScript's engine can take time without end where the one that CEL asks for cannot:
 * one pattern would hold up every execution of the process.
 */
import type { ASTNode } from '@marcbachmann/cel-js'
import { ExpressionError } from './expression-error.ts'
import { operandsOf } from './paths.ts'

const LONGEST = 500

export function refuseSlowPatterns(text: string, node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches') refuseSlow(text, node.args[2][0])
  for (const operand of operandsOf(node)) refuseSlowPatterns(text, operand)
}

function refuseSlow(text: string, pattern: ASTNode | undefined): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new ExpressionError(text, 'the pattern of matches() must be written out, not computed', at(pattern))
  }
  if (pattern.args.length > LONGEST) {
    throw new ExpressionError(text, `the pattern is longer than ${LONGEST} characters`, at(pattern))
  }
  try {
    new RegExp(pattern.args, 'u')
  } catch (error) {
    throw new ExpressionError(text, `the pattern is wrong: ${(error as Error).message}`, at(pattern))
  }
  if (repeatsGroup(pattern.args) || /\\[1-9k]/.test(pattern.args)) {
    throw new ExpressionError(
      text,
      'the pattern repeats a group or refers back to one, which can take time without end',
      at(pattern),
    )
  }
}

/** `(…)*`, `(…)+`, `(…){2,}`; `(…)?` is harmless. */
function repeatsGroup(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\./gs, '_').replaceAll(/\[[^\]]*\]/g, '_')
  return /\)[*+{]/.test(plain)
}

function at(node: ASTNode | undefined): { offset?: number } {
  return node === undefined ? {} : { offset: node.start }
}
