/** Handlers: the key is the kind of job. The same in TypeScript needs Node 22.18 or newer. */
import { defineJobs, FatalJobError } from 'stagedoor'

export default defineJobs({
  async send_report(job, { log }) {
    const about = job.payload.recipient ?? job.target_ref // a consumer's job names what its event was about
    if (typeof about !== 'string') throw new FatalJobError('it names no recipient and no row') // no retry helps
    log.info({ about }, 'sending the report') // job.job_id is the same in every attempt: let the mail server know it
    return { message_ref: `mail:${job.job_id}` }
  },
})
