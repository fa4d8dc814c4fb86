/** Pull requests for SQL: tables that are open, and statements that become uploads. What follows are the routes of uploads. */
import type { PipelineDeps } from '../ingest/pipeline.ts'
import { listProposalTables, propose, proposeAgain } from '../ingest/proposals/proposals.ts'
import { MAX_STATEMENT_LENGTH } from '../ingest/proposals/statement.ts'
import { ProposalTable, Upload } from '../ingest/shapes.ts'
import { findUpload } from '../ingest/uploads.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Type, Uuid } from '../kernel/schema.ts'
import { workspaceOf } from './access.ts'
import { withRawJson } from './responses.ts'
import { routes, Workspace } from './routes.ts'

export function proposalRoutes(ingest: PipelineDeps) {
  return routes('uploads', (api) => {
    api.get('/tables', {
      operationId: 'listProposalTables',
      summary: 'The tables on which statements can be proposed, and those that were closed',
      query: { workspace_id: Workspace },
      answer: Type.Object({ tables: Type.Array(ProposalTable) }),
      problems: [403],
      handle: (request) =>
        request.transaction(async (client) => {
          const workspace = await workspaceOf(client, request.query.workspace_id)
          return { tables: await listProposalTables(client, workspace) }
        }),
    })

    api.post('/', {
      operationId: 'createProposal',
      summary: 'Propose one INSERT, UPDATE, DELETE or MERGE: an upload with a plan, as one from a file',
      description:
        'The statement runs under a login with rights on open tables alone, and is rolled back; what is promoted later are exactly the rows that it gave.',
      body: {
        workspace_id: Workspace,
        statement: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_STATEMENT_LENGTH })),
        again: Type.Optional(
          Type.Unsafe<string>({
            ...Uuid,
            description: 'instead of a statement: that of this upload once more',
          }),
        ),
        title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        key: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'the same key gives the same proposal' }),
        ),
        dry_run: Type.Optional(Type.Boolean()),
        submit: Type.Optional(Type.Boolean({ description: 'ask for a review at once' })),
      },
      example: { statement: "update products set price = price * 1.1 where name like 'Zelt%'", submit: true },
      answer: Type.Object({
        upload: Upload,
        created: Type.Boolean({ description: 'false: the same key was there already' }),
      }),
      status: 201,
      problems: [403, 404, 409, 422],
      raw: true,
      handle: async (request) => {
        const { workspace_id, statement, again, title, key, dry_run: dryRun, submit } = request.body
        if (
          (statement === undefined) === (again === undefined) ||
          (again !== undefined && key !== undefined)
        ) {
          const reason = 'name a statement, with a key or without, or again'
          throw new StagedoorError('request_invalid', { reason })
        }
        const options = {
          actor: { transaction: request.transaction.bind(request) },
          title,
          dryRun,
          until: submit ? ('submitted' as const) : ('planned' as const),
        }
        const result =
          again !== undefined
            ? await proposeAgain(ingest, again, options)
            : await propose(ingest, statement!, {
                ...options,
                key,
                workspaceId: await request.transaction((client) => workspaceOf(client, workspace_id)),
              })
        const upload = await request.transaction((client) =>
          findUpload(withRawJson(client), result.upload.upload_id),
        )
        return { upload: upload!, created: result.created }
      },
    })
  })
}
