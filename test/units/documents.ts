/** Documents that are marked, approved and cut, by the people who do that. */

import { type NewMark, type StagedMark, stageManifest, stageMark } from '../../src/app/marking.ts'
import type { Client, Queryable } from '../../src/kernel/postgres/connection.ts'
import { type Cut, cutFromManifest } from '../../src/units/cut.ts'
import type { MarkManifest } from '../../src/units/manifest.ts'
import type { Transaction } from '../../src/units/units.ts'
import type { Workplace } from '../staging/people.ts'

export async function approve(place: Workplace, { staging_record_id, digest }: Staged): Promise<void> {
  await place.reviewer.session.query('select iu_core.fn_iu_staging_approve($1, $2)', [
    staging_record_id,
    digest,
  ])
}

/** What a session does, as if each were a transaction. */
export const within =
  (session: Client): Transaction =>
  (work) =>
    work(session)

type Staged = Pick<StagedMark, 'staging_record_id' | 'digest'>
type Options = Partial<NewMark> & { sourceRef: string }

export const mark = (place: Workplace, source: string, options: Options): Promise<StagedMark> =>
  stageMark(within(place.operator.session), { workspace: place.workspace, source, ...options })

export async function approved(place: Workplace, source: string, options: Options): Promise<StagedMark> {
  const staged = await mark(place, source, { again: true, ...options })
  await approve(place, staged)
  return staged
}

export const cut = (place: Workplace, { staging_record_id, digest }: Staged): Promise<Cut> =>
  cutFromManifest(place.operator.session, staging_record_id, digest)

/** Marked, approved by another, cut. */
export async function cutDocument(place: Workplace, source: string, options: Options): Promise<Cut> {
  return cut(place, await approved(place, source, options))
}

export async function cutManifest(place: Workplace, manifest: MarkManifest, source: string): Promise<Cut> {
  const staged = await stageManifest(place.operator.session, { workspace: place.workspace, manifest, source })
  await approve(place, staged)
  return cut(place, staged)
}

export interface UnitRow {
  readonly unit_id: string
  readonly address: string
  readonly unit_kind: string
  readonly title: string
  readonly body: string
  readonly status: string
  readonly version_no: number
  readonly container: string | null
  readonly position: number
  readonly supersedes: string | null
  readonly topics: string[] | null
}

/** The units of a document, by address. */
export async function unitsOf(
  db: Queryable,
  workspace: string,
  sourceRef: string,
): Promise<Map<string, UnitRow>> {
  const { rows } = await db.query<UnitRow>(
    `select u.unit_id, u.canonical_address as address, u.unit_kind, u.title, v.body, u.lifecycle_status as status, u.version_no,
            c.canonical_address as container, u.position, s.canonical_address as supersedes, u.content_profile -> 'topic_labels' as topics
       from iu_core.information_unit u
       join iu_core.unit_version v on v.unit_version_id = u.current_version_id
       left join iu_core.information_unit c on c.unit_id = u.container_id
       left join iu_core.information_unit s on s.unit_id = u.supersedes
      where u.workspace_id = $1 and u.source_ref = $2 order by u.canonical_address collate "C"`,
    [workspace, sourceRef],
  )
  return new Map(rows.map((row) => [row.address, row]))
}

/** Enacts the units at these addresses as they are. */
export async function enact(place: Workplace, ...addresses: string[]): Promise<void> {
  await place.reviewer.session.query(
    `select iu_core.fn_unit_enact(unit_id, version_no, 'APR-1') from iu_core.information_unit
      where workspace_id = $1 and canonical_address = any ($2)`,
    [place.workspace, addresses],
  )
}

export const HANDBOOK = `# Handbook

How we work.

## Leave

Twenty-five days.

### Sick leave

Tell us in the morning.

## Expenses

Keep the receipts.
`
