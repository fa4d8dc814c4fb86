/** DBOS on a database of a benchmark: its system tables beside ours, in a schema of their own. */
import { DBOS } from '@dbos-inc/dbos-sdk'

/** Its default is 10. Measured with 100 workflows at once: 20 are no slower, 50 are. */
const SESSIONS = 20
const silent = () => {}

export async function launchDbos(url: string, executorID = 'bench'): Promise<void> {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: SESSIONS,
    applicationVersion: 'bench',
    executorID,
    logger: { info: silent, debug: silent, warn: silent, error: (entry: unknown) => console.error(entry) },
  })
  await DBOS.launch()
}
