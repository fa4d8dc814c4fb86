/** DBOS on a database of a benchmark: its system tables in a schema of their own, next to ours. */
import { DBOS } from '@dbos-inc/dbos-sdk'

/** Its default is 10. With 10, 20 and 50 no difference was larger than the noise. */
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
