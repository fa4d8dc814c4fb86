/** The SQL that ships with the package: the same relative folder from src/ and from dist/. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const SQL_FOLDER = fileURLToPath(new URL('../../../sql', import.meta.url))

export interface Migration {
  readonly version: number
  /** 0001_foundation */
  readonly name: string
  readonly sql: string
  readonly checksum: string
  /**
   * False where the first line says `-- stagedoor: no transaction`. Then every `;` at the end of a line ends a
   * statement, and each is written so that it can run again (`if not exists`), for it may have to.
   */
  readonly transactional: boolean
}

export interface Routine {
  readonly kind: 'function' | 'procedure' | 'view'
  readonly schema: string
  readonly name: string
  /** routines/gates/fn_gate_open.sql */
  readonly file: string
  readonly sql: string
  readonly hash: string
  /** The functions, as `schema.name`, that triggers made in this file call. */
  readonly triggerFunctions: readonly string[]
}

export interface SqlFiles {
  readonly migrations: readonly Migration[]
  /** Functions first, then views, each in the order of their paths. */
  readonly routines: readonly Routine[]
  readonly afterMigrate: string
}

export function readSqlFiles(folder: string = SQL_FOLDER): SqlFiles {
  return {
    migrations: readMigrations(join(folder, 'migrations')),
    routines: ['routines', 'views'].flatMap((kind) => readRoutines(folder, kind)),
    afterMigrate: readFileSync(join(folder, 'after-migrate.sql'), 'utf8'),
  }
}

function readMigrations(folder: string): Migration[] {
  const migrations = sqlFilesBelow(folder).map((file): Migration => {
    const sql = readFileSync(file, 'utf8')
    const name = relative(folder, file).replace(/\.sql$/, '')
    const version = /^(\d{4})_[a-z0-9_]+$/.exec(name)?.[1]
    if (!version) throw new Error(`${name}.sql: a migration is called 0001_its_name.sql`)
    return {
      version: Number(version),
      name,
      sql,
      checksum: sha256(sql),
      transactional: !sql.startsWith('-- stagedoor: no transaction'),
    }
  })
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1) {
      throw new Error(`${migration.name}: the migrations' numbers have a gap or a double before it`)
    }
  })
  return migrations
}

const TRIGGER_CALL = /\bexecute\s+(?:function|procedure)\s+([a-z_]+\.[a-z_0-9]+)\s*\(/gi
const HEAD = /^create or replace (function|procedure|view) ([a-z_]+)\.([a-z_0-9]+)/m

function readRoutines(root: string, folder: string): Routine[] {
  return sqlFilesBelow(join(root, folder)).map((path): Routine => {
    const sql = readFileSync(path, 'utf8')
    const file = relative(root, path).replaceAll('\\', '/')
    const [, kind, schema, name] = HEAD.exec(sql) ?? []
    if (!kind || !schema || !name)
      throw new Error(`${file}: no "create or replace function schema.name" in it`)
    if (!file.endsWith(`/${name}.sql`))
      throw new Error(`${file}: it defines ${name}; one routine a file, named after it`)
    const triggerFunctions = [...sql.matchAll(TRIGGER_CALL)].map(([, called]) => called!)
    return { kind: kind as Routine['kind'], schema, name, file, sql, hash: sha256(sql), triggerFunctions }
  })
}

function sqlFilesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .map((path) => join(folder, path))
}

function sha256(text: string): string {
  // Line ends must not make a clone on Windows look edited.
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}
