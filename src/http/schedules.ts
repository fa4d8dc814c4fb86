/** Schedules: seen by everybody, changed by whoever administers all workspaces. */
import { deleteSchedule, listSchedules, nextTimes, setSchedule } from '../jobs/schedules.ts'
import { Schedule } from '../jobs/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { JsonObject, shape, Timestamp, Type } from '../kernel/schema.ts'
import { Kind } from './jobs.ts'
import { routes } from './routes.ts'

const params = { schedule: Kind }
const description =
  'A schedule is shared by all workspaces: for people who administer every workspace, and tokens of service_role.'
const Runs = Type.Array(Timestamp, { description: 'the next times; none while it is disabled' })
const ScheduleWithRuns = shape('ScheduleWithRuns', { ...Schedule.properties, next_runs: Runs })
const MAX_RUNS = 10
/** Each time is searched for; more schedules than these are listed without. */
const MAX_WITH_RUNS = 500

export const scheduleRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listSchedules',
    replica: true,
    summary: 'The schedules and when each is due',
    query: {
      runs: Type.Integer({
        minimum: 0,
        maximum: MAX_RUNS,
        default: 0,
        description: `how many next times of each; the first ${MAX_WITH_RUNS} schedules have them`,
      }),
    },
    answer: Type.Object({ schedules: Type.Array(ScheduleWithRuns) }),
    handle: async (request) => {
      const { runs } = request.query
      const schedules = await request.transaction(listSchedules)
      return {
        schedules: schedules.map((one, index) => ({
          ...one,
          next_runs: runs > 0 && one.enabled && index < MAX_WITH_RUNS ? nextRuns(one, runs) : [],
        })),
      }
    },
  })

  api.get('/next-runs', {
    operationId: 'previewSchedule',
    summary: 'The next times of a cron line, before it is a schedule',
    query: {
      cron: Type.String({ maxLength: 200, examples: ['30 6 * * 1-5'] }),
      time_zone: Type.String({ maxLength: 100, default: 'UTC' }),
      runs: Type.Integer({ minimum: 1, maximum: MAX_RUNS, default: 5 }),
    },
    answer: Type.Object({ next_runs: Runs }),
    handle: (request) => {
      const { cron, time_zone, runs } = request.query
      return { next_runs: nextTimes(cron, time_zone, new Date(), runs) }
    },
  })

  api.put('/:schedule', {
    operationId: 'setSchedule',
    summary: 'Create a schedule, or update one: a job at every time that its cron line names',
    description,
    params,
    body: {
      cron: Type.String({ maxLength: 200, examples: ['30 6 * * 1-5'] }),
      time_zone: Type.String({ maxLength: 100, default: 'UTC', examples: ['Europe/Berlin'] }),
      job_kind: Kind,
      payload: Type.Optional(JsonObject),
      enabled: Type.Boolean({ default: true }),
    },
    answer: Schedule,
    problems: [403, 422],
    handle: (request) =>
      request.decide((client) => setSchedule(client, { schedule: request.params.schedule, ...request.body })),
  })

  api.delete('/:schedule', {
    operationId: 'deleteSchedule',
    summary: 'Delete a schedule; jobs that it enqueued stay',
    description,
    params,
    problems: [403, 404],
    handle: async (request) => {
      const { schedule } = request.params
      if (!(await request.decide((client) => deleteSchedule(client, schedule)))) {
        throw new StagedoorError('schedule_not_found', { what: `schedule ${schedule}` })
      }
    },
  })
})

/** The first is the time that the database has, which may have passed while no worker runs. */
function nextRuns({ cron, time_zone, next_at }: Schedule, count: number): Date[] {
  return [next_at, ...nextTimes(cron, time_zone, next_at, count - 1)]
}
