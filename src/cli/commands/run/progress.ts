/** Steps as they go: on a terminal what ended stays and what is under way moves below it; elsewhere a line for each. */
import cliProgress from 'cli-progress'
import pc from 'picocolors'
import type { Output } from '../../output.ts'
import type { ShownStep } from './course.ts'
import { activeLine, endedLine, lackingText } from './step-lines.ts'
import type { Watcher } from './watch.ts'

export interface RunProgress extends Watcher {
  /** What is under way stays as it stood. */
  stop(): void
}

/** More lines than these would scroll away what has ended. */
const MOST_LIVE = 12
/** Off a terminal. */
const LOOP_MS = 10_000

/** `width` is that of the longest step's name. */
export function runProgress(output: Output, width: number, stream = process.stderr): RunProgress {
  if (output.json) return { look: () => {}, stop: () => {} }
  return stream.isTTY ? liveProgress(width, stream) : writtenProgress(output, width)
}

/** Says once that a step waits, which may take days, and now and then how far a loop is. */
function writtenProgress(output: Output, width: number): RunProgress {
  const said = new Set<string>()
  let paused = false
  let loopsAt = performance.now()
  return {
    look(course, ended, { status }) {
      for (const step of ended) output.note(`  ${endedLine(step, width)}`)
      if (status !== 'PAUSED' && performance.now() - loopsAt > LOOP_MS) {
        loopsAt = performance.now()
        for (const step of course.active.values())
          if (step.kind === 'loop') output.note(`  ${activeLine(step, width)}`)
      }
      for (const step of course.active.values()) {
        if (step.kind !== 'wait' || step.wait === undefined || said.has(step.node_id)) continue
        said.add(step.node_id)
        output.note(`  ${activeLine(step, width)}`)
      }
      if ((status === 'PAUSED') !== paused) {
        paused = status === 'PAUSED'
        output.note(`  ${paused ? 'paused' : 'goes on'}`)
      }
    },
    lacks: (lacking) => output.note(`  ${pc.yellow(`○ stands still: ${lackingText(lacking)}`)}`),
    stop: () => {},
  }
}

function liveProgress(width: number, stream: NodeJS.WriteStream): RunProgress {
  const bars = new cliProgress.MultiBar({
    stream,
    hideCursor: true,
    forceRedraw: true,
    clearOnComplete: false,
    linewrap: null,
    fps: 10,
    format: (_options, _params, payload) => lineOf(payload as Live, width),
  })
  const shown = new Map<string, cliProgress.SingleBar>()
  return {
    look(course, ended, { status }) {
      for (const step of ended) {
        const bar = shown.get(step.node_id)
        if (bar) bars.remove(bar)
        shown.delete(step.node_id)
        bars.log(`  ${endedLine(step, width)}\n`)
      }
      for (const step of course.active.values()) {
        const live = { step, paused: status === 'PAUSED' }
        const bar = shown.get(step.node_id)
        if (bar) bar.update(0, live)
        else if (shown.size < MOST_LIVE) shown.set(step.node_id, bars.create(1, 0, live))
      }
      bars.update()
    },
    lacks: (lacking) => bars.log(`  ${pc.yellow(`○ stands still: ${lackingText(lacking)}`)}\n`),
    stop: () => bars.stop(),
  }
}

interface Live {
  readonly step: ShownStep
  readonly paused: boolean
}

function lineOf({ step, paused }: Live, width: number): string {
  return `  ${paused ? pc.yellow('Ⅱ ') : ''}${activeLine(step, width)}`
}
