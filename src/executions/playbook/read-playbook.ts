/** What was written, brought to the form in which it is run. What cannot be read is left out, with a finding. */
import type { Json, Playbook, Step } from './definition.ts'
import { Fields, isMap } from './fields.ts'
import { PLAYBOOK_NAME, STEP_NAME } from './names.ts'
import type { Origins } from './origins.ts'
import type { Findings } from './problem.ts'
import { readStep } from './read-step.ts'

const KEYS = ['name', 'description', 'args', 'start', 'steps', 'output']
const MOST_STEPS = 500

export function readPlaybook(written: Json, origins: Origins, findings: Findings): Playbook | undefined {
  const fields = Fields.of(written, [], findings, 'a playbook', KEYS)
  if (fields === undefined) return undefined
  const name = fields.required('name', 'a playbook') ? readName(fields) : undefined
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

function readName(fields: Fields): string | undefined {
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

function readSteps(fields: Fields, origins: Origins): Step[] {
  const list = fields.value('steps')
  if (!Array.isArray(list) || list.length === 0) {
    fields.error('steps', 'steps is a list of at least one step', 'Begin each with `- step: NAME`')
    return []
  }
  if (list.length > MOST_STEPS) {
    fields.error(
      'steps',
      `a playbook has at most ${MOST_STEPS} steps, this has ${list.length}`,
      'Move some into a playbook of their own',
    )
  }
  const steps: Step[] = []
  list.slice(0, MOST_STEPS).forEach((value, index) => {
    const step = readStep(value as Json, ['steps', index], steps.length, origins, fields.findings)
    if (step !== undefined) steps.push(step)
  })
  return steps
}
