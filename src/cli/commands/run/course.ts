/** The course of an execution as its log tells it: which steps are under way, and what has just ended. */
import type { ExecutionLoops, LoggedEvent } from '../../../executions/shown-executions.ts'
import { type StepWait, type WaitMeta, waitOf } from '../../../executions/shown-steps.ts'

export interface ShownStep {
  readonly node_id: string
  readonly step: string
  readonly kind: 'tools' | 'loop' | 'wait' | 'child'
  readonly began: Date
  readonly attempt: number
  /** It failed and comes again then. */
  readonly retryAt?: Date
  readonly loop?: { readonly total: number; readonly done: number; readonly failed: number }
  readonly wait?: StepWait
  readonly child?: string
}

export interface EndedStep extends ShownStep {
  /** completed, failed, complete, partial, timed_out */
  readonly status: string
  readonly ended: Date
  readonly error?: string
}

interface StepMeta extends Partial<WaitMeta> {
  readonly attempt?: number
  readonly final?: boolean
  readonly retry_at?: string
  readonly child_execution_id?: string
  readonly loop_id?: string
  readonly collection_size?: number
}

export class Course {
  /** In the order in which they were entered. */
  readonly active = new Map<string, ShownStep>()
  seq = 0
  private readonly loops = new Map<string, string>()

  /** Takes events in their order, and says what ended with them. */
  hear(events: readonly LoggedEvent[]): EndedStep[] {
    return events.flatMap((event) => {
      this.seq = Math.max(this.seq, event.seq)
      const ended = this.hearOne(event)
      return ended ? [ended] : []
    })
  }

  /** How far the loops are, as projected; at its end a loop's own event says it. */
  count(state: ExecutionLoops): void {
    for (const [node_id, step] of this.active) {
      const loop = state.loop?.[step.step]
      if (step.kind !== 'loop' || loop?.loop_id !== this.loops.get(node_id)) continue
      this.active.set(node_id, {
        ...step,
        loop: { total: loop!.total, done: loop!.done, failed: loop!.failed },
      })
    }
  }

  private hearOne(event: LoggedEvent): EndedStep | undefined {
    const { event_type, node_id, node_name, created_at: at } = event
    if (node_id == null || node_name == null) return undefined
    const meta = (event.meta ?? {}) as StepMeta
    const known = this.active.get(node_id)
    const began: ShownStep = known ?? { node_id, step: node_name, kind: 'tools', began: at, attempt: 1 }
    switch (event_type) {
      case 'command.issued': {
        const { retryAt: _, ...again } = began
        this.active.set(node_id, { ...again, attempt: meta.attempt ?? 1 })
        return undefined
      }
      case 'command.completed':
        return this.end(began, 'completed', at)
      case 'command.failed':
        if (meta.final !== false) return this.end(began, 'failed', at, event.error)
        this.active.set(node_id, { ...began, ...(meta.retry_at && { retryAt: new Date(meta.retry_at) }) })
        return undefined
      case 'step.enter':
        this.active.set(node_id, {
          ...began,
          kind: meta.wait === undefined ? 'child' : 'wait',
          attempt: meta.attempt ?? 1,
          ...(meta.wait !== undefined && { wait: waitOf(meta as WaitMeta) }),
          ...(meta.child_execution_id && { child: meta.child_execution_id }),
        })
        return undefined
      case 'step.exit':
        // Of a loop whose results were collected: its end has been told by loop.done.
        return known && this.end(began, event.status ?? 'completed', at, event.error)
      case 'loop.started':
        this.loops.set(node_id, meta.loop_id!)
        this.active.set(node_id, {
          ...began,
          kind: 'loop',
          loop: { total: meta.collection_size ?? 0, done: 0, failed: 0 },
        })
        return undefined
      case 'loop.done':
        return this.end({ ...began, kind: 'loop', loop: countsOf(event) }, fanInOf(countsOf(event)), at)
      default:
        return undefined
    }
  }

  private end(step: ShownStep, status: string, ended: Date, error?: string | null): EndedStep {
    this.active.delete(step.node_id)
    return { ...step, status, ended, ...(error != null && { error }) }
  }
}

function countsOf({ result }: LoggedEvent): { total: number; done: number; failed: number } {
  const { total, completed, failed } = (result?.context ?? {}) as Record<string, number | undefined>
  return { total: total ?? 0, done: completed ?? 0, failed: failed ?? 0 }
}

function fanInOf({ done, failed }: { done: number; failed: number }): string {
  return failed === 0 ? 'complete' : done === 0 ? 'failed' : 'partial'
}
