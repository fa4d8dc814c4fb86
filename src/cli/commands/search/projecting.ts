/** Working off what is due, in this very process: a command that says "now" must not depend on a server that runs somewhere. */
import cliProgress from 'cli-progress'
import pc from 'picocolors'
import type { Search } from '../../../search/library.ts'
import type { Left } from '../../../search/working-off.ts'
import type { Output } from '../../output.ts'

/** With a bar, begun when there is something to do. */
export async function projectHere(output: Output, search: Search, workspace: string): Promise<Left> {
  let bar: Bar | undefined
  try {
    return await search.workOff(workspace, (done, of) => {
      bar ??= startBar(output, 'Into search', of)
      bar.update(done, of)
    })
  } finally {
    bar?.stop()
  }
}

export interface Bar {
  update(done: number, total: number): void
  stop(): void
}

const BAR = 28

/** A bar on a terminal, nothing elsewhere: what follows says how it went. */
export function startBar(output: Output, title: string, total: number): Bar {
  if (output.json || !process.stderr.isTTY) return { update: () => {}, stop: () => {} }
  const bar = new cliProgress.SingleBar({
    stream: process.stderr,
    format: (_options, { progress, total: of, value }) => {
      const full = Math.round(Math.min(1, progress) * BAR)
      return `  ${title}  ${pc.cyan('█'.repeat(full))}${pc.dim('░'.repeat(BAR - full))}  ${value} of ${of}`
    },
    hideCursor: true,
    clearOnComplete: true,
    linewrap: null,
  })
  bar.start(Math.max(1, total), 0)
  return {
    update(done, of) {
      bar.setTotal(Math.max(1, of))
      bar.update(done)
    },
    stop: () => bar.stop(),
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
