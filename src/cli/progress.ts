/** How far an upload is: a bar for each stage on a terminal, a line for each elsewhere, nothing with --json. */
import cliProgress from 'cli-progress'
import pc from 'picocolors'
import type { IngestEvent } from '../ingest/pipeline.ts'
import type { Progress } from '../ingest/uploads.ts'
import type { Search } from '../search/library.ts'
import type { RemainingWork } from '../search/worker.ts'
import { plural } from './format.ts'
import type { Output } from './terminal.ts'
import { barText } from './text.ts'

const TITLES: Record<Progress['stage'], string> = {
  read: 'Read',
  check: 'Check',
  stage: 'Stage',
  plan: 'Plan',
  promote: 'Promote',
}
const BAR_WIDTH = 28

interface Shown {
  readonly began: number
  readonly bar: cliProgress.SingleBar | undefined
  latest: Progress
}

/** `onEvent` is for the pipeline. After `stop` the bar of what failed stays where it was. */
export function createIngestProgress(output: Output, stream: NodeJS.WriteStream = process.stderr) {
  let shown: Shown | undefined
  let position = 0
  const finish = ({ bar, latest, began }: Shown): void => {
    const lines = latest.lines === undefined ? '' : `, ${plural(latest.lines, 'line')}`
    if (!bar)
      output.note(pc.dim(`  ${TITLES[latest.stage].padEnd(8)} ${seconds(performance.now() - began)}${lines}`))
    bar?.update(bar.getTotal(), { lines: latest.lines })
    bar?.stop()
  }
  const report = (progress: Progress): void => {
    if (output.json) return
    if (shown?.latest.stage !== progress.stage) {
      if (shown) finish(shown)
      const bar = stream.isTTY ? startBar(stream, progress) : undefined
      shown = { began: performance.now(), bar, latest: progress }
    }
    shown.latest = { ...shown.latest, ...progress }
    shown.bar?.setTotal(progress.total || 1)
    shown.bar?.update(progress.done, { lines: progress.lines })
    if (progress.done >= progress.total && isOneStep(progress.stage)) {
      finish(shown)
      shown = undefined
    }
  }
  return {
    report,
    onEvent(event: IngestEvent): void {
      if (event.type === 'progress') report(event)
      if (event.type !== 'queued' || event.position === position) return
      position = event.position
      const before = position === 1 ? 'it is next' : `${position - 1} before it`
      const text = `The workspace reads as many uploads at once as it may. This one is queued: ${before}.`
      output.note(pc.dim(`  ${text}`))
    },
    stop(): void {
      if (!shown) return
      const { latest, bar } = shown
      if (latest.done >= latest.total) finish(shown)
      else bar?.stop()
      shown = undefined
    },
  }
}

/** Planning and promoting are one statement each: nobody knows how far it is, only that it goes on. */
function isOneStep(stage: Progress['stage']): boolean {
  return stage === 'plan' || stage === 'promote'
}

function startBar(
  stream: NodeJS.WriteStream,
  { stage, done, total, lines }: Progress,
): cliProgress.SingleBar {
  const bar = createBar(stream, ({ progress, startTime, stopTime }, payload) => {
    const percent = `${Math.floor(Math.min(1, progress) * 100)} %`
    const share = (isOneStep(stage) && progress < 1 ? '' : percent).padStart(5)
    const time = seconds((stopTime ?? Date.now()) - startTime)
    const what = payload.lines === undefined ? '' : `  ${plural(payload.lines, 'line')}`
    return `  ${TITLES[stage].padEnd(8)} ${barText(progress, BAR_WIDTH)} ${share} ${pc.dim(time + what)}`
  })
  bar.start(total || 1, done, { lines })
  return bar
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/**
 * Projects what is due, in this very process: a command that says "now" must not depend on a server that runs somewhere. The
 * bar begins when there is something to do.
 */
export async function drainWithProgress(
  output: Output,
  search: Search,
  workspace: string,
): Promise<RemainingWork> {
  let bar: ReturnType<typeof startProgressBar> | undefined
  try {
    return await search.drain(workspace, (done, of) => {
      bar ??= startProgressBar(output, 'Into search', of)
      bar.update(done, of)
    })
  } finally {
    bar?.stop()
  }
}

/** A bar on a terminal, nothing elsewhere: what follows says how it went. */
export function startProgressBar(output: Output, title: string, total: number) {
  const format = ({ progress, total: of, value }: cliProgress.Params) =>
    `  ${title}  ${barText(progress, BAR_WIDTH)}  ${value} of ${of}`
  const isShown = !output.json && process.stderr.isTTY
  const bar = isShown ? createBar(process.stderr, format, { clearOnComplete: true }) : undefined
  bar?.start(Math.max(1, total), 0)
  return {
    update(done: number, of: number) {
      bar?.setTotal(Math.max(1, of))
      bar?.update(done)
    },
    stop: () => bar?.stop(),
  }
}

function createBar(
  stream: NodeJS.WriteStream,
  format: (params: cliProgress.Params, payload: { lines?: number }) => string,
  options: Partial<cliProgress.Options> = {},
): cliProgress.SingleBar {
  return new cliProgress.SingleBar({
    stream,
    format: (_options, params, payload) => format(params, payload as { lines?: number }),
    ...BAR_OPTIONS,
    ...options,
  })
}

/** Without wrapping of its own, which counts colours as characters. */
export const BAR_OPTIONS = { hideCursor: true, forceRedraw: true, linewrap: null }
