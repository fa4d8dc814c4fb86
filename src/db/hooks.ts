/** Measures that others take of a worker or an engine. One that throws must not stop what it measures. */
import type { Logger } from 'pino'

export function harmless<Hooks extends object>(hooks: Hooks, log: Logger): Hooks {
  const guarded = Object.entries(hooks).map(([name, hook]) => [
    name,
    (...told: unknown[]) => {
      try {
        ;(hook as (...told: unknown[]) => void)(...told)
      } catch (error) {
        log.error({ err: error, hook: name }, 'a hook threw')
      }
    },
  ])
  return Object.fromEntries(guarded) as Hooks
}
