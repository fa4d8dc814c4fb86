/** Parses a playbook from text or from a definition in TypeScript, and reports all its problems at once. */
import type { Json } from '../../kernel/json.ts'
import { type CheckOptions, checkPlaybook } from './check.ts'
import {
  type Arc,
  EXPRESSION_ROOTS,
  isReservedInCel,
  type Loop,
  type LoopMode,
  type Next,
  PLAYBOOK_NAME,
  type Playbook,
  type Retry,
  STEP_NAME,
  type Step,
  TOOLS,
  type ToolCall,
  toStepName,
  type Wait,
  type WrittenPlaybook,
} from './definition.ts'
import {
  Fields,
  type Finding,
  Findings,
  isMap,
  type Place,
  type Problem,
  pathText,
  playbookInvalid,
} from './findings.ts'
import { readSource } from './source.ts'

export interface ParsedPlaybook {
  /** Undefined when one of the problems is an error. */
  readonly playbook: Playbook | undefined
  /** Errors and warnings, in the order of the text. */
  readonly problems: readonly Problem[]
}

/** YAML or JSON, as people write it or as it is run. */
export function parsePlaybook(text: string, options: CheckOptions = {}): ParsedPlaybook {
  const source = readSource(text)
  if (source.value === undefined)
    return { playbook: undefined, problems: source.problems(source.findings.all) }
  const { playbook, findings } = readAndCheck(source.value, options)
  return { playbook, problems: source.problems(findings) }
}

/** For one who wants the playbook or an error. */
export function requirePlaybook(text: string, options: CheckOptions = {}): Playbook {
  const { playbook, problems } = parsePlaybook(text, options)
  if (playbook !== undefined) return playbook
  throw playbookInvalid(nameIn(text) ?? 'The playbook', problems)
}

/** What was written, brought to its form and checked; places are those of the writing. */
function readAndCheck(
  value: Json,
  options: CheckOptions,
): { playbook: Playbook | undefined; findings: readonly Finding[] } {
  const origins = new WrittenPlaces()
  const reading = new Findings()
  const playbook = readPlaybook(value, origins, reading)
  if (playbook === undefined) return { playbook: undefined, findings: reading.all }
  const checking = checkPlaybook(playbook, options).all.map((finding) => ({
    ...finding,
    place: origins.of(finding.place),
  }))
  const findings = [...reading.all, ...checking]
  const refused = findings.some(({ severity }) => severity === 'error')
  return { playbook: refused ? undefined : playbook, findings }
}

function nameIn(text: string): string | undefined {
  return /^\s*"?name"?\s*:\s*["']?([a-z][\w.:-]{0,62})/m.exec(text)?.[1]
}

/**
 * A playbook in TypeScript, with the same checks as one in YAML. Throws playbook_invalid with every problem. An arc to a step that does
 * not exist does not even compile.
 */
export function definePlaybook<const Name extends string>(written: WrittenPlaybook<Name>): Playbook {
  // Undefined fields and what is no data do not survive: what is checked is what will be kept.
  const value = JSON.parse(JSON.stringify(written)) as Json
  const { playbook, findings } = readAndCheck(value, {})
  if (playbook !== undefined) return playbook
  const problems = findings.map(({ severity, place, message, remedy }): Problem => {
    return { severity, path: pathText(place), message, ...(remedy !== undefined && { remedy }) }
  })
  throw playbookInvalid(typeof written.name === 'string' ? written.name : 'The playbook', problems)
}

// What was written is brought to the form in which it is run. A part that cannot be read is left out, with a finding.

const PLAYBOOK_KEYS = ['name', 'description', 'args', 'start', 'steps', 'output']
const MAX_PLAYBOOK_STEPS = 500

function readPlaybook(written: Json, origins: WrittenPlaces, findings: Findings): Playbook | undefined {
  const fields = Fields.of(written, { place: [], findings }, 'a playbook', PLAYBOOK_KEYS)
  if (fields === undefined) return undefined
  const name = fields.required('name', 'a playbook') ? readPlaybookName(fields) : undefined
  const description = fields.text('description')
  const steps = fields.required('steps', 'a playbook') ? readSteps(fields, origins) : []
  const start = fields.text('start') ?? steps[0]?.step
  const output = fields.value('output')
  return {
    name: name ?? '',
    ...(description !== undefined && { description }),
    args: readArgs(fields),
    start: start ?? '',
    steps,
    ...(output !== undefined && { output }),
  }
}

function readPlaybookName(fields: Fields): string | undefined {
  const name = fields.text('name')
  if (name === undefined || PLAYBOOK_NAME.test(name)) return name
  return fields.error(
    'name',
    'a playbook is called by at most 63 small letters, digits and _ . : -, beginning with a letter',
  )
}

function readArgs(fields: Fields): Playbook['args'] {
  const args = fields.value('args') ?? {}
  if (!isMap(args)) {
    fields.error(
      'args',
      'args is a map of what an execution can be given, with the values that hold otherwise',
    )
    return {}
  }
  for (const name of Object.keys(args)) {
    if (!STEP_NAME.test(name)) {
      fields.findings.error(['args', name], 'an argument is called by letters, digits and _', { key: true })
    }
  }
  return args
}

function readSteps(fields: Fields, origins: WrittenPlaces): Step[] {
  const list = fields.value('steps')
  if (!Array.isArray(list) || list.length === 0) {
    fields.error('steps', 'steps is a list of at least one step', 'Begin each with `- step: NAME`')
    return []
  }
  if (list.length > MAX_PLAYBOOK_STEPS) {
    fields.error(
      'steps',
      `a playbook has at most ${MAX_PLAYBOOK_STEPS} steps, this has ${list.length}`,
      'Move some into a playbook of their own',
    )
  }
  const steps: Step[] = []
  list.slice(0, MAX_PLAYBOOK_STEPS).forEach((value, index) => {
    const { findings } = fields
    const at = { place: ['steps', index], index: steps.length, origins, findings }
    const step = readStep(value as Json, at)
    if (step !== undefined) steps.push(step)
  })
  return steps
}

// A step as written, brought to the form in which it is run.

const STEP_KEYS =
  `step description tool call args tools loop wait approval retry timeout timeout_ms on_error next`.split(' ')
const MAX_TOOLS = 20
const MAX_ARCS = 100
const LOOP_MODES: readonly LoopMode[] = ['sequential', 'parallel', 'fanout']
const DEFAULT_MAX_IN_FLIGHT: Readonly<Record<LoopMode, number>> = {
  sequential: 1,
  parallel: 16,
  fanout: 2_000,
}
const NO_RETRY: Retry = { attempts: 1, backoff_ms: 1_000, max_backoff_ms: 300_000 }

interface StepPlace {
  readonly place: Place
  /** Its place among the steps that are run. */
  readonly index: number
  readonly origins: WrittenPlaces
  readonly findings: Findings
}

/** Undefined when it has not even a name. */
function readStep(value: Json, { place, index, origins, findings }: StepPlace): Step | undefined {
  const fields = Fields.of(value, { place, findings }, 'a step', STEP_KEYS)
  if (fields === undefined || !fields.required('step', 'a step')) return undefined
  const step = readStepName(fields)
  const normal = ['steps', index]
  origins.keep(normal, place)
  const description = fields.text('description')
  const request = fields.has('approval') ? readRequest(fields, normal, origins) : undefined
  const tools = request === undefined ? readTools(fields, normal, origins) : [request]
  const loop = fields.has('loop') ? readLoop(fields.value('loop'), fields.at('loop'), findings) : undefined
  const wait =
    request !== undefined
      ? ({ kind: 'request' } as const)
      : fields.has('wait')
        ? readWait(fields.value('wait'), fields.at('wait'), findings)
        : undefined
  const timeout_ms = fields.duration('timeout', 1)
  refuseConflictingKeys(fields)
  const next = readNext(fields, [...normal, 'next'], origins)
  if (step === undefined) return undefined
  return {
    step,
    ...(description !== undefined && { description }),
    tools,
    ...(loop !== undefined && { loop }),
    ...(wait !== undefined && { wait }),
    retry: readRetry(fields),
    ...(timeout_ms !== undefined && { timeout_ms }),
    on_error: fields.choice('on_error', ['fail', 'continue']) ?? 'fail',
    next,
  }
}

function readStepName(fields: Fields): string | undefined {
  const name = fields.text('step')
  if (name === undefined) return undefined
  if (!STEP_NAME.test(name)) {
    fields.error(
      'step',
      `a step is called by letters, digits and _ (at most 63), not ${JSON.stringify(name.slice(0, 80))}`,
      `Call it ${toStepName(name)}`,
    )
  } else if (isReservedInCel(name)) {
    fields.error('step', `${name} is a word of CEL and cannot name a step`, `Call it ${name}_step`)
  }
  return name
}

function hasTools(fields: Fields): boolean {
  const tools = fields.value('tools')
  return fields.has('tool') || (tools !== undefined && !(Array.isArray(tools) && tools.length === 0))
}

function refuseConflictingKeys(fields: Fields): void {
  const { findings, place } = fields
  if (fields.has('approval')) {
    for (const key of ['tool', 'tools', 'wait', 'loop'])
      if (fields.has(key))
        findings.error(fields.at(key), `a step that asks for an approval has no ${key}`, {
          key: true,
          remedy: 'Make it two steps',
        })
    return
  }
  if (!fields.has('wait')) {
    if (!hasTools(fields)) {
      findings.error(place, 'this step does nothing', {
        remedy: `Give it a tool (${TOOLS.join(', ')}), a wait or an approval`,
      })
    }
    return
  }
  if (hasTools(fields) && !isNormalizedRequest(fields)) {
    const key = fields.has('tool') ? 'tool' : 'tools'
    findings.error(fields.at(key), 'a step waits or runs tools, not both', {
      key: true,
      remedy: 'Make it two steps',
    })
  }
  if (fields.has('loop')) findings.error(fields.at('loop'), 'a step that waits has no loop', { key: true })
  if (fields.has('timeout') || fields.has('timeout_ms')) {
    const key = fields.has('timeout') ? 'timeout' : 'timeout_ms'
    findings.error(fields.at(key), 'the timeout of a wait stands in it', {
      key: true,
      remedy: 'Write wait: {…, timeout: 2d}',
    })
  }
}

/** A step that asks for an approval, as it is run. */
function isNormalizedRequest(fields: Fields): boolean {
  const [wait, tools] = [fields.value('wait'), fields.value('tools')]
  return isMap(wait) && wait.kind === 'request' && Array.isArray(tools) && tools.length === 1
}

/** `approval: {…}` is the tool `approval` with these arguments, and the wait for the decision. */
function readRequest(fields: Fields, normal: Place, origins: WrittenPlaces): ToolCall | undefined {
  const args = fields.value('approval')
  origins.keep([...normal, 'tools', 0], fields.place)
  origins.keep([...normal, 'tools', 0, 'args'], fields.at('approval'))
  if (isMap(args)) return { tool: 'approval', args }
  return fields.error('approval', 'approval is a map of title, show, reviewers, form …')
}

function readTools(fields: Fields, normal: Place, origins: WrittenPlaces): ToolCall[] {
  const several = fields.value('tools')
  if (several === undefined) {
    const at = [...normal, 'tools', 0]
    origins.keep(at, fields.place)
    if (fields.has('tool')) return [readTool(fields)].flatMap((tool) => tool ?? [])
    for (const key of ['call', 'args']) {
      if (fields.has(key)) fields.error(key, `${key} is for a tool, and there is none`)
    }
    return []
  }
  for (const key of ['tool', 'call', 'args']) {
    if (fields.has(key))
      fields.error(key, `${key} must be inside one of the tools if there is a list of tools`)
  }
  if (!Array.isArray(several)) {
    fields.error('tools', 'tools is a list of {tool, call, args}')
    return []
  }
  if (several.length > MAX_TOOLS) fields.error('tools', `a step has at most ${MAX_TOOLS} tools`)
  const tools: ToolCall[] = []
  several.slice(0, MAX_TOOLS).forEach((value, index) => {
    const place = [...fields.at('tools'), index]
    const inner = Fields.of(value as Json, { place, findings: fields.findings }, 'a tool', [
      'tool',
      'call',
      'args',
    ])
    const tool = inner?.required('tool', 'each of tools') ? readTool(inner) : undefined
    if (tool === undefined) return
    origins.keep([...normal, 'tools', tools.length], place)
    tools.push(tool)
  })
  return tools
}

function readTool(fields: Fields): ToolCall | undefined {
  const tool = fields.choice('tool', TOOLS)
  const call = fields.text('call', 200)
  const args = fields.value('args') ?? {}
  if (!isMap(args)) fields.error('args', 'args is a map')
  if (tool === undefined) return undefined
  return { tool, ...(call !== undefined && { call }), args: isMap(args) ? args : {} }
}

function readRetry(fields: Fields): Retry {
  const value = fields.value('retry')
  if (value === undefined) return NO_RETRY
  if (typeof value === 'number') return { ...NO_RETRY, attempts: fields.whole('retry', 1, 100) ?? 1 }
  const known = ['attempts', 'backoff', 'max_backoff', 'backoff_ms', 'max_backoff_ms']
  const inner = Fields.of(value, { place: fields.at('retry'), findings: fields.findings }, 'retry', known)
  if (!inner?.required('attempts', 'retry')) return NO_RETRY
  const backoff_ms = inner.duration('backoff', 0) ?? NO_RETRY.backoff_ms
  const most = inner.duration('max_backoff', 0)
  if (most !== undefined && most < backoff_ms)
    inner.error('max_backoff', 'max_backoff is shorter than backoff')
  const max_backoff_ms = most ?? Math.max(NO_RETRY.max_backoff_ms, backoff_ms)
  return { attempts: inner.whole('attempts', 1, 100) ?? 1, backoff_ms, max_backoff_ms }
}

function readLoop(value: Json | undefined, place: Place, findings: Findings): Loop | undefined {
  const known = ['in', 'as', 'mode', 'max_in_flight', 'fail_fast', 'allow_partial', 'key']
  const fields = Fields.of(value, { place, findings }, 'loop', known)
  if (fields === undefined) return undefined
  const collection = fields.required('in', 'loop') ? readCollection(fields) : undefined
  const mode = fields.choice('mode', LOOP_MODES) ?? 'sequential'
  const max_in_flight = fields.whole('max_in_flight', 1, 10_000) ?? DEFAULT_MAX_IN_FLIGHT[mode]
  if (mode === 'sequential' && max_in_flight > 1) {
    fields.error(
      'max_in_flight',
      'a sequential loop takes one item at a time',
      'Write mode: parallel or mode: fanout',
    )
  }
  const key = fields.text('key')
  return {
    in: collection ?? [],
    as: readItemName(fields),
    mode,
    max_in_flight,
    fail_fast: fields.flag('fail_fast', false),
    allow_partial: fields.flag('allow_partial', false),
    ...(key !== undefined && { key }),
  }
}

function readCollection(fields: Fields): Json | undefined {
  const value = fields.value('in')
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return fields.error('in', `in is a list, or \${…} that gives one`)
  if (/^\s*\$\{[\s\S]*\}\s*$/.test(value)) return value.trim()
  return fields.error(
    'in',
    `in is a list, or \${…} that gives one`,
    `Write in: \${${value.trim().slice(0, 80)}}`,
  )
}

function readItemName(fields: Fields): string {
  const name = fields.text('as') ?? 'item'
  if (!STEP_NAME.test(name) || isReservedInCel(name))
    fields.error('as', `${name} cannot name an item in expressions`)
  if ((EXPRESSION_ROOTS as readonly string[]).includes(name))
    fields.error('as', `${name} has a meaning of its own in expressions`)
  return name
}

function readNext(fields: Fields, normal: Place, origins: WrittenPlaces): Next {
  const value = fields.value('next')
  const place = fields.at('next')
  const none: Next = { mode: 'exclusive', arcs: [] }
  if (value === undefined || value === null) return none
  origins.keep([...normal, 'arcs'], place)
  if (typeof value === 'string') {
    origins.keep([...normal, 'arcs', 0, 'step'], place)
    return { mode: 'exclusive', arcs: [{ step: value }] }
  }
  if (Array.isArray(value))
    return { mode: 'exclusive', arcs: readArcs(value, { place, normal, origins, findings: fields.findings }) }
  const inner = Fields.of(value, { place, findings: fields.findings }, 'next', ['mode', 'arcs'])
  if (!inner?.required('arcs', 'next')) return none
  const arcs = inner.value('arcs')
  if (!Array.isArray(arcs)) {
    inner.error('arcs', 'arcs is a list of {when, step}')
    return none
  }
  const mode = inner.choice('mode', ['exclusive', 'inclusive']) ?? 'exclusive'
  return {
    mode,
    arcs: readArcs(arcs, { place: inner.at('arcs'), normal, origins, findings: fields.findings }),
  }
}

interface ArcsPlace {
  readonly place: Place
  /** Of the arcs in the normal form. */
  readonly normal: Place
  readonly origins: WrittenPlaces
  readonly findings: Findings
}

function readArcs(list: readonly Json[], { place, normal, origins, findings }: ArcsPlace): Arc[] {
  if (list.length > MAX_ARCS) findings.error(place, `a step has at most ${MAX_ARCS} arcs`)
  const arcs: Arc[] = []
  list.slice(0, MAX_ARCS).forEach((value, index) => {
    const at = [...place, index]
    const arc = typeof value === 'string' ? { step: value } : readArc(value, at, findings)
    if (arc === undefined) return
    origins.keep([...normal, 'arcs', arcs.length], at)
    if (typeof value === 'string') origins.keep([...normal, 'arcs', arcs.length, 'step'], at)
    arcs.push(arc)
  })
  return arcs
}

function readArc(value: Json, place: Place, findings: Findings): Arc | undefined {
  const fields = Fields.of(value, { place, findings }, 'an arc', ['when', 'step'])
  if (!fields?.required('step', 'an arc')) return undefined
  const step = fields.text('step')
  const when = fields.value('when')
  if (when === undefined || when === true) return step === undefined ? undefined : { step }
  if (typeof when === 'boolean') return step === undefined ? undefined : { when: 'false', step }
  const condition = fields.text('when')
  return step === undefined || condition === undefined ? undefined : { when: withoutBraces(condition), step }
}

/** A condition is CEL as it is; `${…}` around it is a habit from templates. */
function withoutBraces(condition: string): string {
  const inner = /^\s*\$\{([\s\S]*)\}\s*$/.exec(condition)?.[1]
  return (inner === undefined || inner.includes('${') ? condition : inner).trim()
}

// `wait`, in each of its forms.

const WAIT_KEYS = ['for', 'until', 'event', 'approval', 'subject', 'match', 'since', 'timeout']
/** As it is run. */
const NORMALIZED_WAIT_KEYS = ['kind', 'for_ms', 'domain', 'type', 'record', 'timeout_ms']
const WAIT_FORMS = ['for', 'until', 'event', 'approval'] as const
type WaitForm = (typeof WAIT_FORMS)[number]

function readWait(value: Json | undefined, place: Place, findings: Findings): Wait | undefined {
  if (isMap(value) && value.kind === 'request' && Object.keys(value).length === 1) return { kind: 'request' }
  const fields = Fields.of(value, { place, findings }, 'wait', [...WAIT_KEYS, ...NORMALIZED_WAIT_KEYS])
  if (fields === undefined) return undefined
  const form = waitFormOf(fields)
  if (form === 'for' || form === 'until') return readTimerWait(fields, form)
  if (form === 'event') return readEventWait(fields)
  return form && readApprovalWait(fields)
}

function waitFormOf(fields: Fields): WaitForm | undefined {
  if (fields.has('kind')) {
    const kind = fields.choice('kind', ['timer', 'event', 'approval'])
    return kind === 'timer' ? (fields.has('until') ? 'until' : 'for') : kind
  }
  const found = WAIT_FORMS.filter((form) => fields.has(form))
  if (found.length === 1) return found[0]
  fields.findings.error(
    fields.place,
    found.length === 0
      ? 'wait does not say for what'
      : `wait is for one thing, not for ${found.join(' and ')}`,
    { remedy: `Write one of {for: 2d}, {until: …}, {event: domain.type}, {approval: "\${…}"}` },
  )
  return undefined
}

function readTimerWait(fields: Fields, form: 'for' | 'until'): Wait | undefined {
  refuseOtherKeys(fields, form === 'for' ? ['kind', 'for', 'for_ms'] : ['kind', 'until'])
  if (form === 'for') {
    const for_ms = fields.duration('for', 1)
    if (for_ms === undefined && !fields.has('for') && !fields.has('for_ms'))
      fields.error('kind', 'a timer needs for or until')
    return for_ms === undefined ? undefined : { kind: 'timer', for_ms }
  }
  const until = fields.text('until')
  if (until === undefined) return undefined
  if (!until.includes('${') && !isZonedTime(until)) {
    return fields.error('until', `until is a time such as 2026-12-24T18:00:00Z, or \${…} that gives one`)
  }
  return { kind: 'timer', until }
}

/** With its zone: a time without one would be another in every process. */
function isZonedTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}

function readEventWait(fields: Fields): Wait | undefined {
  refuseOtherKeys(fields, [
    'kind',
    'event',
    'domain',
    'type',
    'subject',
    'match',
    'since',
    'timeout',
    'timeout_ms',
  ])
  const event = fields.has('event')
    ? fields.text('event')
    : fields.has('domain') && fields.has('type')
      ? `${fields.text('domain')}.${fields.text('type')}`
      : fields.error('kind', 'an event needs domain and type')
  const [, domain, type] = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_.]*)$/.exec(event ?? '') ?? []
  if (event !== undefined && domain === undefined) {
    fields.error('event', 'event is written domain.type, as in staging.record_approved')
  }
  const subject = fields.text('subject')
  const match = fields.value('match')
  if (match !== undefined && !isMap(match))
    fields.error('match', 'match is a map that the payload must contain')
  const since = fields.text('since')
  const timeout_ms = fields.duration('timeout', 1)
  if (domain === undefined || type === undefined) return undefined
  return {
    kind: 'event',
    domain,
    type,
    ...(subject !== undefined && { subject }),
    ...(isMap(match) && { match }),
    ...(since !== undefined && { since }),
    ...(timeout_ms !== undefined && { timeout_ms }),
  }
}

function readApprovalWait(fields: Fields): Wait | undefined {
  refuseOtherKeys(fields, ['kind', 'approval', 'record', 'timeout', 'timeout_ms'])
  const record = fields.text(fields.has('approval') ? 'approval' : 'record')
  const timeout_ms = fields.duration('timeout', 1)
  if (record === undefined) return undefined
  return { kind: 'approval', record, ...(timeout_ms !== undefined && { timeout_ms }) }
}

function refuseOtherKeys(fields: Fields, allowed: readonly string[]): void {
  for (const key of Object.keys(fields.map)) {
    if (allowed.includes(key) || ![...WAIT_KEYS, ...NORMALIZED_WAIT_KEYS].includes(key)) continue
    fields.findings.error(fields.at(key), `${key} has no meaning in this wait`, { key: true })
  }
}

// Where the parts of a playbook as it is run stand in what was written: its short forms have moved some.

class WrittenPlaces {
  private readonly places = new Map<string, Place>()

  keep(normal: Place, written: Place): void {
    this.places.set(JSON.stringify(normal), written)
  }

  of(normal: Place): Place {
    for (let length = normal.length; length > 0; length--) {
      const written = this.places.get(JSON.stringify(normal.slice(0, length)))
      if (written !== undefined) return [...written, ...normal.slice(length)]
    }
    return normal
  }
}
