/**
 * One statement by the extended protocol, which takes no second one, and no more rows than were asked for: the server is
 * told to stop, so that a forgotten WHERE does not fill the memory of the process.
 */
import pg from 'pg'
import type { JsonObject } from '../playbook/definition.ts'

interface PortalConnection {
  sync(): void
}

/** What the driver's own class does and its types do not say. */
interface DriverQuery {
  new (config: object, values: undefined, done: (error: Error | null, result: pg.QueryResult) => void): object
}

export class LimitedQuery {
  rows: JsonObject[] = []
  /** Of what it wrote or gave. */
  rowCount = 0
  command = ''
  isMore = false
  private readonly config: object
  private readonly most: number

  /** With 0 it runs to its end and its rows are dropped: what a SELECT calls is called for every row. */
  constructor(config: { text: string; values: unknown[]; types: pg.CustomTypesConfig }, most: number) {
    // One more than asked for tells whether there are more.
    this.config = { ...config, queryMode: 'extended', ...(most > 0 && { rows: most + 1 }) }
    this.most = most
  }

  async runOn(client: pg.PoolClient): Promise<void> {
    let suspended = false
    const result = await new Promise<pg.QueryResult>((resolve, reject) => {
      const query = new (pg.Query as unknown as DriverQuery)(this.config, undefined, (error, answer) =>
        error ? reject(error) : resolve(answer),
      )
      Object.assign(query, {
        handlePortalSuspended(connection: PortalConnection) {
          suspended = true
          connection.sync()
        },
        ...(this.most === 0 && { handleDataRow() {} }),
      })
      client.query(query as pg.Submittable)
    })
    this.isMore = suspended || (this.most > 0 && result.rows.length > this.most)
    this.rows = result.rows.slice(0, this.most)
    this.command = result.command ?? ''
    this.rowCount = result.rowCount ?? this.rows.length
  }
}
