/**
 * Your handlers, read by the workers at their start. Each key of the default export is a kind of jobs; those of `playbookHandlers` are called by
 * the steps of playbooks. Neither uses the database, so direct and remote workers can run them. The guide: docs/guides/jobs.md.
 */
export default {
  // docker compose run --rm admin job enqueue hello --payload '{"name": "Ada"}'
  async hello(job, { log }) {
    log.info({ job_id: job.job_id }, 'hello')
    return { greeting: `hello ${job.payload.name ?? 'world'}` }
  },
}

export const playbookHandlers = {
  greet: ({ name }) => `hello ${name}`,
}
