/** How things of a playbook may be called. */

/** A step's name stands in expressions (`steps.fetch.result`) and in ids. */
export const STEP_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/
export const PLAYBOOK_NAME = /^[a-z][a-z0-9_.:-]{0,62}$/
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,62}$/

/** Roots of expressions; an item of a loop must not hide one. */
export const ROOTS = [
  'args',
  'steps',
  'execution',
  'secret',
  'prev',
  'index',
  'result',
  'error',
  'fanin',
] as const

/** CEL would read these as something else. */
const WORDS_OF_CEL: ReadonlySet<string> = new Set(
  `as break const continue else for function if import in let loop package namespace return var void while true false
  null prototype cel optional dyn int uint double string bool bytes list map type null_type has size timestamp duration`.split(
    /\s+/,
  ),
)

export function isWordOfCel(name: string): boolean {
  return WORDS_OF_CEL.has(name)
}

/** The same name in letters that are allowed: fetch-all is fetch_all. */
export function asStepName(name: string): string {
  const plain = name.trim().replaceAll(/[^A-Za-z0-9_]+/g, '_')
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, 63)
}
