/** Everything that is made from the sources and kept in the tree, by path. Runs on the built product. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createProgram } from '../dist/cli/program.js'
import { playbookJsonSchema } from '../dist/executions/playbook/schema.js'
import { createServer } from '../dist/http/server.js'
import { datasetJsonSchema } from '../dist/ingest/datasets/declare.js'
import { CATALOGUE } from '../dist/kernel/catalogue.js'
import { describeConfig, readConfig } from '../dist/kernel/config.js'
import { makeManifest } from '../dist/kernel/postgres/doctor/compare.js'
import { startEmbedded } from '../dist/kernel/postgres/embedded/server.js'
import { readSqlFiles } from '../dist/kernel/postgres/migrate/files.js'
import { migrate } from '../dist/kernel/postgres/migrate/migrate.js'
import { markManifestJsonSchema } from '../dist/units/manifest.js'
import { pythonTypes } from './python-types.mjs'
import { executionsSqlReference, sqlReference, unitsSqlReference } from './sql-reference.mjs'

const MADE = '<!-- Made by `npm run generate`. Do not edit. -->'

/** Returns the texts by their path from the root. */
export async function generatedFiles() {
  const api = await openapi()
  const { routines } = readSqlFiles()
  return {
    'docs/reference/errors.md': errors(),
    'docs/reference/configuration.md': configuration(),
    'docs/reference/cli.md': await cli(),
    'docs/reference/events-and-jobs-sql.md': `${MADE}\n${sqlReference(routines)}`,
    'docs/reference/executions-sql.md': `${MADE}\n${executionsSqlReference(routines)}`,
    'docs/reference/units-sql.md': `${MADE}\n${unitsSqlReference(routines)}`,
    'docs/reference/dataset.schema.json': `${JSON.stringify(datasetJsonSchema(), null, 2)}\n`,
    'docs/reference/mark-manifest.schema.json': `${JSON.stringify(markManifestJsonSchema(), null, 2)}\n`,
    'docs/reference/playbook.schema.json': `${JSON.stringify(playbookJsonSchema(), null, 2)}\n`,
    'docs/reference/openapi.json': `${linesOf(api, 3)}\n`,
    'console/src/api/types.generated.ts': await apiTypes(api),
    'clients/python/stagedoor/types.py': pythonTypes(api),
    'sql/manifest.json': await manifest(),
  }
}

function errors() {
  const rows = Object.entries(CATALOGUE).map(([code, spec]) =>
    cells(
      `\`${code}\``,
      spec.status,
      spec.exit,
      spec.retryable ? 'yes' : 'no',
      (spec.sqlstates ?? []).join(' '),
      spec.message,
      spec.hint,
    ),
  )
  return `${MADE}
# Errors

Every error has a code that stays. HTTP answers \`application/problem+json\` with the status, the CLI prints message and
hint and exits with the exit code, SQL raises the SQLSTATE (class \`SD\` is ours). Words in braces are filled in.

| code | status | exit | retryable | SQLSTATE | message | what to do |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`
}

function configuration() {
  const rows = describeConfig(readConfig({}, { home: 'HOME' })).map((line) => {
    const value = line.setting === 'STAGEDOOR_HOME' ? '.stagedoor' : line.value
    return cells(`\`${line.setting}\``, value === '' ? '' : `\`${value}\``, line.about)
  })
  return `${MADE}
# Configuration

From the environment; flags of a command win. An unknown \`STAGEDOOR_*\` variable or a malformed value is an error at start.
\`stagedoor config\` prints what is in force and where it came from.

| setting | default | what it is |
|---|---|---|
${rows.join('\n')}
`
}

async function cli() {
  const sections = []
  const visit = (command, path) => {
    command.configureHelp({ helpWidth: 110 })
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text), getOutHasColors: () => false })
    command.outputHelp()
    sections.push(`## ${path}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`)
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  visit(await createProgram(), 'stagedoor')
  return `${MADE}\n# Command line\n\nIn a clone: \`npm run -s stagedoor -- <command>\`.\n\n${sections.join('\n')}`
}

async function openapi() {
  const app = await createServer({
    config: { bodyLimit: 1_048_576, rateLimit: 0 },
    pool: new pg.Pool(),
    tokens: { verify: () => Promise.reject(new Error('only described')) },
    health: async () => [],
  })
  await app.ready()
  const description = app.swagger()
  await app.close()
  return description
}

/** JSON with a line for each operation and each shape: a diff shows which changed, and the file stays small. */
function linesOf(value, depth, indent = '') {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value))
    return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${indent}  ${JSON.stringify(name)}: ${linesOf(member, depth - 1, `${indent}  `)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}

async function apiTypes(api) {
  // A dependency of the console, with a TypeScript of its own.
  const fromConsole = createRequire(new URL('../console/package.json', import.meta.url))
  const { default: openapiTS, astToString } = fromConsole('openapi-typescript')
  return `// Made by \`npm run generate\` from the API's description. Do not edit.\n${astToString(await openapiTS(api))}`
}

async function manifest() {
  const home = mkdtempSync(join(tmpdir(), 'stagedoor-manifest-'))
  // mkdtemp closes the folder to everybody, and as root the server runs as somebody else.
  chmodSync(home, 0o755)
  const server = await startEmbedded({ home, durability: 'throwaway' })
  try {
    const admin = new pg.Client(server.url())
    await admin.connect()
    await admin.query("create role stagedoor_migrator login createrole password 'manifest'")
    await admin.query('create database manifest owner stagedoor_migrator')
    await admin.end()
    const url = new URL(server.url('manifest'))
    url.username = 'stagedoor_migrator'
    url.password = 'manifest'
    await migrate({ url: url.toString() })
    const client = new pg.Client(server.url('manifest'))
    await client.connect()
    const text = await makeManifest(client)
    await client.end()
    return text
  } finally {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

function cells(...values) {
  return `| ${values.map((value) => String(value).replaceAll('|', '\\|')).join(' | ')} |`
}
