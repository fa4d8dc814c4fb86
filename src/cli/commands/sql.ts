/** SQL as the login that migrates, for people who have no psql: to create a table, to change a row and watch what follows. */
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import pc from 'picocolors'
import { withClient } from '../../db/connection.ts'
import { StagedoorError } from '../../errors.ts'
import { type GlobalOptions, outputOf, withDatabase } from '../context.ts'
import { table } from '../output.ts'

const MAX_SHOWN_ROWS = 1000

export function sqlCommand(): Command {
  return new Command('sql')
    .description('run SQL on the database, as the login that migrates it')
    .argument('[statements...]', 'several with ; between; none: from standard input')
    .addHelpText(
      'after',
      `
  $ stagedoor sql "create table orders (id int primary key, status text)"
  $ stagedoor sql < tables.sql

Several statements are one transaction. It is your own table that you change here, past every gate and every review:
for data that has to be reviewed there is \`stagedoor ingest\`.`,
    )
    .action(async (given: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const output = outputOf(options)
      const statements = given.length > 0 ? given.join(' ') : await text(process.stdin)
      if (statements.trim() === '')
        throw new StagedoorError('argument_invalid', { reason: 'There is no statement to run' })
      const results = await withDatabase(options, (database) =>
        withClient(database.directUrl, async (client) => {
          const answer: unknown = await client.query({ text: statements, rowMode: 'array' })
          return (Array.isArray(answer) ? answer : [answer]) as Result[]
        }),
      )
      output.result(results.map(rowsAsObjects), () => {
        for (const result of results) output.line(shown(result))
      })
    })
}

interface Result {
  readonly command: string
  readonly rowCount: number | null
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

function rowsAsObjects({ command, rowCount, fields, rows }: Result): object {
  const objects = rows.map((row) => Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
  return { command, row_count: rowCount, rows: objects }
}

function shown({ command, rowCount, fields, rows }: Result): string {
  const count = rowCount === null ? '' : ` ${rowCount}`
  if (fields.length === 0) return `${pc.green('✔')} ${command}${count}`
  const cells = rows.slice(0, MAX_SHOWN_ROWS).map((row) => row.map(cellText))
  const lines = table([fields.map(({ name }) => name), ...cells], (cell, _column, row) =>
    row === 0 ? pc.dim(cell) : cell,
  )
  const more = rows.length > MAX_SHOWN_ROWS ? `, the first ${MAX_SHOWN_ROWS} shown` : ''
  return `${lines}\n${pc.dim(`(${rows.length === 1 ? '1 row' : `${rows.length} rows`}${more})`)}`
}

function cellText(value: unknown): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
