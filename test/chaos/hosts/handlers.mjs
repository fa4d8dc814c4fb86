/** Handlers of the hosts under test. Each writes when it begins and ends into the journal, which is counted beside the tables. */
import { appendFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const MS = Number(process.env.HANDLER_MS ?? 20)

function note(id, at) {
  appendFileSync(
    process.env.JOURNAL,
    `${JSON.stringify({ host: hostname(), pid: process.pid, id, at, time: Date.now() })}\n`,
  )
}

async function work(id, signal) {
  note(id, 'begin')
  await delay(MS, undefined, { signal })
  note(id, 'end')
}

export default {
  async hosts_job(job, { signal }) {
    await work(job.job_id, signal)
    return { host: hostname() }
  },
}

export const playbookHandlers = {
  async hosts_item(args, { command_id, signal }) {
    await work(command_id, signal)
    return { n: args.n, host: hostname() }
  },
}
