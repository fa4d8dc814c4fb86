/** Issues over HTTP: what went wrong inside and waits for a person. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { type Issue, listIssues, resolveIssue } from '../../events/issues.ts'
import { invalidInput } from '../invalid-input.ts'
import { nullable, problems, Timestamp } from '../responses.ts'
import { Uuid } from './jobs/shapes.ts'

const IssueShape = Type.Object({
  issue_id: Type.String(),
  code: Type.String(),
  severity: Type.String(),
  subject_ref: nullable(Type.String()),
  title: Type.String(),
  detail: Type.Record(Type.String(), Type.Unknown()),
  workspace_id: nullable(Type.String()),
  occurrences: Type.String({ description: 'a count that may outgrow a number' }),
  opened_at: Timestamp,
  last_seen_at: Timestamp,
  resolved_at: nullable(Timestamp),
  resolved_by: nullable(Type.String()),
  resolved_via: nullable(Type.String()),
  resolution: nullable(Type.String()),
})

export const issueRoutes: FastifyPluginAsyncTypebox = async (api) => {
  api.setSchemaErrorFormatter(invalidInput)
  api.get(
    '/',
    {
      schema: {
        operationId: 'listIssues',
        summary: 'Issues of your workspaces, newest first',
        tags: ['issues'],
        querystring: Type.Object(
          {
            resolved: Type.Boolean({ default: false, description: 'resolved ones, too' }),
            limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
            after: Type.Optional(
              Type.String({ format: 'uuid', description: 'the `next` of the page before' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ issues: Type.Array(IssueShape), next: nullable(Type.String()) }),
          ...problems(400, 401, 403),
        },
      },
    },
    async (request) => {
      const { limit, ...filter } = request.query
      const rows = await request.transaction((client) => listIssues(client, { ...filter, limit: limit + 1 }))
      const page = rows.slice(0, limit)
      return { issues: page.map(present), next: rows.length > limit ? page.at(-1)!.issue_id : null }
    },
  )

  api.post(
    '/:id/resolve',
    {
      schema: {
        operationId: 'resolveIssue',
        summary: 'Say that an issue is dealt with; an event tells it',
        tags: ['issues'],
        params: Type.Object({ id: Uuid }),
        body: Type.Union([
          Type.Object(
            { resolution: Type.Optional(Type.String({ maxLength: 2000 })) },
            { additionalProperties: false },
          ),
          Type.Null(),
        ]),
        response: { 200: IssueShape, ...problems(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      const resolution = request.body?.resolution
      return present(
        await request.transaction((client) =>
          resolveIssue(client, request.params.id, resolution === undefined ? {} : { resolution }),
        ),
      )
    },
  )
}

function present(issue: Issue) {
  return {
    ...issue,
    opened_at: issue.opened_at.toISOString(),
    last_seen_at: issue.last_seen_at.toISOString(),
    resolved_at: issue.resolved_at?.toISOString() ?? null,
  }
}
