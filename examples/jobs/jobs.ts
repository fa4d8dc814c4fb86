/** Handlers: the key is the kind of job. In a project of your own the import is from 'stagedoor'. */
import { defineJobs, FatalJobError } from '../../src/jobs/handlers.ts'

export default defineJobs({
  async send_report(job, { log }) {
    const { recipient } = job.safe_payload
    if (typeof recipient !== 'string') throw new FatalJobError('it names no recipient') // no retry helps
    log.info({ recipient }, 'sending the report') // job.job_id is the same in every attempt: let the mail server know it
    return { message_ref: `mail:${job.job_id}` }
  },
})
