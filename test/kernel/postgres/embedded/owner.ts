/**
 * A Stagedoor in a process of its own, to be killed. Starts a server with the options in the first argument,
 * prints what became of it as one line of JSON, and lives until standard input says `stop` or `leave`.
 */
import { StagedoorError } from '../../../../src/kernel/errors.ts'
import { startEmbedded } from '../../../../src/kernel/postgres/embedded/server.ts'

const notices: string[] = []
const tell = (line: object): void => console.log(JSON.stringify(line))

process.on('SIGINT', () => tell({ signal: 'SIGINT' }))
try {
  const options = JSON.parse(process.argv[2]!)
  const server = await startEmbedded({ ...options, notice: (line) => notices.push(line) })
  tell({ url: server.url(), port: server.port, dataDir: server.dataDir, notices })
  process.stdin.on('data', async (data) => {
    if (String(data).includes('stop')) await server.stop()
    process.stdin.destroy()
  })
} catch (error) {
  if (!(error instanceof StagedoorError)) throw error
  tell({ error: error.code, details: error.details, message: error.message, notices })
}
