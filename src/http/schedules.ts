/** Schedules: seen by everybody, changed by the back end. */
import { deleteSchedule, listSchedules, setSchedule } from '../jobs/schedules.ts'
import { Schedule } from '../jobs/shapes.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { JsonObject, Type } from '../kernel/schema.ts'
import { Kind } from './jobs.ts'
import { routes } from './routes.ts'

const params = { schedule: Kind }
const description = 'For tokens of service_role.'

export const scheduleRoutes = routes('jobs', (api) => {
  api.get('/', {
    operationId: 'listSchedules',
    summary: 'The schedules and when each is due',
    answer: Type.Object({ schedules: Type.Array(Schedule) }),
    handle: async (request) => ({ schedules: await request.transaction(listSchedules) }),
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
      request.transaction((client) =>
        setSchedule(client, { schedule: request.params.schedule, ...request.body }),
      ),
  })

  api.delete('/:schedule', {
    operationId: 'deleteSchedule',
    summary: 'Delete a schedule; jobs that it enqueued stay',
    description,
    params,
    problems: [403, 404],
    handle: async (request) => {
      const { schedule } = request.params
      if (!(await request.transaction((client) => deleteSchedule(client, schedule)))) {
        throw new StagedoorError('schedule_not_found', { what: `schedule ${schedule}` })
      }
    },
  })
})
