import { Command } from 'commander'
import pg from 'pg'
import pc from 'picocolors'
import type { Client } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import type { Dataset } from '../../ingest/datasets/dataset.ts'
import { type ClientRow, listClients, listDatasets, tableSql } from '../../ingest/datasets/registry.ts'
import { type ActingOptions, asOption, userOption, workspaceOf } from '../acting.ts'
import { type GlobalOptions, outputOf, withAdministrator } from '../context.ts'
import { table, visibleLine } from '../output.ts'
import { unknown } from './dataset/look.ts'
import { withSession } from './upload/session.ts'

interface Where {
  readonly workspace?: string
  readonly dataset?: string
}

export function clientCommand(): Command {
  const client = new Command('client').description('clients: whose data an upload is')
  client
    .command('list')
    .description('the clients of a workspace')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option('--dataset <name>', 'whose clients; default: the only dataset that has some')
    .addOption(asOption())
    .addOption(userOption())
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ActingOptions & Where>()
      const output = outputOf(options)
      const scope = options.workspace === undefined ? {} : { workspace: options.workspace }
      const clients = await withSession(options, scope, ({ act }) =>
        act(async (db) =>
          listClients(db, await withClients(db, options), await workspaceOf(db, options.workspace)),
        ),
      )
      output.result(clients, () => {
        if (clients.length === 0) return output.line('No client yet: stagedoor client add "Northwind"')
        output.line(table(clients.map(({ id, name }) => [id, name])))
      })
    })
  client
    .command('add')
    .description('add a client to a workspace, as the administrator')
    .argument('<name>')
    .option('--workspace <id or name>', 'default: the only one there is')
    .option('--dataset <name>', 'into whose table of clients; default: the only dataset that has some')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & Where>()
      const output = outputOf(options)
      const added = await withAdministrator(options, async (db) =>
        addClient(db, await withClients(db, options), await workspaceOf(db, options.workspace), name),
      )
      output.result(added, () => output.line(`${pc.green('✔')} ${visibleLine(added.name)} is ${added.id}`))
    })
  return client
}

type WithClients = Pick<Dataset, 'client'> & { readonly client: NonNullable<Dataset['client']> }

async function withClients(db: Client, { dataset }: Where): Promise<WithClients> {
  const registered = await listDatasets(db)
  const named = dataset === undefined ? registered : registered.filter((found) => found.dataset === dataset)
  if (dataset !== undefined && named.length === 0) throw unknown(dataset, registered)
  const tables = new Map(
    named.flatMap(({ definition: { client } }) => (client ? [[client.table, { client }] as const] : [])),
  )
  if (tables.size === 1) return [...tables.values()][0]!
  const reason =
    tables.size === 0
      ? 'No dataset has clients'
      : `Say whose clients with --dataset: ${named.map((found) => found.dataset).join(', ')}`
  throw new StagedoorError(
    'argument_invalid',
    { reason },
    tables.size === 0 ? { hint: '`stagedoor dataset add ads` brings one that has.' } : {},
  )
}

/** A table of the user's own may ask for more than a name; then the database says what. */
export async function addClient(
  db: Client,
  { client }: WithClients,
  workspace: string,
  name: string,
): Promise<ClientRow> {
  if (!/\S/.test(name)) throw new StagedoorError('argument_invalid', { reason: 'A client needs a name' })
  const known = (await listClients(db, { client }, workspace)).find((found) => found.name === name)
  if (known)
    throw new StagedoorError('argument_invalid', { reason: `There is a client ${name} already: ${known.id}` })
  const ident = pg.escapeIdentifier
  const { rows } = await db.query<ClientRow>(
    `insert into ${tableSql(client.table)} (${ident(client.workspace)}, ${ident(client.name)})
     values ($1, $2) returning ${ident(client.id)}::text as id, ${ident(client.name)}::text as name`,
    [workspace, name],
  )
  return rows[0]!
}
