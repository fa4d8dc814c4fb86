/** Schedules over HTTP: seen by everybody, changed by the back end. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { StagedoorError } from '../../errors.ts'
import { listSchedules, removeSchedule, type Schedule, setSchedule } from '../../jobs/schedules.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { Kind } from './jobs/shapes.ts'

const ScheduleShape = Type.Object({
  schedule: Type.String(),
  cron: Type.String(),
  time_zone: Type.String(),
  job_kind: Type.String(),
  safe_payload: Type.Record(Type.String(), Type.Unknown()),
  enabled: Type.Boolean(),
  next_at: Timestamp,
  last_due: nullable(Timestamp),
  last_job_id: nullable(Type.String()),
  registered_by: Type.String(),
  registered_at: Timestamp,
})
const OfSchedule = Type.Object({ schedule: Kind })
const BACK_END = 'For tokens of service_role.'
const tags = ['jobs']

export const scheduleRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listSchedules',
        summary: 'The schedules and when each is due',
        tags,
        response: { 200: Type.Object({ schedules: Type.Array(ScheduleShape) }), ...problems(401) },
      },
    },
    async (request) => ({ schedules: (await request.transaction(listSchedules)).map(present) }),
  )

  api.put(
    '/:schedule',
    {
      schema: {
        operationId: 'setSchedule',
        summary: 'Add a schedule, or change one: a job at every time that its cron line names',
        description: BACK_END,
        tags,
        params: OfSchedule,
        body: Type.Object(
          {
            cron: Type.String({ maxLength: 200, examples: ['30 6 * * 1-5'] }),
            time_zone: Type.String({ maxLength: 100, default: 'UTC', examples: ['Europe/Berlin'] }),
            job_kind: Kind,
            safe_payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
            enabled: Type.Boolean({ default: true }),
          },
          { additionalProperties: false },
        ),
        response: { 200: ScheduleShape, ...problems(400, 401, 403, 422) },
      },
    },
    async (request) => {
      const { schedule } = request.params
      return present(
        await request.transaction((client) => setSchedule(client, { schedule, ...request.body })),
      )
    },
  )

  api.delete(
    '/:schedule',
    {
      schema: {
        operationId: 'removeSchedule',
        summary: 'Take a schedule away; jobs that it enqueued stay',
        description: BACK_END,
        tags,
        params: OfSchedule,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { schedule } = request.params
      if (!(await request.transaction((client) => removeSchedule(client, schedule)))) {
        throw new StagedoorError('schedule_not_found', { what: `schedule ${schedule}` })
      }
      return reply.status(204).send(null)
    },
  )
}

function present(schedule: Schedule) {
  return {
    ...schedule,
    next_at: schedule.next_at.toISOString(),
    last_due: schedule.last_due?.toISOString() ?? null,
    registered_at: schedule.registered_at.toISOString(),
  }
}
