/** The SQL of another version of the package: ours, with a few files added, changed or removed. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  readSqlFiles,
  SQL_FOLDER,
  type SqlFiles,
  splitChapter,
} from '../../../../src/kernel/postgres/migrate/files.ts'

/** A text is the file's new content, a function changes what is there, null removes it. */
export type Edits = Record<string, string | null | ((sql: string) => string)>

export function editedSql(edits: Edits): SqlFiles {
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-sql-'))
  try {
    cpSync(SQL_FOLDER, folder, { recursive: true })
    for (const [file, edit] of Object.entries(edits)) {
      const path = join(folder, file)
      mkdirSync(dirname(path), { recursive: true })
      if (edit === null) rmSync(path, { force: true })
      else writeFileSync(path, typeof edit === 'string' ? edit : changed(path, edit))
    }
    return readSqlFiles(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An edit of a chapter that takes one routine out of it. */
export function withoutRoutine(name: string): (sql: string) => string {
  return (sql) =>
    splitChapter(sql, 'a chapter')
      .filter((routine) => routine.name !== name)
      .map((routine) => routine.sql)
      .join('\n')
}

/** A migration after the last one. */
export function nextMigration(name: string): string {
  const version = readSqlFiles().migrations.length + 1
  return `migrations/${String(version).padStart(4, '0')}_${name}.sql`
}

function changed(path: string, edit: (sql: string) => string): string {
  const before = readFileSync(path, 'utf8')
  const after = edit(before)
  if (after === before) throw new Error(`the edit of ${path} changed nothing`)
  return after
}
