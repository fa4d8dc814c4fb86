/** Units on the command line: named by address or id, and acted on in their own workspace. */

import { Option } from 'commander'
import { type Client, createPool } from '../../../db/connection.ts'
import type { Database } from '../../../db/open.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { UUID } from '../../../db/uuid.ts'
import { StagedoorError } from '../../../errors.ts'
import type { Transaction } from '../../../units/conflicts.ts'
import { type ActingOptions, callerFor, workspaceOf } from '../../acting.ts'
import { withDatabase } from '../../context.ts'
import { perhapsIdOf } from '../../ids.ts'

const ADDRESS = /^[a-z0-9][a-z0-9_.~-]*(\/[a-z0-9][a-z0-9_.~-]*)*$/

/** Those that are shipped, as the guide has them; a mistaken one is told all that there are. */
export const KINDS = 'document, section, list, table, part, note, commentary'

export interface UnitOptions extends ActingOptions {
  readonly workspace?: string
}

export interface FoundUnit {
  readonly unit_id: string
  readonly workspace_id: string
  readonly canonical_address: string
  readonly lifecycle_status: string
  readonly version_no: number
}

export function workspaceOption(): Option {
  return new Option('--workspace <id or name>', 'whose address it is, where more than one has it')
}

/** Said before a database is asked: it would speak of a uuid. */
export const unitName = perhapsIdOf('unit', addressOrId)

function addressOrId(given: string): string {
  if (UUID.test(given)) return given.toLowerCase()
  if (ADDRESS.test(given)) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is neither the address nor the id of a unit` },
    { hint: 'An address is like handbook/leave; `stagedoor unit list` shows them.' },
  )
}

/** Of a unit that is to be: an id is no address to people, and what is one is said. */
export function newAddress(given: string): string {
  if (ADDRESS.test(given) && given.length <= 400) return given
  throw new StagedoorError(
    'argument_invalid',
    { reason: `${given} is not an address` },
    {
      hint: 'An address is a path such as handbook/leave: parts of a–z, 0–9 and _.~- between slashes, each beginning with a letter or digit, at most 400 characters.',
    },
  )
}

export const unitNames = Object.assign(
  (given: string, before: string[] = []): string[] => [...before, unitName(given)],
  { kinds: unitName.kinds, perhaps: unitName.perhaps },
)

export async function findUnit(client: Client, name: string, workspace?: string): Promise<FoundUnit> {
  const where = workspace === undefined ? null : await workspaceOf(client, workspace)
  // Addresses are found by workspace: without the list of those, every unit would be looked at.
  const { rows } = await client.query<FoundUnit>(
    `select unit_id, workspace_id, canonical_address, lifecycle_status, version_no from iu_core.information_unit
      where ${UUID.test(name) ? 'unit_id = $1' : 'canonical_address = $1 and workspace_id in (select w.id from public.workspaces w)'}
        and ($2::uuid is null or workspace_id = $2)`,
    [name, where],
  )
  if (rows.length === 1) return rows[0]!
  if (rows.length === 0) throw new StagedoorError('unit_unknown', { unit: name })
  const reason = `${rows.length} workspaces have a unit ${name}`
  throw new StagedoorError(
    'argument_invalid',
    { reason },
    { hint: 'Say which with --workspace, or name the unit by its id.' },
  )
}

export interface Acting {
  /** One transaction as whoever acts. */
  readonly transaction: Transaction
  readonly database: Database
}

export interface UnitScope {
  /** What only a person may do. */
  readonly decides?: (unit: FoundUnit) => boolean
  /** The same over HTTP, by the last part of its path. */
  readonly call?: string
}

/** As the member that --as names, of the unit's own workspace; else as the back end. */
export async function onUnit<T>(
  options: UnitOptions,
  name: string,
  work: (unit: FoundUnit, acting: Acting) => Promise<T>,
  { decides = () => false, call = '' }: UnitScope = {},
): Promise<T> {
  return withDatabase(options, async (database) => {
    const backEnd = createPool(database.workerUrl, { role: 'dot_executor', max: 1, purpose: 'cli' })
    const requests = createPool(database.apiUrl, { max: 1, purpose: 'cli' })
    try {
      const unit = await inTransaction(backEnd, (client) => findUnit(client, name, options.workspace))
      const caller = await callerFor(database, options, {
        workspace: unit.workspace_id,
        decides: decides(unit),
        call: `POST /api/units/${unit.unit_id}/${call}`,
      })
      const transaction: Transaction = (task) =>
        caller ? inTransaction(requests, task, caller) : inTransaction(backEnd, task)
      return await work(unit, { transaction, database })
    } finally {
      await Promise.all([backEnd.end(), requests.end()])
    }
  })
}

/** Another unit that a command names: in the same workspace. */
export async function alsoNamed(client: Client, name: string, { workspace_id }: FoundUnit): Promise<string> {
  return (await findUnit(client, name, UUID.test(name) ? undefined : workspace_id)).unit_id
}
