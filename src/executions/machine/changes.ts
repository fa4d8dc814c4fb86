/**
 * Writes into a state that can be taken back. A decision changes the state in place, event by event, and may find in the middle
 * that it needs a value which is not loaded: then nothing of it must remain. Copying the state first would make every decision
 * cost as much as the state is large.
 */
export interface Changes {
  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void
  remove<T extends object, K extends keyof T>(target: T, key: K): void
}

/** For those who fold a log that is written. */
export const forGood: Changes = {
  set(target, key, value) {
    target[key] = value
  },
  remove(target, key) {
    delete target[key]
  },
}

const ABSENT = Symbol('absent')

export class Revocable implements Changes {
  /** Target, key and what stood there, one after the other. */
  readonly #before: unknown[] = []

  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void {
    this.#remember(target, key)
    target[key] = value
  }

  remove<T extends object, K extends keyof T>(target: T, key: K): void {
    this.#remember(target, key)
    delete target[key]
  }

  revoke(): void {
    const before = this.#before
    while (before.length > 0) {
      const value = before.pop()
      const key = before.pop() as string
      const target = before.pop() as Record<string, unknown>
      if (value === ABSENT) delete target[key]
      else target[key] = value
    }
  }

  #remember<T extends object, K extends keyof T>(target: T, key: K): void {
    const value = target[key]
    this.#before.push(target, key, value === undefined && !Object.hasOwn(target, key) ? ABSENT : value)
  }
}
