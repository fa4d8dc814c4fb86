/** The engine's pool with faults put in: what happens to statements that are not flushes or heartbeats is the test's to say. */
import type { Pool } from '../../../src/kernel/postgres/connection.ts'

/** `before` may throw, as a connection does that breaks, or take its time. */
export function faultyPool(pool: Pool, before: (sql: string) => void | Promise<void>): Pool {
  return new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return async (config: string | { text: string }, values?: unknown[]) => {
        await before(typeof config === 'string' ? config : config.text)
        return target.query(config as string, values)
      }
    },
  })
}

/** As `faultyPool`, but after the statement has run: its answer is late, or lost. */
export function faultyAnswers(pool: Pool, after: (sql: string) => void | Promise<void>): Pool {
  return new Proxy(pool, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return async (config: string | { text: string }, values?: unknown[]) => {
        const answer = await target.query(config as string, values)
        await after(typeof config === 'string' ? config : config.text)
        return answer
      }
    },
  })
}

/** Breaks the connection under the first statement that has this in it. */
export function breakingOnce(pool: Pool, part: string): { pool: Pool; breaks(): number } {
  let breaks = 0
  const broken = faultyPool(pool, (sql) => {
    if (!sql.includes(part) || breaks > 0) return
    breaks++
    throw new Error('Connection terminated unexpectedly')
  })
  return { pool: broken, breaks: () => breaks }
}

/** Something that stands still until it is opened. */
export function gate(): { passed: Promise<void>; open(): void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}
