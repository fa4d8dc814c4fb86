/** The worker thread of scanner.ts. It ends with the process, or when the mirror is closed. */
import { serveCommands } from '../../../runtime/worker-thread.ts'
import { type ScanCommands, ScanRunner } from './scanner.ts'

const runner = new ScanRunner()

serveCommands((kind, asked) => runner[kind as keyof ScanCommands](asked as never))
