/** The tool for statements: one INSERT, UPDATE, DELETE or MERGE on a table that is open to proposals becomes an upload with a plan. */
import { listProposalTables, propose } from '../ingest/proposals/proposals.ts'
import { MAX_STATEMENT_LENGTH } from '../ingest/proposals/statement.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Type } from '../kernel/schema.ts'
import { type Answer, counted } from './answers.ts'
import type { ToolCall } from './session.ts'
import { type Tool, tool, Workspace } from './tool.ts'
import { describeProposal, summarize } from './uploads.ts'

const proposeChangeTool = tool({
  name: 'propose_change',
  title: 'Propose a SQL change',
  description:
    'Propose one INSERT, UPDATE, DELETE or MERGE on a table that is open to statements. It is worked out and rolled back; the rows that it would change become a plan for people. Without a statement: which tables are open.',
  toolsets: ['data'],
  right: 'stage',
  reads: false,
  idempotent: true,
  input: {
    statement: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_STATEMENT_LENGTH })),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'with a statement: your name for this proposal; again, it finds the proposal',
      }),
    ),
    workspace: Workspace,
  },
  async handle({ statement, key, workspace: named }, call) {
    const workspaceId = await call.transaction((client) => call.workspace(client, named))
    if (statement === undefined) return openTables(call, workspaceId)
    // The same statement may be right every week, so only a key tells a call that is repeated from a new one.
    if (key === undefined)
      throw new StagedoorError('request_invalid', {
        reason: 'a statement needs a key, your name for this proposal',
      })
    const { upload, created } = await call.inSlot(() =>
      propose(call.deps.ingest, statement, {
        actor: call.actor,
        workspaceId,
        key,
        // A caller does not see the proposals of others, so their keys are not its own.
        keyOwner: call.session.principal.subject,
        until: 'planned',
      }),
    )
    const data = await call.transaction((client) => describeProposal(client, call, upload.upload_id))
    return {
      ...summarize(data, created, {
        counts: `, its plan has ${counted(data.lines.total ?? 0, 'row')}`,
        refused: 'The plan cannot be submitted.',
        remedy: '`refusal` says why; propose another statement under another key.',
      }),
      data: { created, operation: upload.proposal?.operation, table: upload.proposal?.target, ...data },
    }
  },
})

export const STATEMENT_TOOLS = { propose: proposeChangeTool } satisfies Record<string, Tool>

async function openTables(call: ToolCall, workspaceId: string): Promise<Answer> {
  const listed = await call.transaction((client) => listProposalTables(client, workspaceId))
  const tables = listed
    .filter(({ closed_at }) => closed_at === null)
    .map(({ target, operations, columns, key, triggers, max_rows, not_ready }) => ({
      table: target,
      operations,
      columns,
      key,
      triggers,
      max_rows,
      not_ready,
    }))
  const steps = [
    ...(tables.length === 0 ? ['A person who administers the workspace opens a table.'] : []),
    ...(call.deps.ingest.proposalPool === undefined
      ? ['Statements cannot be worked out here before somebody sets PROPOSAL_DATABASE_URL.']
      : []),
  ]
  return { summary: `Tables that are open to statements: ${tables.length}.`, data: { tables }, next: steps }
}
