/** What the commands of `stagedoor unit` share: how they find their unit. */
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { type FoundUnit, findUnits, type UnitRecord } from '../units/units.ts'
import { argumentInvalid, integerFrom } from './arguments.ts'
import { command } from './command.ts'
import { unitName } from './ids.ts'
import { type Session, type SessionOptions, type Transaction, workspaceIfNamed } from './session.ts'
import { painter } from './terminal.ts'

/** Those that are shipped, as the guide has them; an unknown one is answered with all that there are. */
export const UNIT_KINDS = 'document, section, list, table, part, note, commentary'

export interface UnitOptions extends SessionOptions {
  readonly workspace?: string
}

/** A command about one unit. */
export const unitVerb = (name: string, description: string) =>
  command(name, description)
    .argument('<unit>', 'its address or id', unitName)
    .workspace('whose address it is, where more than one has it')
    .actor()

export const EXPECT = [
  '--expect <version>',
  'refuse if it is no longer at this one; default: the current one',
  integerFrom(1),
] as const

interface OpenUnit {
  readonly unit: FoundUnit
  /** One transaction as whoever acts, in the unit's own workspace. */
  readonly transaction: Transaction
}

/** The unit that a command names. `decides`: only a person may do it; over HTTP it is POST …/units/{id}/`call`. */
export async function openUnit(
  session: Session<UnitOptions>,
  name: string,
  { decides = () => false, call = '' }: { decides?: (unit: FoundUnit) => boolean; call?: string } = {},
): Promise<OpenUnit> {
  const unit = await session.backEnd((client) => findUnit(client, name, session.options.workspace))
  const act = decides(unit) ? session.decide : session.transaction
  const scope = { workspace: unit.workspace_id, call: `POST ${API_PREFIX}/units/${unit.unit_id}/${call}` }
  return { unit, transaction: (work) => act(work, scope) }
}

export async function findUnit(client: Client, name: string, workspace?: string): Promise<FoundUnit> {
  const found = await findUnits(client, name, await workspaceIfNamed(client, workspace))
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new StagedoorError('unit_unknown', { unit: name })
  throw argumentInvalid(
    `${found.length} workspaces have a unit ${name}`,
    'Say which with --workspace, or name the unit by its id.',
  )
}

/** Another unit that a command names: in the same workspace. */
export async function findRelatedUnit(
  client: Client,
  name: string,
  { workspace_id }: FoundUnit,
): Promise<FoundUnit> {
  return findUnit(client, name, UUID.test(name) ? undefined : workspace_id)
}

export function statusOf(unit: Pick<UnitRecord, 'lifecycle_status' | 'deleted_at'>): string {
  return unit.deleted_at === null ? unit.lifecycle_status : 'deleted'
}

export const paintStatus = painter({ green: ['enacted'], yellow: ['draft'] })
