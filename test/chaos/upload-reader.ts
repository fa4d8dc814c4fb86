/** A reader of uploads in a process of its own, to be killed or frozen. */
import pino from 'pino'
import { startReader } from '../../src/app/upload-reader.ts'
import { createPool } from '../../src/kernel/postgres/connection.ts'

const { url, home } = JSON.parse(process.argv[2]!) as { url: string; home: string }
const pool = createPool(url, { role: 'dot_executor', max: 8 })
await startReader({ pool, home }, { log: pino({ level: 'silent' }), listenUrl: url, leaseMs: 3000 })
console.log('ready')
