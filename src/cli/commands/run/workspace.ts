/** In which workspace a run is started: the one that is named, else the only one there is. */
import { listWorkspaces } from '../../../access/members.ts'
import type { Client } from '../../../db/connection.ts'
import { StagedoorError } from '../../../errors.ts'
import type { Playbook } from '../../../executions/playbook/definition.ts'
import { workspaceOf } from '../../acting.ts'

/** Undefined: it runs for none of several. Refused where a step holds something that then nobody could decide on. */
export async function workspaceForRun(
  client: Client,
  named: string | undefined,
  playbook: Playbook,
): Promise<string | undefined> {
  if (named !== undefined) return workspaceOf(client, named)
  const workspaces = await listWorkspaces(client)
  if (workspaces.length === 1) return workspaces[0]!.id
  const step = stepThatHolds(playbook)
  if (step === undefined) return undefined
  const names = workspaces.map(({ id, name }) => name ?? id).join(', ')
  throw new StagedoorError(
    'argument_invalid',
    {
      reason: `The step ${step} holds something that members of a workspace decide on, and no workspace is named`,
    },
    {
      hint:
        names === ''
          ? 'There is none yet: `stagedoor workspace create NAME`, then --workspace NAME.'
          : `Say which with --workspace: ${names}.`,
    },
  )
}

/** One that names its workspace itself needs no other. */
function stepThatHolds({ steps }: Playbook): string | undefined {
  return steps.find(({ tools }) =>
    tools.some(
      ({ tool, args }) =>
        args.workspace_id === undefined &&
        (tool === 'ingest' || (tool === 'staging' && args.action === 'create')),
    ),
  )?.step
}
