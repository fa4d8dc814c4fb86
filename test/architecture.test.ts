import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readSqlFiles } from '../src/kernel/postgres/migrate/files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Each level may import from the levels before it, never from beside it or after it. */
const LEVELS: readonly (readonly string[])[] = [
  ['kernel'],
  ['runtime'],
  ['gates', 'access'],
  ['staging', 'ingest', 'events', 'jobs', 'executions', 'units', 'search', 'changes'],
  ['app'],
  ['http', 'mcp'],
  ['cli'],
  ['index'],
]

function typescriptBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules') && !path.startsWith('dist'))
    .map((path) => join(folder, path))
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!)
}

/** src/jobs/queue.ts → jobs, src/index.ts → index */
function roomOf(path: string): string {
  return relative('src', path).split('/')[0]!.replace(/\.ts$/, '')
}

describe('imports point one way', () => {
  const rooms = LEVELS.flat()
  const level = (room: string) => LEVELS.findIndex((names) => names.includes(room))

  it('every file of src is in a room that this test knows', () => {
    expect(
      typescriptBelow('src')
        .map(roomOf)
        .filter((room) => !rooms.includes(room)),
    ).toEqual([])
  })

  it('from later levels to earlier ones, and never between rooms of one level', () => {
    const wrong = typescriptBelow('src').flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => ({ from: roomOf(file), to: roomOf(join(dirname(file), target)), file }))
        .filter(({ from, to }) => from !== to && level(to) >= level(from))
        .map(({ file, to }) => `${file} → ${to}`),
    )
    expect(wrong).toEqual([])
  })

  it('the console imports nothing of the product: it speaks HTTP', () => {
    const wrong = typescriptBelow('console/src').flatMap((file) =>
      importsOf(file).filter(
        (target) => target === 'stagedoor' || target === 'pg' || target.includes('/src/'),
      ),
    )
    expect(wrong).toEqual([])
  })
})

describe('files', () => {
  it('of SQL are chapters of a room, each routine stands in one of them, and the migrations have no gap', () => {
    expect(() => readSqlFiles()).not.toThrow()
  })

  it('are called by a noun of the product, not by utils, helpers, manager or common', () => {
    const files = ['src', 'console/src', 'test', 'bench/src'].flatMap(typescriptBelow)
    expect(
      files.filter((file) => /(^|[/-])(utils?|helpers?|managers?|common|misc)([./-]|$)/.test(file)),
    ).toEqual([])
    expect(files.filter((file) => !/^[a-z0-9.-]+$/.test(file.split('/').at(-1)!))).toEqual([])
  })

  it('each room has a README of one page, and the files that it names exist', () => {
    const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    )
    for (const { name } of rooms) {
      const path = join(ROOT, 'src', name, 'README.md')
      expect(existsSync(path), `src/${name}/README.md`).toBe(true)
      const text = readFileSync(path, 'utf8')
      expect(text.split('\n').length, `src/${name}/README.md is longer than a page`).toBeLessThan(70)
      const named = [...text.matchAll(/`([\w./-]+\.(?:ts|sql))`/g)].map((match) => match[1]!)
      const below = readdirSync(join(ROOT, 'src', name), { recursive: true, encoding: 'utf8' })
      const missing = named.filter(
        (file) =>
          !existsSync(join(ROOT, file)) && !below.some((path) => path === file || path.endsWith(`/${file}`)),
      )
      expect(missing, `src/${name}/README.md`).toEqual([])
    }
  })
})
