/** The documentation holds together: links and anchors lead somewhere, commands exist, and each page is reachable. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDocs, headingsOf } from '../../src/app/docs.ts'
import { createProgram } from '../../src/cli/program.ts'
import { CATALOGUE } from '../../src/kernel/catalogue.ts'
import { commandsIn, parseProblem } from './commands.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const below = (folder: string, name: (path: string) => boolean) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name)
    .map((path) => join(folder, path))
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...below('docs', (path) => path.endsWith('.md')),
  ...below('src', (path) => path.endsWith('README.md')),
  ...below('examples', (path) => path.endsWith('README.md') && !path.includes('node_modules')),
].sort()
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** Without blocks of code, in which brackets are no links. */
const prose = (markdown: string) =>
  markdown.replace(/^( *)(```|~~~).*?^\1\2$/gms, '').replace(/`[^`\n]*`/g, '')

describe('the documentation', () => {
  it('has links that lead to files and headings that exist', () => {
    const broken: string[] = []
    for (const page of PAGES)
      for (const [, target] of prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue
        const [path, anchor] = target!.split('#') as [string, string | undefined]
        const file = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path))
        const isThere = existsSync(join(ROOT, file)) && !file.startsWith('..')
        const hasAnchor =
          anchor === undefined ||
          (file.endsWith('.md') && isThere && headingsOf(read(file)).some((one) => one.anchor === anchor))
        if (!isThere || !hasAnchor) broken.push(`${page}: ${target}`)
      }
    expect(broken).toEqual([])
  })

  it('begins with a README of at most 150 lines, a picture, and one command', () => {
    const lines = read('README.md').trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(150)
    expect(lines[0]).toBe('# Stagedoor')
    expect(prose(read('README.md'))).toMatch(/!\[[^\]]+\]\(docs\/images\/[\w-]+\.png\)/)
  })

  it('has pictures of less than 150 KB', () => {
    const large = below('docs/images', () => true).filter(
      (path) => readFileSync(join(ROOT, path)).length > 150_000,
    )
    expect(large).toEqual([])
  })

  it('has names of pages that are unique, because the console has one address for each', () => {
    const names = ['guides', 'reference'].flatMap((folder) => readdirSync(join(ROOT, 'docs', folder)))
    expect(names).toEqual([...new Set(names)])
  })

  it('lists every page in its contents', () => {
    const other = createDocs()
      .list()
      .filter(({ group }) => group === 'More')
      .map(({ page }) => page)
    expect(other, 'add a line for each of these to docs/README.md').toEqual([])
  })

  it('says in no message and on no page what is not a command, an option or an argument of the CLI', async () => {
    const program = await createProgram()
    const problems: string[] = []
    for (const page of PAGES)
      for (const words of commandsIn(read(page))) {
        const problem = parseProblem(program, words)
        if (problem !== undefined) problems.push(`${page}: stagedoor ${words.join(' ')}: ${problem}`)
      }
    expect(problems).toEqual([])
  })
})

describe('troubleshooting', () => {
  const named = new Set(
    [...read('docs/guides/troubleshooting.md').matchAll(/`([a-z]+(?:_[a-z]+)+|drift|unauthenticated)`/g)].map(
      ([, code]) => code!,
    ),
  )

  it('has an entry for every error of configuration, database, drift and machine: nobody else can help there', () => {
    const codes = Object.entries(CATALOGUE).filter(([, { exit }]) => [3, 4, 7, 9].includes(exit))
    expect(codes.map(([code]) => code).filter((code) => !named.has(code))).toEqual([])
  })

  it('names no code that does not exist', () => {
    const others = new Set(['workflow_admin', 'pg_stat_activity', 'review_package'])
    expect([...named].filter((code) => !Object.hasOwn(CATALOGUE, code) && !others.has(code))).toEqual([])
  })
})
