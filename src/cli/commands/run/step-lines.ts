/** A step on one line: what it does now, or how it ended. */
import pc from 'picocolors'
import type { Lacking } from '../../../executions/shown-engines.ts'
import type { StepWait } from '../../../executions/shown-steps.ts'
import { visibleLine } from '../../output.ts'
import { duration, whenIs } from '../../times.ts'
import { count } from '../upload/layout.ts'
import type { EndedStep, ShownStep } from './course.ts'

const BAR = 24

export function endedLine(step: EndedStep, width: number): string {
  const took = duration(step.ended.getTime() - step.began.getTime())
  const again = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
  const name = step.step.padEnd(width)
  switch (step.status) {
    case 'partial':
      return `${pc.yellow('◐')} ${name}  ${pc.yellow('partial')}  ${countsText(step)}  ${pc.dim(took)}`
    case 'failed':
      return `${pc.red('✖')} ${name}  ${pc.red(visibleLine(step.error ?? countsText(step)))}  ${pc.dim(took + again)}`
    case 'timed_out':
      return `${pc.yellow('◷')} ${name}  ${pc.yellow(lateText(step))}  ${pc.dim(took)}`
    default:
      return `${pc.green('✔')} ${name}  ${step.loop ? `${countsText(step)}  ` : ''}${pc.dim(took + again)}`
  }
}

function lateText({ wait }: ShownStep): string {
  if (wait?.kind === 'event') return visibleLine(`${wait.event} did not come in time`)
  return wait?.kind === 'approval' ? 'nobody decided in time' : 'nobody answered in time'
}

function countsText({ loop }: ShownStep): string {
  if (!loop) return ''
  const { total, done, failed } = loop
  if (failed === 0 && done === total) return countOf(total)
  const rest = total - done - failed
  return [
    `${count(done)} done`,
    failed > 0 && `${count(failed)} failed`,
    rest > 0 && `${count(rest)} not begun`,
    `of ${count(total)}`,
  ]
    .filter(Boolean)
    .join(', ')
    .replace(', of', ' of')
}

export function activeLine(step: ShownStep, width: number, now = new Date()): string {
  const name = step.step.padEnd(width)
  const since = pc.dim(duration(now.getTime() - step.began.getTime()))
  if (step.kind === 'loop') return `${pc.cyan('●')} ${name}  ${loopText(step, now)}`
  if (step.kind === 'wait') return `${pc.yellow('○')} ${name}  ${waitText(step.wait)}  ${since}`
  if (step.retryAt !== undefined) {
    return `${pc.yellow('↻')} ${name}  ${pc.yellow(`attempt ${step.attempt} failed, again ${step.retryAt > now ? whenIs(step.retryAt, now) : 'now'}`)}`
  }
  const what =
    step.kind === 'child'
      ? `execution ${step.child ?? ''}`
      : step.attempt > 1
        ? `attempt ${step.attempt}`
        : ''
  return `${pc.cyan('●')} ${name}  ${what === '' ? '' : `${what}  `}${since}`
}

function loopText({ loop, began }: ShownStep, now: Date): string {
  const { total, done, failed } = loop!
  const share = total === 0 ? 1 : (done + failed) / total
  const full = Math.round(share * BAR)
  const seconds = Math.max(0.1, (now.getTime() - began.getTime()) / 1000)
  const bar = pc.cyan('█'.repeat(full)) + pc.dim('░'.repeat(BAR - full))
  const parts = [
    bar,
    `${Math.floor(share * 100)} %`.padStart(5),
    `${count(done)} of ${count(total)}`,
    failed > 0 ? pc.red(`${count(failed)} failed`) : '',
    pc.dim(`${count(Math.round((done + failed) / seconds))}/s`),
    pc.dim(leftText(total - done - failed, (done + failed) / seconds, seconds)),
  ]
  return parts.filter(Boolean).join('  ')
}

/** Of the first moments nothing can be told. */
function leftText(rest: number, rate: number, seconds: number): string {
  return rest > 0 && rate > 0 && seconds > 2 ? `${duration((rest / rate) * 1000)} left` : ''
}

/** What waits, and for which handlers: 1,550 items of geocode wait for the handler geocode, which no running process has */
export function lackingText(lacking: readonly Lacking[]): string {
  const [first, ...others] = lacking
  const { step, needs, items } = first!
  const what =
    items === null
      ? `the step ${step} waits`
      : `${countOf(items)} of ${step} ${items === 1 ? 'waits' : 'wait'}`
  const handlers = `${needs.length === 1 ? 'handler' : 'handlers'} ${needs.join(', ')}`
  const more = others.length === 0 ? '' : ` (and ${others.map((one) => one.step).join(', ')} likewise)`
  return visibleLine(`${what} for the ${handlers}, which no running process has${more}`)
}

function countOf(items: number): string {
  return `${count(items)} ${items === 1 ? 'item' : 'items'}`
}

export function waitText(wait: StepWait | undefined): string {
  if (wait === undefined) return 'waits'
  const until = wait.wake_at === null ? '' : `, at most until ${wait.wake_at.toISOString().slice(0, 16)}Z`
  switch (wait.kind) {
    case 'timer':
      return `waits until ${wait.wake_at!.toISOString().slice(0, 19)}Z (${whenIs(wait.wake_at!)})`
    case 'event':
      return visibleLine(
        `waits for ${wait.event}${wait.subject === null ? '' : ` of ${wait.subject}`}${until}`,
      )
    case 'approval':
      return `waits for a decision on staging record ${wait.staging_record_id}${until}`
  }
}
