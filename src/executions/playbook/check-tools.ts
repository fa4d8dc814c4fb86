/** Tools and what they are given. */
import type { Json, Playbook, Step, ToolCall } from './definition.ts'
import { isMap } from './fields.ts'
import { PLAYBOOK_NAME } from './names.ts'
import type { Findings, Place } from './problem.ts'
import { didYouMean } from './suggestion.ts'
import { type ArgumentKind, TOOL_FORMS, type ToolArgument } from './tool-arguments.ts'

export function checkTools(playbook: Playbook, findings: Findings, handlers?: readonly string[]): void {
  playbook.steps.forEach((step, index) => {
    refuseCompany(step, ['steps', index, 'tools'], findings)
    step.tools.forEach((tool, position) => {
      const place = ['steps', index, 'tools', position]
      checkCall(tool, place, findings, handlers)
      checkArguments(tool, place, findings)
    })
  })
}

/** A playbook runs as an execution of its own: there is no command in which others could follow it. */
function refuseCompany({ tools }: Step, place: Place, findings: Findings): void {
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
  const { call: about } = TOOL_FORMS[tool]
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
  const { args: known } = TOOL_FORMS[tool]
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
    } else if (argument !== undefined) checkArgument(name, value, argument, at, findings)
    else {
      const remedy = didYouMean(name, Object.keys(known)) ?? `Known are ${Object.keys(known).join(', ')}`
      findings.error(at, `${tool} has no argument ${name}`, { key: true, remedy })
    }
  }
}

function checkArgument(
  name: string,
  value: Json,
  argument: ToolArgument,
  place: Place,
  findings: Findings,
): void {
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
  } else if (argument.most !== undefined && !isCount(value, argument.most)) {
    findings.error(place, `${name} is a whole number from 1 to ${argument.most}`)
  } else if (argument.choices !== undefined && !argument.choices.includes(String(value))) {
    const remedy = didYouMean(String(value), argument.choices)
    const message = `${name} is one of ${argument.choices.join(', ')}`
    findings.error(place, message, remedy === undefined ? {} : { remedy })
  }
}

function isCount(value: Json, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
}

function isOfKind(value: Json, kind: ArgumentKind): boolean {
  if (kind === 'any') return true
  if (kind === 'text') return typeof value === 'string'
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'map') return isMap(value)
  return typeof value === kind
}
