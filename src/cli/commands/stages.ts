/** The way of a route or a consumer: disabled, running dry, reviewed by somebody else, active. */
import pc from 'picocolors'

export type Stage = 'disabled' | 'dry_run' | 'reviewed' | 'active'

const WORDS: Record<Stage, string> = {
  disabled: '○ disabled',
  dry_run: '◐ dry run',
  reviewed: '◑ reviewed',
  active: '● active',
}

export function stageOf(stage: Stage): string {
  return WORDS[stage]
}

export function paintStage(cell: string): string {
  if (cell.startsWith('●')) return pc.green(cell)
  return cell.startsWith('○') ? pc.dim(cell) : pc.yellow(cell)
}
