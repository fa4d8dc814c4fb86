/** Regular expressions of `matches`: RE2, as CEL asks for, whose time is in proportion to the text. Wrong ones are named at compile time. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { compilePattern } from './budget.ts'
import { ExpressionError } from './expression-error.ts'
import { operandsOf } from './paths.ts'

const LONGEST = 500

export function refuseBadPatterns(text: string, node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches') refuseBad(text, node.args[2][0])
  for (const operand of operandsOf(node)) refuseBadPatterns(text, operand)
}

function refuseBad(text: string, pattern: ASTNode | undefined): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new ExpressionError(text, 'the pattern of matches() must be written out, not computed', at(pattern))
  }
  if (pattern.args.length > LONGEST) {
    throw new ExpressionError(text, `the pattern is longer than ${LONGEST} characters`, at(pattern))
  }
  try {
    compilePattern(pattern.args)
  } catch (error) {
    throw new ExpressionError(text, `the pattern is wrong: ${(error as Error).message}`, at(pattern))
  }
}

function at(node: ASTNode | undefined): { offset?: number } {
  return node === undefined ? {} : { offset: node.start }
}
