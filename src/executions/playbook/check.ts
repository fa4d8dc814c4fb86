/** Everything that can be known to be wrong with a playbook before it runs. */

import type { Json } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/text.ts'
import { type ArgumentKind, TOOL_SIGNATURES, type ToolArgument } from '../tools/tool.ts'
import { type Compiled, compile, ExpressionError, type Path } from './cel.ts'
import { PLAYBOOK_NAME, type Playbook, SECRET_NAME, type Step, type ToolCall } from './definition.ts'
import { parseTemplate, secretOf } from './expressions.ts'
import { Findings, isMap, type Place } from './findings.ts'

export interface CheckOptions {
  /** Handlers that the process knows; a playbook may be registered by one that does not run it, so others are a warning. */
  readonly handlers?: readonly string[]
  /** Other playbooks, to find those that call each other in a circle. */
  readonly playbooks?: FindPlaybook
}

/** Places are those of the playbook as it is run. */
export function checkPlaybook(playbook: Playbook, options: CheckOptions = {}): Findings {
  const findings = new Findings()
  checkGraph(playbook, findings)
  checkTools(playbook, findings, options.handlers)
  checkSecrets(playbook, findings)
  checkExpressions(playbook, findings)
  checkCalls(playbook, findings, options.playbooks)
  return findings
}

// Steps and the arcs between them.

function checkGraph(playbook: Playbook, findings: Findings): void {
  const names = new Set<string>()
  playbook.steps.forEach(({ step }, index) => {
    if (names.has(step)) {
      findings.error(['steps', index, 'step'], `there are two steps ${step}`, {
        remedy: 'Give one of them another name',
      })
    }
    names.add(step)
  })
  if (playbook.steps.length === 0) return
  refuseUnknownStep(playbook.start, names, ['start'], findings)
  for (const [index, step] of playbook.steps.entries()) {
    checkArcs(step, ['steps', index, 'next', 'arcs'], names, findings)
    const { wait } = step
    if (wait?.kind === 'event' && wait.since !== undefined)
      refuseUnknownStep(wait.since, names, ['steps', index, 'wait', 'since'], findings)
  }
  warnOfUnreachableSteps(playbook, findings)
}

function checkArcs({ next }: Step, place: Place, names: ReadonlySet<string>, findings: Findings): void {
  const always = next.mode === 'exclusive' ? next.arcs.findIndex(({ when }) => when === undefined) : -1
  next.arcs.forEach(({ step }, index) => {
    refuseUnknownStep(step, names, [...place, index, 'step'], findings)
    if (always !== -1 && index > always) {
      findings.warning([...place, index], 'this arc is never taken: the one before it has no condition', {
        remedy: 'Put it above, or write next: {mode: inclusive, arcs: …} to take every arc that holds',
      })
    }
  })
}

function refuseUnknownStep(step: string, names: ReadonlySet<string>, place: Place, findings: Findings): void {
  if (names.has(step)) return
  const known = [...names]
  const list = `The steps are ${known.slice(0, 12).join(', ')}${known.length > 12 ? ' …' : ''}`
  findings.error(place, `there is no step ${step}`, { remedy: didYouMean(step, known) ?? list })
}

function warnOfUnreachableSteps({ start, steps }: Playbook, findings: Findings): void {
  const byName = new Map(steps.map((step) => [step.step, step]))
  const reached = new Set<string>()
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const step = byName.get(name)
    if (step === undefined || reached.has(name)) continue
    reached.add(name)
    waiting.push(...step.next.arcs.map((arc) => arc.step))
  }
  // An unknown start reaches nothing; that is one error, not a warning for each step.
  if (reached.size === 0) return
  steps.forEach(({ step }, index) => {
    if (!reached.has(step)) findings.warning(['steps', index, 'step'], `no arc leads to the step ${step}`)
  })
}

// Tools and what they are given.

function checkTools(playbook: Playbook, findings: Findings, handlers?: readonly string[]): void {
  playbook.steps.forEach((step, index) => {
    refuseToolsWithPlaybook(step, ['steps', index, 'tools'], findings)
    step.tools.forEach((tool, position) => {
      const place = ['steps', index, 'tools', position]
      checkCall(tool, place, findings, handlers)
      checkArguments(tool, place, findings)
    })
  })
}

/** A playbook runs as an execution of its own: there is no command in which others could follow it. */
function refuseToolsWithPlaybook({ tools }: Step, place: Place, findings: Findings): void {
  const position = tools.findIndex(({ tool }) => tool === 'playbook')
  if (position === -1 || tools.length === 1) return
  findings.error([...place, position], 'a playbook is the only tool of its step', {
    remedy: 'Make it a step of its own',
  })
}

function checkCall(
  { tool, call }: ToolCall,
  place: Place,
  findings: Findings,
  handlers?: readonly string[],
): void {
  const { call: about } = TOOL_SIGNATURES[tool]
  if (about === undefined) {
    if (call !== undefined)
      findings.error([...place, 'call'], `${tool} has no call`, { key: true, remedy: 'Write it into args' })
    return
  }
  if (call === undefined) {
    findings.error(place, `${tool} needs call: the name of the ${tool}`)
  } else if (call.includes('${')) {
    findings.error(
      [...place, 'call'],
      `call is a name, not a template: what a step runs is known before it runs`,
    )
  } else if (tool === 'playbook' && !PLAYBOOK_NAME.test(call)) {
    findings.error([...place, 'call'], `${call} cannot be the name of a playbook`)
  } else if (tool === 'handler' && handlers !== undefined && !handlers.includes(call)) {
    const remedy = didYouMean(call, handlers) ?? 'A worker that runs this step must register it'
    findings.warning([...place, 'call'], `there is no handler ${call} here`, { remedy })
  }
}

function checkArguments({ tool, args }: ToolCall, place: Place, findings: Findings): void {
  const { args: known } = TOOL_SIGNATURES[tool]
  if (known === undefined) return
  const { action } = args
  const goesWith = ({ actions }: ToolArgument) => actions === undefined || actions.includes(String(action))
  for (const [name, argument] of Object.entries(known)) {
    if (!argument.required || !goesWith(argument) || Object.hasOwn(args, name)) continue
    findings.error(place, `${tool} needs args.${name}`, { remedy: argument.about })
  }
  const isChosen = known.action?.choices?.includes(String(action))
  for (const [name, value] of Object.entries(args)) {
    const at = [...place, 'args', name]
    const argument = Object.hasOwn(known, name) ? known[name] : undefined
    if (argument !== undefined && isChosen && !goesWith(argument)) {
      findings.error(at, `${name} has no meaning with the action ${action}`, { key: true })
    } else if (argument !== undefined) checkArgument({ name, value, argument, place: at }, findings)
    else {
      const remedy = didYouMean(name, Object.keys(known)) ?? `Known are ${Object.keys(known).join(', ')}`
      findings.error(at, `${tool} has no argument ${name}`, { key: true, remedy })
    }
  }
}

interface WrittenArgument {
  readonly name: string
  readonly value: Json
  readonly argument: ToolArgument
  readonly place: Place
}

function checkArgument({ name, value, argument, place }: WrittenArgument, findings: Findings): void {
  // What a template gives is known when the step runs.
  if (typeof value === 'string' && value.includes('${')) return
  if (value === null && !argument.required) return
  const refused = argument.refused?.get(String(value))
  if (refused !== undefined) {
    findings.error(place, refused)
    return
  }
  if (!isOfKind(value, argument.kind)) {
    findings.error(
      place,
      `${name} is a ${argument.kind}`,
      argument.kind === 'text' ? { remedy: 'Put it in quotes' } : {},
    )
  } else if (argument.required && typeof value === 'string' && value.trim() === '') {
    findings.error(place, `${name} is empty`)
  } else if (argument.max !== undefined && !isCount(value, argument.max)) {
    findings.error(place, `${name} is a whole number from 1 to ${argument.max}`)
  } else if (argument.choices !== undefined && !argument.choices.includes(String(value))) {
    const remedy = didYouMean(String(value), argument.choices)
    const message = `${name} is one of ${argument.choices.join(', ')}`
    findings.error(place, message, remedy === undefined ? {} : { remedy })
  }
}

function isCount(value: Json, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max
}

function isOfKind(value: Json, kind: ArgumentKind): boolean {
  if (kind === 'any') return true
  if (kind === 'text') return typeof value === 'string'
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'map') return isMap(value)
  return typeof value === kind
}

// A playbook is kept, shown and logged: a secret that is written into it is no secret. The messages do not repeat it.

const SECRET_KEY =
  /^(token|pwd|credentials?)$|(password|passwd|passphrase|secret|apikey|apitoken|accesstoken|authtoken|refreshtoken|bearertoken|privatekey|secretkey|accesskey|authorization)$/

const SECRET_VALUES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/, 'a JSON web token'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, 'an AWS access key'],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})/, 'a GitHub token'],
  [/\bglpat-[\w-]{16,}/, 'a GitLab token'],
  [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/, 'a Stripe key'],
  [/\bsk-[A-Za-z0-9_-]{20,}/, 'an API key'],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10,}/, 'a Slack token'],
  [/\bAIza[\w-]{35}/, 'a Google API key'],
  [/\bnpm_[A-Za-z0-9]{36}\b/, 'an npm token'],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/, 'a SendGrid key'],
  [/\b(?:Bearer|Basic) +[\w+/=.~-]{12,}/i, 'an authorization'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@${}]*:[^\s/@${}]+@/i, 'a password in a URL'],
]

function checkSecrets(playbook: Playbook, findings: Findings): void {
  findSecrets(playbook as unknown as Json, [], findings)
}

function findSecrets(value: Json, place: Place, findings: Findings): void {
  if (typeof value === 'string' || typeof value === 'number') {
    const found = secretIn(value, place)
    if (found === undefined) return
    findings.error(place, `${found} is written here`, {
      remedy: `Use \${secret.NAME}, and give the workers the environment variable STAGEDOOR_SECRET_NAME`,
    })
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) findSecrets(inner as Json, [...place, index], findings)
  } else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) findSecrets(inner as Json, [...place, key], findings)
  }
}

function secretIn(value: string | number, place: Place): string | undefined {
  const text = String(value)
  const shape = SECRET_VALUES.find(([pattern]) => pattern.test(text))
  if (shape !== undefined) return shape[1]
  const key = place.at(-1)
  const literal = text.trim() !== '' && !text.includes('${')
  return literal && typeof key === 'string' && isSecretKey(key) ? `a literal ${key}` : undefined
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}

// Every expression of a playbook: that it can be compiled, and that what it reads can be there.

const EXECUTION_FIELDS = ['id', 'playbook', 'version', 'started_by', 'workspace']
const OUTCOME_FIELDS = ['status', 'result', 'error', 'fanin', 'results']
const FANIN_FIELDS = ['status', 'total', 'done', 'failed']
const ROOTS_EVERYWHERE = ['args', 'steps', 'execution']
const ROOTS_AFTER_STEP = [...ROOTS_EVERYWHERE, 'result', 'error', 'fanin']

function checkExpressions(playbook: Playbook, findings: Findings): void {
  const check = new ExpressionCheck(playbook, findings)
  for (const [index, step] of playbook.steps.entries()) checkStep(step, ['steps', index], check)
  if (playbook.output !== undefined) check.template(playbook.output, ['output'], ROOTS_AFTER_STEP)
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
    check.template(
      args,
      [...place, 'tools', index, 'args'],
      [...ROOTS_EVERYWHERE, ...item, 'prev', ...secret],
    )
  })
  if (loop !== undefined) {
    check.collection(loop.in, [...place, 'loop', 'in'])
    if (loop.key !== undefined)
      check.template(loop.key, [...place, 'loop', 'key'], [...ROOTS_EVERYWHERE, ...item])
  }
  if (wait?.kind === 'timer' && wait.until !== undefined)
    check.template(wait.until, [...place, 'wait', 'until'], ROOTS_EVERYWHERE)
  if (wait?.kind === 'approval') check.template(wait.record, [...place, 'wait', 'approval'], ROOTS_EVERYWHERE)
  if (wait?.kind === 'event') {
    if (wait.subject !== undefined)
      check.template(wait.subject, [...place, 'wait', 'subject'], ROOTS_EVERYWHERE)
    if (wait.match !== undefined) check.template(wait.match, [...place, 'wait', 'match'], ROOTS_EVERYWHERE)
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
    this.attempt(place, 0, () => this.roots(compile(text), place, 0, ROOTS_AFTER_STEP))
  }

  /** Of a loop: a list is rendered as every template is, a text must be one expression. */
  collection(value: Json, place: Place): void {
    if (typeof value === 'string') {
      this.attempt(place, 0, () => {
        if (parseTemplate(value).length !== 1)
          this.findings.error(place, `in is one \${…} that gives a list, and nothing else`)
      })
    }
    this.template(value, place, ROOTS_EVERYWHERE)
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
      for (const part of parseTemplate(text)) {
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

  private wrongIn([root, name, field, of]: Path, known: readonly string[]): InvalidReference | undefined {
    if (!known.includes(root as string)) return unknownRoot(root as string, known)
    if (root === 'secret') return invalidSecret(name)
    if (typeof name !== 'string') return undefined
    if (root === 'args') return unknownName(name, this.args, 'the playbook has no argument', 'It has no args')
    if (root === 'execution') return unknownName(name, EXECUTION_FIELDS, 'an execution has no')
    if (root === 'fanin') return unknownName(name, FANIN_FIELDS, 'a fan-in has no')
    return root === 'steps' ? this.wrongStep(name, field, of) : undefined
  }

  private wrongStep(
    name: string,
    field: Path[number] | undefined,
    of: Path[number] | undefined,
  ): InvalidReference | undefined {
    const step = this.steps.get(name)
    if (step === undefined) return unknownName(name, [...this.steps.keys()], 'there is no step')
    if (typeof field !== 'string') return undefined
    if (
      (field === 'results' || field === 'fanin') &&
      OUTCOME_FIELDS.includes(field) &&
      step.loop === undefined
    ) {
      return { message: `the step ${name} has no loop, so it has no ${field}` }
    }
    if (field === 'fanin' && typeof of === 'string') return unknownName(of, FANIN_FIELDS, 'a fan-in has no')
    return unknownName(field, OUTCOME_FIELDS, `a step has no`)
  }
}

interface InvalidReference {
  readonly message: string
  readonly remedy?: string
}

function unknownRoot(root: string, known: readonly string[]): InvalidReference {
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

function invalidSecret(name: string | number | undefined): InvalidReference | undefined {
  if (typeof name === 'string' && SECRET_NAME.test(name)) return undefined
  return {
    message: 'a secret is called by capital letters, digits and _',
    remedy: `Write \${secret.API_TOKEN}`,
  }
}

function unknownName(
  name: string,
  known: readonly string[],
  message: string,
  none = '',
): InvalidReference | undefined {
  if (known.includes(name)) return undefined
  const list = known.length === 0 ? none : `Known are ${known.slice(0, 12).join(', ')}`
  return { message: `${message} \`${name}\``, remedy: didYouMean(name, known) ?? list }
}

// Playbooks that call playbooks: none may come back to itself.

/** Undefined: there is none of that name. */
type FindPlaybook = (name: string) => Playbook | undefined

/** What it starts, by name; for one who fetches them before checking. */
export function calledPlaybooks({ steps }: Playbook): string[] {
  const names = steps.flatMap(({ tools }) =>
    tools.flatMap(({ tool, call }) => (tool === 'playbook' && call !== undefined ? [call] : [])),
  )
  return [...new Set(names)]
}

function checkCalls(playbook: Playbook, findings: Findings, playbooks?: FindPlaybook): void {
  playbook.steps.forEach(({ tools }, index) => {
    tools.forEach(({ tool, call }, position) => {
      if (tool !== 'playbook' || call === undefined) return
      const place = ['steps', index, 'tools', position, 'call']
      const circle = findCallCycle(call, playbook.name, playbooks)
      if (circle?.length === 1) findings.error(place, `the playbook ${playbook.name} calls itself`)
      else if (circle !== undefined) {
        findings.error(
          place,
          `the playbooks call each other in a circle: ${[playbook.name, ...circle].join(' → ')}`,
        )
      } else if (playbooks !== undefined && playbooks(call) === undefined) {
        findings.warning(place, `there is no playbook ${call} yet`, {
          remedy: 'Register it before this one is started',
        })
      }
    })
  })
}

/** The way from `first` to `target`, both included; each playbook is looked at once. */
function findCallCycle(first: string, target: string, playbooks?: FindPlaybook): string[] | undefined {
  if (first === target) return [first]
  const cameFrom = new Map<string, string | undefined>([[first, undefined]])
  const waiting = [first]
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const called = playbooks?.(name)
    for (const next of called === undefined ? [] : calledPlaybooks(called)) {
      if (next === target) return [...callPathTo(name, cameFrom), target]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, name)
      waiting.push(next)
    }
  }
  return undefined
}

function callPathTo(name: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = []
  for (let at: string | undefined = name; at !== undefined; at = cameFrom.get(at)) way.unshift(at)
  return way
}
