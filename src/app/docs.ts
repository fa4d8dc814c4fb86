/** The documentation that comes with the package: its pages, their headings, and a search over them. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { type Static, shape, Text, Type } from '../kernel/schema.ts'
import { createTextIndex, type TextIndex } from '../search/text-index.ts'

const FOLDER = fileURLToPath(new URL('../../docs', import.meta.url))
/** The page of contents: its headings are the groups, its links the order of the pages. */
const CONTENTS = 'README.md'
export const CONTENTS_PAGE = 'contents'
const FOLDERS = ['guides', 'reference']
/** The reference repeats the words of the guides for every command and function: where both fit, the guide comes first. */
const REFERENCE_WEIGHT = 0.6
/** So that one long page does not fill the list. */
const MAX_HITS_OF_PAGE = 3
/** Pages that no link of the contents names. */
const OTHER_GROUP = 'More'

const Heading = shape('DocsHeading', {
  level: Type.Integer({ minimum: 1, maximum: 6 }),
  title: Text,
  anchor: Type.String({ description: 'what comes after # in an address' }),
  line: Type.Integer({ description: 'of the Markdown, from 1' }),
})
type Heading = Static<typeof Heading>

export const DocsPage = shape('DocsPage', {
  page: Type.String({ description: 'its name in an address' }),
  title: Type.String({ description: 'as the contents name it: what one wants to do' }),
  group: Type.String({ description: 'the heading of the contents under which it stands' }),
  about: Type.String({ description: 'one sentence' }),
})
export type DocsPage = Static<typeof DocsPage>

export const DocsPageText = shape('DocsPageText', {
  page: Text,
  title: Text,
  path: Type.String({ description: 'of the file, from the root of the package: links are relative to it' }),
  markdown: Text,
  headings: Type.Array(Heading),
})
export type DocsPageText = Static<typeof DocsPageText>

export const DocsHit = shape('DocsHit', {
  page: Text,
  title: Text,
  heading: Type.String({ description: 'the nearest heading above what was found' }),
  anchor: Type.String({ description: 'of that heading; empty for the beginning of the page' }),
  snippet: Text,
  highlights: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
    description: 'from and to, in characters of the snippet',
  }),
  score: Type.Number(),
})
export type DocsHit = Static<typeof DocsHit>

export interface Docs {
  /** In the order of the contents. */
  list(): DocsPage[]
  page(name: string): DocsPageText
  search(db: Queryable, question: string, limit: number): Promise<DocsHit[]>
  /** Bytes of a picture that a page shows. */
  image(name: string): Buffer
}

/** Everything is read when it is first asked for, and kept. */
export function createDocs(folder: string = FOLDER): Docs {
  let pages: ReadonlyMap<string, DocsPageText> | undefined
  let index: Promise<{ sections: readonly Section[]; index: TextIndex }> | undefined
  const load = () => {
    pages ??= readPages(folder)
    return pages
  }
  return {
    list: () => listPages(load()),
    page(name) {
      const found = load().get(name)
      if (found === undefined) throw new StagedoorError('not_found', { what: `page ${name} in the docs` })
      return found
    },
    async search(db, question, limit) {
      index ??= indexPages(db, load())
      // A query that failed, for example because the database was away, is not kept.
      index.catch(() => {
        index = undefined
      })
      const { sections, index: texts } = await index
      const found = await texts.search(db, question, MAX_HITS_OF_PAGE * limit)
      const ofPage = new Map<string, number>()
      return found
        .filter(({ text }) => {
          const { page } = sections[text]!
          ofPage.set(page, (ofPage.get(page) ?? 0) + 1)
          return ofPage.get(page)! <= MAX_HITS_OF_PAGE
        })
        .slice(0, limit)
        .map(({ text, highlights, ...hit }) => {
          const { page, title, heading, anchor } = sections[text]!
          return { page, title, heading, anchor, ...hit, highlights: highlights.map((range) => [...range]) }
        })
    },
    image(name) {
      if (/^[a-z0-9-]+\.(png|svg)$/.test(name))
        try {
          return readFileSync(join(folder, 'images', name))
        } catch {
          // Said below, as for any other name.
        }
      throw new StagedoorError('not_found', { what: `picture ${name} in the docs` })
    },
  }
}

function readPages(folder: string): Map<string, DocsPageText> {
  const paths = [CONTENTS, ...FOLDERS.flatMap((name) => markdownFiles(folder, name))]
  return new Map(
    paths.map((path) => {
      const page = path === CONTENTS ? CONTENTS_PAGE : basename(path, '.md')
      const markdown = readFileSync(join(folder, path), 'utf8').replace(/^<!--.*-->\n/, '')
      const headings = headingsOf(markdown)
      return [page, { page, title: headings[0]?.title ?? page, path: `docs/${path}`, markdown, headings }]
    }),
  )
}

function markdownFiles(folder: string, name: string): string[] {
  return readdirSync(join(folder, name))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => `${name}/${file}`)
}

/** `- [title](guides/page.md): about` below `## group`. */
const ENTRY = /^- \[([^\]]+)\]\((?:guides|reference)\/([\w-]+)\.md\):? *(.*)$/

function listPages(pages: ReadonlyMap<string, DocsPageText>): DocsPage[] {
  const listed: DocsPage[] = []
  let group = ''
  for (const line of pages.get(CONTENTS_PAGE)!.markdown.split('\n')) {
    if (line.startsWith('## ')) group = line.slice(3)
    const [, title, page, about] = ENTRY.exec(line) ?? []
    if (page !== undefined && pages.has(page))
      listed.push({ page, title: title!, group, about: plainText(about!) })
  }
  const known = new Set([CONTENTS_PAGE, ...listed.map(({ page }) => page)])
  for (const { page, title } of pages.values())
    if (!known.has(page)) listed.push({ page, title, group: OTHER_GROUP, about: '' })
  return listed
}

interface Section {
  readonly page: string
  readonly title: string
  readonly heading: string
  readonly anchor: string
  readonly body: string
  readonly isReference: boolean
}

async function indexPages(db: Queryable, pages: ReadonlyMap<string, DocsPageText>) {
  const sections = [...pages.values()].filter(({ page }) => page !== CONTENTS_PAGE).flatMap(sectionsOf)
  const index = await createTextIndex(
    db,
    sections.map(({ title, heading, body, isReference }) => ({
      title: heading,
      context: title,
      body,
      weight: isReference ? REFERENCE_WEIGHT : 1,
    })),
  )
  return { sections, index }
}

/** A page, divided at its headings. */
function sectionsOf({ page, path, title, markdown, headings }: DocsPageText): Section[] {
  const lines = markdown.split('\n')
  return headings.map((heading, index) => ({
    page,
    title,
    heading: heading.title,
    anchor: index === 0 ? '' : heading.anchor,
    isReference: path.startsWith('docs/reference/'),
    body: plainText(
      lines.slice(heading.line, (headings[index + 1]?.line ?? lines.length + 1) - 1).join('\n'),
    ),
  }))
}

/** As people read it: without the marks of Markdown, which would be in every snippet. */
function plainText(markdown: string): string {
  return (
    markdown
      .replace(/^```.*$/gm, '')
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/^\|[-|: ]+\|$/gm, '')
      .replace(/\\?\|/g, ' ')
      .replace(/[`*]+/g, '')
      // The lines of pictures in text.
      .replace(/[\u2500-\u257f▲▼◄►]+/g, ' ')
      .trim()
  )
}

/** Anchors are made as GitHub makes them, so that a link works there and in the console. */
export function headingsOf(markdown: string): Heading[] {
  const headings: Heading[] = []
  const used = new Map<string, number>()
  let fence: string | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const [, marks, text] = (fence === undefined && /^(#{1,6}) +(.+?) *#*$/.exec(line)) || []
    if (marks === undefined || text === undefined) continue
    const title = plainText(text)
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const times = used.get(slug) ?? 0
    used.set(slug, times + 1)
    headings.push({
      level: marks.length,
      title,
      anchor: times === 0 ? slug : `${slug}-${times}`,
      line: index + 1,
    })
  }
  return headings
}
