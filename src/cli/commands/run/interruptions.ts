/** What makes a command look away before the end: Ctrl-C, or its time being up. */
export interface Interruptions {
  readonly signal: AbortSignal
  why(): 'asked' | 'timeout' | undefined
  close(): void
}

const SAME_MS = 200

/** A second Ctrl-C ends the process at once. */
export function interruptions(timeoutMs: number | undefined): Interruptions {
  const controller = new AbortController()
  let why: 'asked' | 'timeout' | undefined
  let heardAt = Number.NEGATIVE_INFINITY
  const abort = (reason: 'asked' | 'timeout'): void => {
    why ??= reason
    controller.abort()
  }
  const hear = (): void => {
    // npm passes a Ctrl-C on that this process has heard already: the same one, not a second.
    const first = heardAt === Number.NEGATIVE_INFINITY
    if (!first && performance.now() - heardAt > SAME_MS) process.exit(130)
    if (first) heardAt = performance.now()
    abort('asked')
  }
  process.on('SIGINT', hear).on('SIGTERM', hear)
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => abort('timeout'), timeoutMs)
  return {
    signal: controller.signal,
    why: () => why,
    close() {
      clearTimeout(timer)
      process.off('SIGINT', hear).off('SIGTERM', hear)
    },
  }
}
