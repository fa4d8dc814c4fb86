/** Wake-ups of a process over NATS instead of NOTIFY: everything that it opens on this database afterwards uses them. */
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError, EXIT_ENVIRONMENT } from './errors.ts'
import { connectNats, silentLog } from './nats.ts'
import { type Nats, openWakeups } from './product.ts'

interface NatsWakeups {
  /** Missing in a build whose wake-ups know only NOTIFY. */
  readonly hears?: 'notify' | 'nats' | 'both'
  tell(topic: 'jobs', key: string): void
  close(): Promise<void>
}

type Open = (url: string, log: typeof silentLog, options: { nats: Nats }) => NatsWakeups

/** Resolves when the process hears by NATS. */
export async function wakeByNats(
  workerUrl: string,
  natsUrl: string,
): Promise<Pick<NatsWakeups, 'tell' | 'close'>> {
  const nats = await connectNats(natsUrl)
  const wakeups = (openWakeups as unknown as Open)(workerUrl, silentLog, { nats })
  const close = async (): Promise<void> => {
    await wakeups.close()
    await nats.close()
  }
  if (!('hears' in wakeups)) {
    await close()
    throw new BenchError('This build has no wake-ups over NATS.', {
      remedy: 'Build a version that has them.',
      exitCode: EXIT_ENVIRONMENT,
    })
  }
  while (wakeups.hears === 'notify') await delay(5)
  return { tell: (topic, key) => wakeups.tell(topic, key), close }
}
