/** The worker thread of scanner.ts. It ends with the process, or when the mirror is closed. */
import { parentPort } from 'node:worker_threads'
import { type ScanMessage, type ScanReply, ScanRunner } from './scanner.ts'

const runner = new ScanRunner()
const port = parentPort!

port.on('message', ({ number, kind, asked }: ScanMessage) => {
  let reply: ScanReply
  try {
    reply = { number, answer: runner[kind](asked as never) }
  } catch (error) {
    reply = { number, error: (error as Error).message }
  }
  port.postMessage(reply)
})
