/** Reads the SQL that ships with the package (the folder sql/): migrations, and the routines and views of the chapters. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const SQL_FOLDER = fileURLToPath(new URL('../../../../sql', import.meta.url))

export interface Migration {
  readonly version: number
  /** 0001_foundation */
  readonly name: string
  readonly sql: string
  readonly checksum: string
  /**
   * False where the first lines say `-- stagedoor: no transaction`. Then every `;` at the end of a line ends a
   * statement, and each is written so that it can run again (`if not exists`), for it may have to.
   */
  readonly transactional: boolean
  /** `-- stagedoor: contract`: takes away what an older version uses, and waits until none runs. */
  readonly contracts: boolean
}

export interface Routine {
  readonly kind: 'function' | 'procedure' | 'view'
  readonly schema: string
  readonly name: string
  /** The chapter that holds it: gates/gates.sql */
  readonly file: string
  /** Its own part of the chapter: the comment above it, its definition, and the grants and triggers below. */
  readonly sql: string
  readonly hash: string
  /** The functions, as `schema.name`, that the triggers below it call. */
  readonly triggerFunctions: readonly string[]
}

export interface SqlFiles {
  readonly migrations: readonly Migration[]
  /** Functions first, then views, each in the order of the chapters and of their places in them. */
  readonly routines: readonly Routine[]
  readonly afterMigrate: string
}

export function readSqlFiles(folder: string = SQL_FOLDER): SqlFiles {
  return {
    migrations: readMigrations(join(folder, 'migrations')),
    routines: readRoutines(folder),
    afterMigrate: readFileSync(join(folder, 'after-migrate.sql'), 'utf8'),
  }
}

function readMigrations(folder: string): Migration[] {
  const migrations = sqlFilesBelow(folder).map((file): Migration => {
    const sql = readFileSync(file, 'utf8')
    const name = relative(folder, file).replace(/\.sql$/, '')
    const version = /^(\d{4})_[a-z0-9_]+$/.exec(name)?.[1]
    if (!version) throw new Error(`${name}.sql: a migration is called 0001_its_name.sql`)
    const header = headerOf(sql)
    if (header.has('contract') !== /^\d{4}_contract_/.test(name))
      throw new Error(
        `${name}.sql: one that begins with "-- stagedoor: contract" is called 0001_contract_its_name.sql`,
      )
    return {
      version: Number(version),
      name,
      sql,
      checksum: sha256(sql),
      transactional: !header.has('no transaction'),
      contracts: header.has('contract'),
    }
  })
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1) {
      throw new Error(`${migration.name}: the migrations' numbers have a gap or a double before it`)
    }
  })
  return migrations
}

/** What the lines at the beginning say: `-- stagedoor: contract`, `-- stagedoor: no transaction`. */
function headerOf(sql: string): ReadonlySet<string> {
  const said = new Set<string>()
  for (const line of sql.split(/\r?\n/)) {
    const [, what] = /^-- stagedoor: ([a-z ]+)$/.exec(line) ?? []
    if (what === undefined) break
    if (what !== 'contract' && what !== 'no transaction')
      throw new Error(`a migration does not say "${line}"`)
    said.add(what)
  }
  return said
}

const TRIGGER_CALL = /\bexecute\s+(?:function|procedure)\s+([a-z_]+\.[a-z_0-9]+)\s*\(/gi

/** Folders of sql/ that are not rooms. */
const NO_ROOMS = new Set(['migrations', 'packs'])

function readRoutines(root: string): Routine[] {
  const rooms = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_ROOMS.has(entry.name))
    .map((entry) => entry.name)
    .sort()
  const routines = rooms
    .flatMap((room) => sqlFilesBelow(join(root, room)))
    .flatMap((path) => splitChapter(readFileSync(path, 'utf8'), relative(root, path).replaceAll('\\', '/')))
  const seen = new Set<string>()
  for (const { file, schema, name } of routines) {
    const object = `${schema}.${name}`
    if (seen.has(object)) throw new Error(`${file}: ${object} is defined twice`)
    seen.add(object)
  }
  return [
    ...routines.filter((routine) => routine.kind !== 'view'),
    ...routines.filter((routine) => routine.kind === 'view'),
  ]
}

const DEFINITION = /^create or replace (function|procedure|view) ([a-z_]+)\.([a-z_0-9]+)/

/**
 * A chapter holds several routines. Each begins with the comment lines directly above its definition and ends where the next
 * begins. Comments that stand apart, with an empty line below them, are headings of the chapter and belong to no routine, so
 * that a routine's hash stays the same when the text around it changes or when it moves to another chapter.
 */
export function splitChapter(text: string, file: string): Routine[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const definitions = lines.flatMap((line, index) => (DEFINITION.test(line) ? [index] : []))
  const starts = definitions.map((index) => {
    let start = index
    while (start > 0 && lines[start - 1]!.startsWith('--')) start--
    return start
  })
  const first = starts[0] ?? lines.length
  if (definitions.length === 0 || lines.slice(0, first).some((line) => !isCommentOrEmpty(line))) {
    throw new Error(
      `${file}: it begins with "create or replace function|procedure|view schema.name", in lowercase`,
    )
  }
  return definitions.map((definition, index): Routine => {
    const own = lines.slice(starts[index], starts[index + 1] ?? lines.length)
    while (isCommentOrEmpty(own.at(-1) ?? 'end')) own.pop()
    const [, kind, schema, name] = DEFINITION.exec(lines[definition]!)!
    const sql = `${own.join('\n')}\n`
    if (!sql.trimEnd().endsWith(';')) throw new Error(`${file}: ${schema}.${name} does not end with ";"`)
    const triggerFunctions = [...sql.matchAll(TRIGGER_CALL)].map(([, called]) => called!)
    return {
      kind: kind as Routine['kind'],
      schema: schema!,
      name: name!,
      file,
      sql,
      hash: sha256(sql),
      triggerFunctions,
    }
  })
}

const isCommentOrEmpty = (line: string) => line.trim() === '' || line.startsWith('--')

function sqlFilesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .map((path) => join(folder, path))
}

function sha256(text: string): string {
  // A clone on Windows with other line ends must have the same checksum.
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}
