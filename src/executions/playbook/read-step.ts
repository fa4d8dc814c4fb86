/** A step as written, brought to the one form in which it is run. */
import type { Arc, Json, Loop, LoopMode, Next, Retry, Step, ToolCall } from './definition.ts'
import { TOOLS } from './definition.ts'
import { Fields, isMap } from './fields.ts'
import { asStepName, isWordOfCel, ROOTS, STEP_NAME } from './names.ts'
import type { Origins } from './origins.ts'
import type { Findings, Place } from './problem.ts'
import { readWait } from './read-wait.ts'

const KEYS = `step description tool call args tools loop wait retry timeout timeout_ms on_error next`.split(
  ' ',
)
const MOST_TOOLS = 20
const MOST_ARCS = 100
const MODES: readonly LoopMode[] = ['sequential', 'parallel', 'fanout']
const IN_FLIGHT: Readonly<Record<LoopMode, number>> = { sequential: 1, parallel: 16, fanout: 2_000 }
const NO_RETRY: Retry = { attempts: 1, backoff_ms: 1_000, backoff_most_ms: 300_000 }

/** Undefined when it has not even a name. `index` is its place among the steps that are run. */
export function readStep(
  value: Json,
  place: Place,
  index: number,
  origins: Origins,
  findings: Findings,
): Step | undefined {
  const fields = Fields.of(value, place, findings, 'a step', KEYS)
  if (fields === undefined || !fields.required('step', 'a step')) return undefined
  const step = readName(fields)
  const normal = ['steps', index]
  origins.keep(normal, place)
  const description = fields.text('description')
  const tools = readTools(fields, normal, origins)
  const loop = fields.has('loop') ? readLoop(fields.value('loop'), fields.at('loop'), findings) : undefined
  const wait = fields.has('wait') ? readWait(fields.value('wait'), fields.at('wait'), findings) : undefined
  const timeout_ms = fields.duration('timeout', 1)
  refuseMixtures(fields)
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

function readName(fields: Fields): string | undefined {
  const name = fields.text('step')
  if (name === undefined) return undefined
  if (!STEP_NAME.test(name)) {
    fields.error(
      'step',
      `a step is called by letters, digits and _ (at most 63), not ${JSON.stringify(name.slice(0, 80))}`,
      `Call it ${asStepName(name)}`,
    )
  } else if (isWordOfCel(name)) {
    fields.error('step', `${name} is a word of CEL and cannot name a step`, `Call it ${name}_step`)
  }
  return name
}

function hasTools(fields: Fields): boolean {
  const tools = fields.value('tools')
  return fields.has('tool') || (tools !== undefined && !(Array.isArray(tools) && tools.length === 0))
}

function refuseMixtures(fields: Fields): void {
  const { findings, place } = fields
  if (!fields.has('wait')) {
    if (!hasTools(fields)) {
      findings.error(place, 'this step does nothing', {
        remedy: `Give it a tool (${TOOLS.join(', ')}) or a wait`,
      })
    }
    return
  }
  if (hasTools(fields)) {
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

function readTools(fields: Fields, normal: Place, origins: Origins): ToolCall[] {
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
    if (fields.has(key)) fields.error(key, `${key} stands beside tools; it belongs into one of them`)
  }
  if (!Array.isArray(several)) {
    fields.error('tools', 'tools is a list of {tool, call, args}')
    return []
  }
  if (several.length > MOST_TOOLS) fields.error('tools', `a step has at most ${MOST_TOOLS} tools`)
  const tools: ToolCall[] = []
  several.slice(0, MOST_TOOLS).forEach((value, index) => {
    const place = [...fields.at('tools'), index]
    const inner = Fields.of(value as Json, place, fields.findings, 'a tool', ['tool', 'call', 'args'])
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
  const known = ['attempts', 'backoff', 'backoff_most', 'backoff_ms', 'backoff_most_ms']
  const inner = Fields.of(value, fields.at('retry'), fields.findings, 'retry', known)
  if (!inner?.required('attempts', 'retry')) return NO_RETRY
  const backoff_ms = inner.duration('backoff', 0) ?? NO_RETRY.backoff_ms
  const most = inner.duration('backoff_most', 0)
  if (most !== undefined && most < backoff_ms)
    inner.error('backoff_most', 'backoff_most is shorter than backoff')
  const backoff_most_ms = most ?? Math.max(NO_RETRY.backoff_most_ms, backoff_ms)
  return { attempts: inner.whole('attempts', 1, 100) ?? 1, backoff_ms, backoff_most_ms }
}

function readLoop(value: Json | undefined, place: Place, findings: Findings): Loop | undefined {
  const known = ['in', 'as', 'mode', 'max_in_flight', 'fail_fast', 'allow_partial', 'key']
  const fields = Fields.of(value, place, findings, 'loop', known)
  if (fields === undefined) return undefined
  const collection = fields.required('in', 'loop') ? readCollection(fields) : undefined
  const mode = fields.choice('mode', MODES) ?? 'sequential'
  const max_in_flight = fields.whole('max_in_flight', 1, 10_000) ?? IN_FLIGHT[mode]
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
  if (!STEP_NAME.test(name) || isWordOfCel(name))
    fields.error('as', `${name} cannot name an item in expressions`)
  if ((ROOTS as readonly string[]).includes(name))
    fields.error('as', `${name} has a meaning of its own in expressions`)
  return name
}

function readNext(fields: Fields, normal: Place, origins: Origins): Next {
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
    return { mode: 'exclusive', arcs: readArcs(value, place, normal, origins, fields) }
  const inner = Fields.of(value, place, fields.findings, 'next', ['mode', 'arcs'])
  if (!inner?.required('arcs', 'next')) return none
  const arcs = inner.value('arcs')
  if (!Array.isArray(arcs)) {
    inner.error('arcs', 'arcs is a list of {when, step}')
    return none
  }
  const mode = inner.choice('mode', ['exclusive', 'inclusive']) ?? 'exclusive'
  return { mode, arcs: readArcs(arcs, inner.at('arcs'), normal, origins, fields) }
}

function readArcs(
  list: readonly Json[],
  place: Place,
  normal: Place,
  origins: Origins,
  { findings }: Fields,
): Arc[] {
  if (list.length > MOST_ARCS) findings.error(place, `a step has at most ${MOST_ARCS} arcs`)
  const arcs: Arc[] = []
  list.slice(0, MOST_ARCS).forEach((value, index) => {
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
  const fields = Fields.of(value, place, findings, 'an arc', ['when', 'step'])
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
