/** Marking: which pieces a document has, and what they are called. */
import { describe, expect, it } from 'vitest'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import { checkManifest } from '../../../src/units/manifest.ts'
import { type Marking, type MarkOptions, markDocument } from '../../../src/units/marking/mark.ts'
import type { PreviousPiece } from '../../../src/units/marking/previous.ts'

const marked = (source: string | Buffer, options: Partial<MarkOptions> = {}): Marking => {
  const marking = markDocument(source, { sourceRef: 'handbook.md', ...options })
  expect(checkManifest(marking.manifest, marking.source)).toEqual([])
  return marking
}
const textsOf = ({ manifest, source }: Marking) =>
  manifest.pieces.map(({ from, to }) => Buffer.from(source).subarray(from, to).toString())
const addressesOf = ({ manifest }: Marking) => manifest.pieces.map(({ address }) => address)

describe('pieces', () => {
  it('are what is under a heading, up to the next, of any level', () => {
    const marking = marked(
      '# Handbook\n\nAll.\n\n## Leave\nDays.\n\n### Sick\n\nCall.\n\nTitle\n-----\n\nSetext.\n',
    )
    expect(textsOf(marking)).toEqual([
      '# Handbook\n\nAll.',
      '## Leave\nDays.',
      '### Sick\n\nCall.',
      'Title\n-----\n\nSetext.',
    ])
    expect(
      marking.manifest.pieces.map(({ address, parent, kind, title }) => [address, parent, kind, title]),
    ).toEqual([
      ['handbook/title', null, 'section', 'Handbook'],
      ['handbook/leave', null, 'section', 'Leave'],
      ['handbook/leave/sick', 'handbook/leave', 'section', 'Sick'],
      ['handbook/title-2', null, 'section', 'Title'],
    ])
  })

  it('have addresses of the whole path, so that two README.md differ', () => {
    const root = (sourceRef: string, previous: PreviousPiece[] = []) =>
      markDocument('# A\n\nText.\n\n## B\n\nMore.\n', {
        sourceRef,
        previous,
      }).manifest.pieces[1]!.address.replace(/\/b$/, '')
    expect(root('README.md')).toBe('readme')
    expect(root('docs/Set up/README.md')).toBe('docs.set-up.readme')
    expect(root('./../wiki\\README.md')).toBe('wiki.readme')
    expect(root('https://example.com/wiki/a.b.md')).toBe('example-com.wiki.a-b')
    const long = root(`${'folder/'.repeat(60)}README.md`)
    expect(long).toMatch(/^[0-9a-f]{8}\.([a-z]*\.)+readme$/)
    expect(long.length).toBeLessThanOrEqual(100)
    expect(root(`other/${'folder/'.repeat(60)}README.md`)).not.toBe(long)
  })

  it('keep the root of the last cut, also the one of an earlier version', () => {
    const source = '# A\n\nText.\n\n## B\n\nMore.\n'
    const first = markDocument(source, { sourceRef: 'docs/README.md', address: 'rules' })
    const previous = first.manifest.pieces.map(({ address, hash, title, kind, parent }) => ({
      address,
      hash,
      title,
      kind,
      parent,
      text: '',
      dropped: false,
    }))
    const again = markDocument(`${source}\n## C\n\nNew.\n`, { sourceRef: 'docs/README.md', previous })
    expect(addressesOf(again)).toContain('rules/c')
  })

  it('begin with what stands before the first heading', () => {
    expect(addressesOf(marked('Hello.\n\n# One\n\n# Two\n'))).toEqual([
      'handbook/preamble',
      'handbook/one',
      'handbook/two',
    ])
  })

  it('are one, if there is no heading', () => {
    const marking = marked('Only text.\n\nMore of it.\n')
    expect(textsOf(marking)).toEqual(['Only text.\n\nMore of it.'])
    expect(marking.manifest.document.title).toBe('handbook')
  })

  it('are headings alone, where another follows at once', () => {
    expect(textsOf(marked('## A\n### B\n## C\n'))).toEqual(['## A', '### B', '## C'])
  })

  it('do not begin inside of code, quotes, lists and HTML', () => {
    const source = '## A\n\n```md\n# no\n```\n\n> # no\n\n- # no\n\n<!--\n\n# no\n\n-->\n\n    # no\n'
    expect(textsOf(marked(source))).toEqual([source.trimEnd()])
  })

  it('are lists and tables of more than 600 bytes, and what follows them is a part', () => {
    const list = '- an item of the list, with a few words\n'.repeat(20).trimEnd()
    const table = `| a | b |\n|---|---|\n${'| cell | another cell |\n'.repeat(30)}`.trimEnd()
    const source = `## A\n\nBefore.\n\n${list}\n\nBetween.\n\n${table}\n\nAfter.\n\n- short\n`
    const marking = marked(source)
    expect(textsOf(marking)).toEqual(['## A\n\nBefore.', list, 'Between.', table, 'After.\n\n- short'])
    expect(
      marking.manifest.pieces.map(({ address, parent, kind, title }) => [address, parent, kind, title]),
    ).toEqual([
      ['handbook/a', null, 'section', 'A'],
      ['handbook/a/list', 'handbook/a', 'list', 'A (list)'],
      ['handbook/a/part-2', 'handbook/a', 'part', 'A (part 2)'],
      ['handbook/a/table', 'handbook/a', 'table', 'A (table)'],
      ['handbook/a/part-3', 'handbook/a', 'part', 'A (part 3)'],
    ])
  })

  it('have at most 4,000 bytes, divided at blocks, items and sentences, and nothing gets lost', () => {
    const paragraphs = Array.from({ length: 40 }, (_, n) =>
      `Paragraph ${n}. ${'Some words. '.repeat(20)}`.trim(),
    )
    const items = Array.from(
      { length: 200 },
      (_, n) => `- item ${n} with a few words in it\n  - and one inside`,
    )
    const endless = 'A sentence that goes on. '.repeat(1000).trim()
    const noSpace = '漢字'.repeat(3000)
    const source = `## A\n\n${paragraphs.join('\n\n')}\n\n${items.join('\n')}\n\n## B\n\n${endless}\n\n## C\n\n${noSpace}\n`
    const marking = marked(source)
    for (const { from, to } of marking.manifest.pieces) expect(to - from).toBeLessThanOrEqual(4000)
    expect(textsOf(marking).join('').replace(/\s/g, '')).toBe(source.replace(/\s/g, ''))
    const starts = textsOf(marking).map((text) => text.slice(0, 9))
    for (const start of starts) expect(start).toMatch(/^(## |Paragraph|- item|A sentenc|[漢字]{9})/)
  })

  it('keep long code whole', () => {
    const code = `\`\`\`\n${'a line of code\n'.repeat(500)}\`\`\``
    expect(textsOf(marked(`## A\n\n${code}\n`))).toContain(code)
  })

  it('change next to an insertion only, however long the section is', () => {
    const paragraphs = Array.from({ length: 200 }, (_, n) =>
      `Paragraph ${n}. ${'Words '.repeat(n % 60)}`.trim(),
    )
    const before = marked(`## A\n\n${paragraphs.join('\n\n')}\n`)
    const after = marked(
      `## A\n\n${paragraphs.toSpliced(20, 0, 'Inserted. '.repeat(30).trim()).join('\n\n')}\n`,
    )
    const old = new Set(before.manifest.pieces.map(({ hash }) => hash))
    expect(before.manifest.pieces.length).toBeGreaterThan(8)
    expect(after.manifest.pieces.filter(({ hash }) => !old.has(hash)).length).toBeLessThanOrEqual(4)
  })
})

describe('the document', () => {
  it('gets its title, language and topics from front matter, which is no piece', () => {
    const marking = marked('---\ntitle: Our handbook\nlang: vi\ntopics: [hr, leave]\n---\n\n# H\n\nText.\n')
    expect(marking.manifest.document).toMatchObject({ title: 'Our handbook', language: 'vi' })
    expect(textsOf(marking)).toEqual(['# H\n\nText.'])
    expect(marking.manifest.pieces[0]!.topics).toEqual(['hr', 'leave'])
  })

  it('is titled by its only first-level heading, else by its name', () => {
    const titleOf = (source: string) => marked(source).manifest.document.title
    expect(titleOf('# The *handbook*\n\n## A\n')).toBe('The handbook')
    expect(titleOf('# One\n\n# Two\n')).toBe('handbook')
    expect(titleOf('---\ntitle: [broken\n---\n\n## A\n')).toBe('handbook')
  })

  it('is the same with Windows line ends and a byte order mark', () => {
    const source = '# Handbook\n\nText.\n\n## Leave\n\nMore.\n'
    expect(marked(`\uFEFF${source.replaceAll('\n', '\r\n')}`)).toEqual(marked(source))
    expect(marked(Buffer.from(`\uFEFF${source}`))).toEqual(marked(source))
  })

  it.each<[string, string | Buffer, string]>([
    ['empty', ' \n\n', 'it is empty'],
    ['nothing but front matter', '---\ntitle: x\n---\n', 'it has no text'],
    ['not UTF-8', Buffer.from([0x23, 0x20, 0xff, 0xfe]), 'it is not UTF-8'],
    ['with a NUL', 'a\0b', 'it has a NUL character'],
    ['with half a character', 'a\uD800b', 'it has half a surrogate pair, which is no character'],
    ['too large', 'word '.repeat(2_200_000), 'it has 11000000 bytes; at most 10 MiB are marked'],
    ['of too many pieces', '## A\n'.repeat(10_001), 'it has 10001 pieces; a manifest holds at most 10000'],
  ])('%s is refused', (_, source, reason) => {
    expect(() => marked(source)).toThrow(
      expect.toSatisfy(
        (error) =>
          error instanceof StagedoorError &&
          error.code === 'document_unreadable' &&
          error.details.reason === reason &&
          // What is too large is divided; anything else is no text.
          error.hint.includes('Divide it') === reason.includes('at most'),
      ),
    )
  })
})

describe('addresses', () => {
  it('are readable in any Latin script, and of others a hash that distinguishes titles', () => {
    const source =
      '## Nghỉ phép đặc biệt\n\n## Straße & Ångström\n\n## 休暇\n\n## 出張 API\n\n## 经费\n\n## ???\n'
    expect(addressesOf(marked(source))).toEqual([
      'handbook/nghi-phep-dac-biet',
      'handbook/strasse-angstrom',
      expect.stringMatching(/^handbook\/h-[0-9a-f]{8}$/),
      expect.stringMatching(/^handbook\/api-[0-9a-f]{8}$/),
      expect.stringMatching(/^handbook\/h-[0-9a-f]{8}$/),
      'handbook/section',
    ])
    expect(new Set(addressesOf(marked(source))).size).toBe(6)
  })

  it('are numbered where titles repeat', () => {
    expect(addressesOf(marked('## FAQ\n\na\n\n## FAQ\n\nb\n\n### FAQ\n\nc\n'))).toEqual([
      'handbook/faq',
      'handbook/faq-2',
      'handbook/faq-2/faq',
    ])
  })

  it('are short enough for the database, however long the titles are', () => {
    const long = Array.from({ length: 6 }, (_, n) => `${'#'.repeat(n + 1)} ${`Long title ${n} `.repeat(30)}`)
    for (const address of addressesOf(marked(long.join('\n\n'))))
      expect(address.length).toBeLessThanOrEqual(380)
  })

  it('begin as given, or as before', () => {
    expect(addressesOf(marked('## A\n', { address: 'hr' }))).toEqual(['hr/a'])
    const previous = [{ address: 'old/b', hash: 'x', title: 'B', kind: 'section', parent: null }]
    expect(addressesOf(marked('## A\n', { previous }))).toEqual(['old/a'])
  })
})

it('is deterministic', () => {
  const source = '# H\n\n## A\n\ntext\n\n## A\n\nother\n'
  expect(JSON.stringify(marked(source))).toBe(JSON.stringify(marked(source)))
})

it('takes seconds, not minutes, for 5 MB, whatever is in it', { tags: 'long' }, () => {
  const prose = (n: number) =>
    `## Section ${n}\n\n${'Some *words* of `prose`, [linked](x). '.repeat(60)}\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`
  const sources = {
    prose: Array.from({ length: 2200 }, (_, n) => prose(n)).join('\n'),
    list: '- an item of a list without an end\n'.repeat(140_000),
    table: `| a | b |\n|---|---|\n${'| cell | another |\n'.repeat(250_000)}`,
    fence: `\`\`\`\n${'code\n\n'.repeat(300_000)}`,
    line: 'word '.repeat(1_000_000),
  }
  for (const [name, source] of Object.entries(sources)) {
    const began = process.cpuUsage()
    marked(source)
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1e6, name).toBeLessThan(8)
  }
})
