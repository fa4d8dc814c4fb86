/** The steps of a playbook as a small picture: boxes in the order of the text, arrows to what follows. */
import pc from 'picocolors'
import type { Playbook, Step, Wait } from '../../../executions/playbook/definition.ts'
import { cut, visibleLine } from '../../output.ts'
import { duration } from '../../times.ts'
import { count, screenWidth } from '../upload/layout.ts'

export function pictureOf({ steps, start }: Playbook): string[] {
  const width = Math.max(8, ...steps.map(({ step }) => step.length))
  const entered = steps[0]?.step === start ? [] : [`  ${pc.dim('starts at')} ${start}`]
  const lines = steps.flatMap((step, index) => {
    const following = steps[index + 1]?.step
    return [...boxOf(step, width, arrowBelow(step, following)), ...arcLines(step, width, following)]
  })
  return [...entered, ...lines]
}

/** One arc, always taken, to the step below: nothing needs to be said. */
function arrowBelow({ next }: Step, following: string | undefined): boolean {
  return next.arcs.length === 1 && next.arcs[0]!.when === undefined && next.arcs[0]!.step === following
}

function boxOf(step: Step, width: number, below: boolean): string[] {
  const edge = '─'.repeat(width + 2)
  const middle = Math.floor((width + 2) / 2)
  const goesOn = below || step.next.arcs.length > 0
  const foot = goesOn ? `${'─'.repeat(middle)}┬${'─'.repeat(width + 1 - middle)}` : edge
  const room = Math.max(20, screenWidth() - width - 9)
  const [first = '', ...more] = aboutOf(step)
  return [
    pc.dim(`  ┌${edge}┐`),
    `  ${pc.dim('│')} ${pc.bold(step.step.padEnd(width))} ${pc.dim('│')} ${cut(visibleLine(first), room)}`,
    ...more.map(
      (text) =>
        `  ${pc.dim('│')} ${' '.repeat(width)} ${pc.dim('│')} ${pc.dim(cut(visibleLine(text), room))}`,
    ),
    pc.dim(`  └${foot}┘`),
  ]
}

function arcLines(step: Step, width: number, following: string | undefined): string[] {
  const pad = ' '.repeat(3 + Math.floor((width + 2) / 2))
  const { arcs, mode } = step.next
  if (arrowBelow(step, following)) return [pc.dim(`${pad}▼`)]
  return arcs.map(({ when, step: to }, index) => {
    const corner = index === arcs.length - 1 ? '└' : '├'
    const always = mode === 'exclusive' && index > 0 ? 'otherwise' : 'always'
    return `${pc.dim(`${pad}${corner}─`)} ${pc.dim(when === undefined ? (arcs.length === 1 ? '' : always) : visibleLine(when))}${arcs.length === 1 && when === undefined ? '' : ' '}${pc.dim('→')} ${to}`
  })
}

function aboutOf(step: Step): string[] {
  const does = step.wait
    ? waitText(step.wait)
    : step.tools.map(({ tool, call }) => (call === undefined ? tool : `${tool} ${call}`)).join(', then ')
  const more = [
    step.loop && loopText(step.loop),
    step.retry.attempts > 1 && `${step.retry.attempts} attempts`,
    step.timeout_ms !== undefined && `at most ${duration(step.timeout_ms)} each`,
    step.on_error === 'continue' && 'goes on when it fails',
  ].filter((text) => typeof text === 'string')
  return [
    does,
    ...(step.description === undefined ? [] : [step.description]),
    ...(more.length > 0 ? [more.join(' · ')] : []),
  ]
}

function loopText({ mode, in: collection, max_in_flight, allow_partial }: NonNullable<Step['loop']>): string {
  const over =
    typeof collection === 'string' ? collection : `${count((collection as unknown[]).length)} items`
  const flight = mode === 'sequential' ? '' : `, up to ${count(max_in_flight)} out at a time`
  return `for each of ${over}: ${mode}${flight}${allow_partial ? ', some may fail' : ''}`
}

function waitText(wait: Wait): string {
  switch (wait.kind) {
    case 'timer':
      return wait.until === undefined ? `waits ${duration(wait.for_ms ?? 0)}` : `waits until ${wait.until}`
    case 'event':
      return `waits for ${wait.domain}.${wait.type}${wait.subject === undefined ? '' : ` of ${wait.subject}`}${patience(wait)}`
    case 'approval':
      return `waits for a decision on the staging record ${wait.record}${patience(wait)}`
  }
}

function patience({ timeout_ms }: { timeout_ms?: number }): string {
  return timeout_ms === undefined ? '' : `, at most ${duration(timeout_ms)}`
}
