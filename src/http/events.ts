/** Events, what came of them, and issues: what went wrong inside and waits for a person. */
import { actorNames } from '../access/members.ts'
import { subjectNames } from '../app/subjects.ts'
import { readTrace, Trace } from '../app/trace.ts'
import { listIssues, resolveIssue } from '../events/issues.ts'
import { listEvents, requireEvent } from '../events/outbox.ts'
import { Issue, OutboxEvent } from '../events/shapes.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { ExecutionId } from './executions.ts'
import { ActorNames } from './responses.ts'
import { After, Limit, listPage, page, Reason, routes } from './routes.ts'

export const eventRoutes = routes('events', (api) => {
  api.get('/events', {
    operationId: 'listEvents',
    replica: true,
    summary: 'Events of your workspaces, newest first',
    query: {
      domain: Type.Optional(Type.String({ maxLength: 100, examples: ['staging'] })),
      type: Type.Optional(Type.String({ maxLength: 200, examples: ['ingestion_complete'] })),
      subject: Type.Optional(
        Type.String({ maxLength: 500, description: 'what it is about: an id or a name' }),
      ),
      since: Type.Optional(Type.String({ format: 'date-time', description: 'from this time on' })),
      until: Type.Optional(Type.String({ format: 'date-time', description: 'before this time' })),
      limit: Limit,
      after: After,
    },
    answer: page('events', OutboxEvent, {
      people: ActorNames,
      subjects: Type.Record(Type.String(), Type.String(), {
        description: 'the titles of changes and the names of files that they are about, by their ids',
      }),
    }),
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(request.query, 'events', 'id', (filter) => listEvents(client, filter))
        return {
          ...list,
          people: await actorNames(
            client,
            list.events.map(({ actor }) => actor),
          ),
          subjects: await subjectNames(
            client,
            list.events.map(({ event_subject_ref }) => event_subject_ref),
          ),
        }
      }),
  })

  api.get('/events/:id', {
    operationId: 'getEvent',
    replica: true,
    summary: 'One event',
    answer: OutboxEvent,
    problems: [404],
    handle: (request) => request.transaction((client) => requireEvent(client, request.params.id)),
  })

  api.get('/traces/:id', {
    operationId: 'getTrace',
    replica: true,
    summary:
      'The chain from a change to its results: events, jobs and executions, each in the order in which they began',
    description:
      'By the correlation id, or by the id of any event, job or execution in it. `causation_event_id` says what each came from.',
    tags: ['events', 'jobs', 'executions'],
    params: { id: Type.Union([Uuid, ExecutionId]) },
    answer: Trace,
    problems: [404],
    handle: (request) => request.transaction((client) => readTrace(client, request.params.id)),
  })
})

export const issueRoutes = routes('issues', (api) => {
  api.get('/', {
    operationId: 'listIssues',
    replica: true,
    summary: 'Issues of your workspaces, newest first',
    query: {
      resolved: Type.Boolean({ default: false, description: 'resolved ones, too' }),
      limit: Limit,
      after: After,
    },
    answer: page('issues', Issue),
    problems: [403],
    handle: (request) =>
      listPage(request.query, 'issues', 'issue_id', (filter) =>
        request.transaction((client) => listIssues(client, filter)),
      ),
  })

  api.post('/:id/resolve', {
    operationId: 'resolveIssue',
    summary: 'Say that an issue is dealt with; an event is emitted',
    optionalBody: { resolution: Reason },
    answer: Issue,
    problems: [403, 404, 409],
    handle: (request) =>
      request.transaction((client) => resolveIssue(client, request.params.id, request.body ?? {})),
  })
})
