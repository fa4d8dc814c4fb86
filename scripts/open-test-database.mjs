/** `node scripts/open-test-database.mjs FOLDER`: starts the server of a failed test run again, to look into it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const home = process.argv[2]
if (!home || !existsSync(join(home, 'kept.txt'))) {
  console.error('Give the folder that the failed run named: node scripts/open-test-database.mjs FOLDER')
  process.exit(2)
}
const { startEmbedded } = await import('../dist/kernel/postgres/embedded/server.js')
const server = await startEmbedded({ home, version: home.includes('-pg15-') ? 15 : 18 })
for (const line of readFileSync(join(home, 'kept.txt'), 'utf8').trim().split('\n')) {
  console.log(`${line}\n  psql '${server.url(line.split(' ')[0])}'`)
}
console.log('Ctrl-C stops the server; delete the folder when you are done.')
process.on('SIGINT', async () => {
  await server.stop()
  process.exit(0)
})
