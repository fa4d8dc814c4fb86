/** Blocks are those that the parser finds in the whole text, though it gets only a part of it. */
import * as fc from 'fast-check'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfmTable } from 'micromark-extension-gfm-table'
import { expect, it } from 'vitest'
import { readBlocks } from '../../../src/units/marking/mark.ts'
import { cases } from '../../support/length.ts'

/** The last word: slow, and of all of it. */
function parsed(text: string) {
  // With an end that is not there, the extension would take lists apart.
  const hasFrontMatter = /^---[ \t]*\n(?:[\s\S]*\n)?---[ \t]*\n/.test(text)
  const { children } = fromMarkdown(text, {
    extensions: [gfmTable(), ...(hasFrontMatter ? [frontmatter(['yaml'])] : [])],
    mdastExtensions: [gfmTableFromMarkdown(), frontmatterFromMarkdown(['yaml'])],
  })
  return children.map(({ type, position }) => {
    const start = position!.start.offset!
    return { type, start, end: start + text.slice(start, position!.end.offset).trimEnd().length }
  })
}

/** Paragraphs and link definitions are text to us, however many of them follow each other. */
function comparable(blocks: readonly { type: string; start: number; end: number }[], text: string) {
  const made: { type: string; start: number; end: number }[] = []
  for (const { type, start, end } of blocks) {
    const kind = type === 'definition' ? 'paragraph' : type
    const last = made.at(-1)
    if (last && kind === 'paragraph' && last.type === kind && !/\n[ \t]*\n/.test(text.slice(last.end, start)))
      last.end = end
    else made.push({ type: kind, start, end })
  }
  return made
}

const LINES = [
  '# A heading',
  '## Another *one*',
  '#no heading',
  'Some text',
  'more text, with `code` and a | bar',
  '**bold** text',
  '[link](x) text',
  '[label]: /url "title"',
  '===',
  '---',
  '***',
  '- item',
  '- [ ] task',
  '* star',
  '  - nested',
  '    continued',
  '1. first',
  '2. second',
  '1999. a year',
  '10 of them',
  '> quote',
  '> # quoted heading',
  '```',
  '```js',
  '~~~',
  '    indented',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  'a | b',
  '--- | ---',
  '<div>',
  '</div>',
  '<!-- comment',
  'end -->',
  '<script>',
  '</script>',
  'tiếng Việt',
  '標題',
  '\\- escaped',
  '',
  '',
  '',
  '  ',
]

it('finds the blocks of any text', { tags: 'property' }, () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 14 }), (lines) => {
      const text = `${lines.join('\n')}\n`
      expect(comparable(readBlocks(text), text)).toEqual(comparable(parsed(text), text))
    }),
    { numRuns: cases(200, 1000) },
  )
})

it('finds them in long texts, where what is open goes on over many lines', {
  tags: 'property',
}, () => {
  const long = (lines: readonly string[]) =>
    lines.flatMap((line) => [line, ...Array(60).fill('- item\n\n  text')])
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { minLength: 2, maxLength: 6 }), (lines) => {
      const text = `${long(lines).join('\n')}\n`
      expect(comparable(readBlocks(text), text)).toEqual(comparable(parsed(text), text))
    }),
    { numRuns: cases(5, 20) },
  )
})

it('knows where the items of a list begin', () => {
  const text = 'Text\n\n- one\n- two\n  - nested\n\n- three\n- four\n\n  more of it\n'
  const list = readBlocks(text).find(({ type }) => type === 'list')!
  expect(list.items!.map((start) => text.slice(start, start + 6).trim())).toEqual([
    '- one',
    '- two',
    '- thre',
    '- four',
  ])
})

it('reads titles without their markup', () => {
  const titles = (text: string) => readBlocks(text).map(({ depth, title }) => [depth, title])
  expect(titles('## The `code` of *conduct* [here](x) ##\n')).toEqual([[2, 'The code of conduct here']])
  expect(titles('Two\nlines\n===\n')).toEqual([[1, 'Two lines']])
  expect(titles('### Ăn & uống &amp; C# !\n')).toEqual([[3, 'Ăn & uống & C# !']])
  expect(titles('#\n')).toEqual([[1, '']])
})
