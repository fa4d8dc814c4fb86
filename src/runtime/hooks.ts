/** Hooks with which others measure a worker or an engine. A hook that throws must not stop what it measures. */
import type { Logger } from 'pino'

export function guardHooks<Hooks extends object>(hooks: Hooks, log: Logger): Hooks {
  const guarded = Object.entries(hooks).map(([name, hook]) => [
    name,
    (...args: unknown[]) => {
      try {
        ;(hook as (...args: unknown[]) => void)(...args)
      } catch (error) {
        log.error({ err: error, hook: name }, 'a hook threw')
      }
    },
  ])
  return Object.fromEntries(guarded) as Hooks
}
