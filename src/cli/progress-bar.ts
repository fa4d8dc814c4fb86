/** How far an upload is: a bar for each stage on a terminal, a line for each elsewhere, nothing with --json. */
import cliProgress from 'cli-progress'
import pc from 'picocolors'
import type { Progress, ReportProgress } from '../ingest/progress.ts'
import type { Output } from './output.ts'

export interface ProgressBars {
  readonly report: ReportProgress
  /** Of what failed the bar stays where it was. */
  stop(): void
}

const TITLES: Record<Progress['stage'], string> = {
  wait: 'Wait',
  read: 'Read',
  check: 'Check',
  stage: 'Stage',
  plan: 'Plan',
  promote: 'Promote',
}
const BAR = 28

interface Shown {
  readonly stage: Progress['stage']
  readonly began: number
  readonly bar: cliProgress.SingleBar | undefined
  latest: Progress
}

export function progressBars(output: Output, stream: NodeJS.WriteStream = process.stderr): ProgressBars {
  if (output.json) return { report: () => {}, stop: () => {} }
  let shown: Shown | undefined
  let place = 0
  const begin = (progress: Progress): Shown => ({
    stage: progress.stage,
    began: performance.now(),
    bar: stream.isTTY ? startBar(stream, progress) : undefined,
    latest: progress,
  })
  const finish = ({ bar, latest, began }: Shown): void => {
    if (!bar) output.note(pc.dim(lineOf(latest, began)))
    bar?.update(bar.getTotal(), { lines: latest.lines })
    bar?.stop()
  }
  return {
    report(progress) {
      if (progress.stage === 'wait') {
        if (progress.total !== place) output.note(pc.dim(waitLine(progress.total)))
        place = progress.total
        return
      }
      if (shown?.stage !== progress.stage) {
        if (shown) finish(shown)
        shown = begin(progress)
      }
      shown.latest = { ...shown.latest, ...progress }
      shown.bar?.setTotal(progress.total || 1)
      shown.bar?.update(progress.done, { lines: progress.lines })
      if (progress.done >= progress.total && isOneStep(progress)) {
        finish(shown)
        shown = undefined
      }
    },
    stop() {
      if (!shown) return
      const { latest, bar } = shown
      if (latest.done >= latest.total) finish(shown)
      else bar?.stop()
      shown = undefined
    },
  }
}

function waitLine(place: number): string {
  const before = place === 1 ? 'it is next' : `${place - 1} before it`
  return `  The workspace reads as many uploads as it may at once. This one waits in line: ${before}.`
}

/** Planning and promoting are one statement each: nobody knows how far it is, only that it goes on. */
function isOneStep({ stage }: Progress): boolean {
  return stage === 'plan' || stage === 'promote'
}

function startBar(stream: NodeJS.WriteStream, progress: Progress): cliProgress.SingleBar {
  const bar = new cliProgress.SingleBar({
    stream,
    format: (_options, params, payload) => barLine(progress, params, payload as { lines?: number }),
    hideCursor: true,
    forceRedraw: true,
    // Its own trimming counts colours as characters.
    linewrap: null,
  })
  bar.start(progress.total || 1, progress.done, { lines: progress.lines })
  return bar
}

function barLine(
  { stage }: Progress,
  { progress, startTime, stopTime }: cliProgress.Params,
  { lines }: { lines?: number },
): string {
  const full = Math.round(Math.min(1, progress) * BAR)
  const bar = pc.cyan('█'.repeat(full)) + pc.dim('░'.repeat(BAR - full))
  const share = isOneStep({ stage, done: 0, total: 1 }) && progress < 1 ? '     ' : percent(progress)
  const what = lines === undefined ? '' : `  ${counted(lines)}`
  return `  ${TITLES[stage].padEnd(8)} ${bar} ${share} ${pc.dim(seconds((stopTime ?? Date.now()) - startTime) + what)}`
}

function percent(share: number): string {
  return `${Math.floor(Math.min(1, share) * 100)} %`.padStart(5)
}

function lineOf({ stage, lines }: Progress, began: number): string {
  const what = lines === undefined ? '' : `, ${counted(lines)}`
  return `  ${TITLES[stage].padEnd(8)} ${seconds(performance.now() - began)}${what}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function counted(lines: number): string {
  return lines === 1 ? '1 line' : `${lines.toLocaleString('en')} lines`
}
