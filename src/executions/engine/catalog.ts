/** The catalogue: playbooks by version as executions keep them, and the latest of a name. */
import type pg from 'pg'
import type { Queryable } from '../../db/connection.ts'
import type { Playbook } from '../playbook/definition.ts'

export interface CatalogEntry {
  readonly catalog_id: string
  readonly path: string
  readonly version: number
  readonly playbook: Playbook
}

interface CatalogRow extends pg.QueryResultRow {
  readonly catalog_id: string
  readonly path: string
  readonly version: number
  readonly payload: Playbook
}

const MOST_ENTRIES = 1000

/** A version never changes, so it is read once. */
export class Catalog {
  private readonly db: Queryable
  private readonly entries = new Map<string, CatalogEntry>()

  constructor(db: Queryable) {
    this.db = db
  }

  known(catalogId: string): CatalogEntry | undefined {
    return this.entries.get(catalogId)
  }

  /** Reads those that are not known yet, all in one statement. Those that are asked for are the last to make room. */
  async read(catalogIds: Iterable<string>): Promise<void> {
    const asked = new Set(catalogIds)
    const missing = [...asked].filter((id) => !this.entries.has(id))
    for (const id of asked) this.touch(id)
    if (missing.length === 0) return
    const { rows } = await this.db.query<CatalogRow>(
      'select catalog_id, path, version, payload from noetl.catalog where catalog_id = any ($1)',
      [missing],
    )
    for (const row of rows) this.keep(row)
    this.makeRoom(asked)
  }

  /** The newest version of each name as of now; without those that are disabled, or not there. */
  async latest(paths: Iterable<string>): Promise<Map<string, CatalogEntry>> {
    const { rows } = await this.db.query<CatalogRow & { disabled: boolean }>({
      name: 'stagedoor_playbooks_latest',
      text: `select distinct on (path) catalog_id, path, version, payload, disabled_at is not null as disabled
               from noetl.catalog where path = any ($1) order by path, version desc`,
      values: [[...new Set(paths)]],
    })
    const latest = new Map(rows.filter((row) => !row.disabled).map((row) => [row.path, this.keep(row)]))
    this.makeRoom()
    return latest
  }

  private keep(row: CatalogRow): CatalogEntry {
    const known = this.entries.get(row.catalog_id)
    if (known !== undefined) return known
    const entry = {
      catalog_id: row.catalog_id,
      path: row.path,
      version: row.version,
      playbook: row.payload,
    }
    this.entries.set(row.catalog_id, entry)
    return entry
  }

  private touch(catalogId: string): void {
    const known = this.entries.get(catalogId)
    if (known === undefined) return
    this.entries.delete(catalogId)
    this.entries.set(catalogId, known)
  }

  /** The one that was not asked for longest goes; an execution in memory holds its own. */
  private makeRoom(asked: ReadonlySet<string> = new Set()): void {
    for (const id of this.entries.keys()) {
      if (this.entries.size <= MOST_ENTRIES) return
      if (!asked.has(id)) this.entries.delete(id)
    }
  }
}
