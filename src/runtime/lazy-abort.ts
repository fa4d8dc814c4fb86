/**
 * An AbortController whose signal is made when somebody asks for it. A controller and the two listeners that hang on it during a call cost
 * 5 µs and most of the garbage of the call, and most handlers never look at their signal.
 */

/** What may end early, and who is notified of it. */
export interface AbortSource {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls back once, at once where it is aborted already. Returns how to take the listener off again. */
  onAbort(listener: () => void): () => void
}

export class LazyAbortController implements AbortSource {
  private isAborted = false
  private why: unknown
  private readonly listeners = new Set<() => void>()
  private controller: AbortController | undefined

  get aborted(): boolean {
    return this.isAborted
  }

  get reason(): unknown {
    return this.why
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.isAborted) this.controller.abort(this.why)
    }
    return this.controller.signal
  }

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    if (this.isAborted) return
    this.isAborted = true
    this.why = reason
    this.controller?.abort(reason)
    const listeners = [...this.listeners]
    this.listeners.clear()
    for (const listener of listeners) listener()
  }

  onAbort(listener: () => void): () => void {
    if (this.isAborted) {
      listener()
      return () => {}
    }
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** A signal that somebody else made. */
export function abortSourceOf(signal: AbortSignal): AbortSource {
  return {
    get aborted() {
      return signal.aborted
    },
    get reason() {
      return signal.reason
    },
    onAbort(listener) {
      if (signal.aborted) listener()
      else signal.addEventListener('abort', listener, { once: true })
      return () => signal.removeEventListener('abort', listener)
    },
  }
}
