/** sql/manifest.json: the database that doctor expects, one object a line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { SQL_FOLDER } from '../migrate/files.ts'
import { type Entry, readCatalogue } from './catalogue.ts'

/** Made from a freshly migrated database on the newest PostgreSQL. */
export async function makeManifest(client: pg.Client): Promise<string> {
  await client.query('begin isolation level repeatable read read only')
  try {
    return write(await readCatalogue(client))
  } finally {
    await client.query('rollback')
  }
}

export function readManifest(file: string = join(SQL_FOLDER, 'manifest.json')): Entry[] {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const reason = `sql/manifest.json cannot be read (${(error as Error).message})`
    throw new StagedoorError('internal', { reason }, { cause: error })
  }
}

function write(entries: readonly Entry[]): string {
  const lines = entries.map(({ attributes, ...identity }) => {
    const { kind, of, name } = identity
    const sorted = Object.fromEntries(Object.entries(attributes).sort(([a], [b]) => order(a, b)))
    return { key: [kind, of ?? '', name], text: JSON.stringify({ kind, of, name, ...sorted }) }
  })
  lines.sort((a, b) => a.key.reduce((result, part, index) => result || order(part, b.key[index]!), 0))
  return `[\n${lines.map((line) => line.text).join(',\n')}\n]\n`
}

function parse(text: string): Entry[] {
  const lines = JSON.parse(text) as (Pick<Entry, 'kind' | 'of' | 'name'> & Entry['attributes'])[]
  return lines.map(({ kind, of, name, ...attributes }) => ({
    kind,
    ...(of !== undefined && { of }),
    name,
    attributes: attributes as Entry['attributes'],
  }))
}

/** By code unit: the file must not depend on anybody's locale. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
