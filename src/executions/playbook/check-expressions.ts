/** Every expression of a playbook: that it can be compiled, and that what it reads can be there. */
import { type Compiled, compile } from './cel.ts'
import type { Json, Playbook, Step } from './definition.ts'
import { ExpressionError } from './expression-error.ts'
import { secretOf } from './expressions.ts'
import { SECRET_NAME } from './names.ts'
import type { Path } from './paths.ts'
import type { Findings, Place } from './problem.ts'
import { didYouMean } from './suggestion.ts'
import { partsOf } from './template.ts'

const EXECUTION = ['id', 'playbook', 'version', 'started_by', 'workspace']
const OUTCOME = ['status', 'result', 'error', 'fanin', 'results']
const FANIN = ['status', 'total', 'done', 'failed']
const EVERYWHERE = ['args', 'steps', 'execution']
const AFTER_STEP = [...EVERYWHERE, 'result', 'error', 'fanin']

export function checkExpressions(playbook: Playbook, findings: Findings): void {
  const check = new ExpressionCheck(playbook, findings)
  for (const [index, step] of playbook.steps.entries()) checkStep(step, ['steps', index], check)
  if (playbook.output !== undefined) check.template(playbook.output, ['output'], AFTER_STEP)
  for (const [name, value] of Object.entries(playbook.args)) {
    if (JSON.stringify(value).includes('${')) {
      findings.warning(['args', name], `what stands here is taken as it is: \${…} is not computed`)
    }
  }
}

function checkStep({ tools, loop, wait, next }: Step, place: Place, check: ExpressionCheck): void {
  const item = loop === undefined ? [] : [loop.as, 'index']
  tools.forEach(({ tool, args }, index) => {
    // What a playbook is started with is written to its log.
    const secret = tool === 'playbook' ? [] : ['secret']
    check.template(args, [...place, 'tools', index, 'args'], [...EVERYWHERE, ...item, 'prev', ...secret])
  })
  if (loop !== undefined) {
    check.collection(loop.in, [...place, 'loop', 'in'])
    if (loop.key !== undefined) check.template(loop.key, [...place, 'loop', 'key'], [...EVERYWHERE, ...item])
  }
  if (wait?.kind === 'timer' && wait.until !== undefined)
    check.template(wait.until, [...place, 'wait', 'until'], EVERYWHERE)
  if (wait?.kind === 'approval') check.template(wait.record, [...place, 'wait', 'approval'], EVERYWHERE)
  if (wait?.kind === 'event') {
    if (wait.subject !== undefined) check.template(wait.subject, [...place, 'wait', 'subject'], EVERYWHERE)
    if (wait.match !== undefined) check.template(wait.match, [...place, 'wait', 'match'], EVERYWHERE)
  }
  next.arcs.forEach(({ when }, index) => {
    if (when !== undefined) check.condition(when, [...place, 'next', 'arcs', index, 'when'])
  })
}

class ExpressionCheck {
  private readonly findings: Findings
  private readonly args: readonly string[]
  private readonly steps: ReadonlyMap<string, Step>

  constructor(playbook: Playbook, findings: Findings) {
    this.findings = findings
    this.args = Object.keys(playbook.args)
    this.steps = new Map(playbook.steps.map((step) => [step.step, step]))
  }

  condition(text: string, place: Place): void {
    this.attempt(place, 0, () => this.roots(compile(text), place, 0, AFTER_STEP))
  }

  /** Of a loop: a list is rendered as every template is, a text must be one expression. */
  collection(value: Json, place: Place): void {
    if (typeof value === 'string') {
      this.attempt(place, 0, () => {
        if (partsOf(value).length !== 1)
          this.findings.error(place, `in is one \${…} that gives a list, with nothing beside it`)
      })
    }
    this.template(value, place, EVERYWHERE)
  }

  template(template: Json, place: Place, known: readonly string[]): void {
    if (typeof template === 'string') this.text(template, place, known)
    else if (Array.isArray(template)) {
      for (const [index, inner] of template.entries()) this.template(inner as Json, [...place, index], known)
    } else if (typeof template === 'object' && template !== null) {
      for (const [key, inner] of Object.entries(template)) {
        const at = [...place, key]
        if (key === '__proto__') this.findings.error(at, 'this cannot be a key', { key: true })
        if (key.includes('${')) this.findings.error(at, 'a key is not a template', { key: true })
        this.template(inner as Json, at, known)
      }
    }
  }

  private text(text: string, place: Place, known: readonly string[]): void {
    if (!text.includes('${')) return
    this.attempt(place, 0, () => {
      for (const part of partsOf(text)) {
        if (typeof part === 'string') continue
        this.attempt(place, part.offset, () => {
          const compiled = compile(part.expression)
          secretOf(compiled)
          this.roots(compiled, place, part.offset, known)
        })
      }
    })
  }

  private attempt(place: Place, from: number, check: () => void): void {
    try {
      check()
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      this.findings.error(place, error.message, { offset: from + (error.offset ?? 0) })
    }
  }

  private roots({ text, paths }: Compiled, place: Place, from: number, known: readonly string[]): void {
    const said = new Set<string>()
    for (const path of paths) {
      const wrong = this.wrongIn(path, known)
      if (wrong === undefined || said.has(wrong.message)) continue
      said.add(wrong.message)
      const offset = from + Math.max(0, text.indexOf(String(path[0])))
      const remedy = wrong.remedy === undefined ? {} : { remedy: wrong.remedy }
      this.findings.error(place, `\`${text.trim().slice(0, 120)}\`: ${wrong.message}`, { offset, ...remedy })
    }
  }

  private wrongIn([root, name, field, of]: Path, known: readonly string[]): Wrong | undefined {
    if (!known.includes(root as string)) return unknownRoot(root as string, known)
    if (root === 'secret') return wrongSecret(name)
    if (typeof name !== 'string') return undefined
    if (root === 'args') return oneOf(name, this.args, 'the playbook has no argument', 'It has no args')
    if (root === 'execution') return oneOf(name, EXECUTION, 'an execution has no')
    if (root === 'fanin') return oneOf(name, FANIN, 'a fan-in has no')
    return root === 'steps' ? this.wrongStep(name, field, of) : undefined
  }

  private wrongStep(
    name: string,
    field: Path[number] | undefined,
    of: Path[number] | undefined,
  ): Wrong | undefined {
    const step = this.steps.get(name)
    if (step === undefined) return oneOf(name, [...this.steps.keys()], 'there is no step')
    if (typeof field !== 'string') return undefined
    if ((field === 'results' || field === 'fanin') && OUTCOME.includes(field) && step.loop === undefined) {
      return { message: `the step ${name} has no loop, so it has no ${field}` }
    }
    if (field === 'fanin' && typeof of === 'string') return oneOf(of, FANIN, 'a fan-in has no')
    return oneOf(field, OUTCOME, `a step has no`)
  }
}

interface Wrong {
  readonly message: string
  readonly remedy?: string
}

function unknownRoot(root: string, known: readonly string[]): Wrong {
  if (root === 'secret') {
    return {
      message: 'a secret can stand in the args of tools only, and not in those of a playbook',
      remedy: 'Let the step that needs it name it',
    }
  }
  return {
    message: `there is no \`${root}\` here`,
    remedy: didYouMean(root, known) ?? `Here are ${known.join(', ')}`,
  }
}

function wrongSecret(name: string | number | undefined): Wrong | undefined {
  if (typeof name === 'string' && SECRET_NAME.test(name)) return undefined
  return {
    message: 'a secret is called by capital letters, digits and _',
    remedy: `Write \${secret.API_TOKEN}`,
  }
}

function oneOf(name: string, known: readonly string[], message: string, none = ''): Wrong | undefined {
  if (known.includes(name)) return undefined
  const list = known.length === 0 ? none : `Known are ${known.slice(0, 12).join(', ')}`
  return { message: `${message} \`${name}\``, remedy: didYouMean(name, known) ?? list }
}
