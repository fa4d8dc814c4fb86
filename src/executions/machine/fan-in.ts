/** How the items of a loop ended, taken together. */
import type { FanIn } from './state.ts'

export function fanInOf({ total, done, failed }: { total: number; done: number; failed: number }): FanIn {
  const status = failed === 0 ? 'complete' : done === 0 ? 'failed' : 'partial'
  return { status, total, done, failed }
}
