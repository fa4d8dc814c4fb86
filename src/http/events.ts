/** Events, what came of them, and issues: what went wrong inside and waits for a person. */
import { actorNames } from '../access/members.ts'
import { readTrace, Trace } from '../app/trace.ts'
import { listIssues, resolveIssue } from '../events/issues.ts'
import { listEvents } from '../events/outbox.ts'
import { Issue, OutboxEvent } from '../events/shapes.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { ExecutionId } from './executions.ts'
import { ActorNames } from './responses.ts'
import { After, Limit, listPage, page, Reason, routes } from './routes.ts'

export const eventRoutes = routes('events', (api) => {
  api.get('/events', {
    operationId: 'listEvents',
    summary: 'Events of your workspaces, newest first',
    query: { limit: Limit, after: After },
    answer: page('events', OutboxEvent, { people: ActorNames }),
    handle: (request) =>
      request.transaction(async (client) => {
        const list = await listPage(request.query, 'events', 'id', (filter) => listEvents(client, filter))
        return {
          ...list,
          people: await actorNames(
            client,
            list.events.map(({ actor }) => actor),
          ),
        }
      }),
  })

  api.get('/traces/:id', {
    operationId: 'getTrace',
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
