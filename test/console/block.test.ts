/** A block of cells from the clipboard: read as spreadsheets write it, and compared with the lines that it is pasted over. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBlock, parseBlock, planPaste } from '../../console/src/upload/repair/block.ts'

type Row = Parameters<typeof planPaste>[1][number]

describe('a block', () => {
  it.each<[string, string, string[][]]>([
    ['nothing', '', []],
    ['one cell', 'a', [['a']]],
    [
      'the line break that spreadsheets add',
      'a\tb\r\nc\td\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['empty cells at every place', '\ta\t\n\n\t', [['', 'a', ''], [''], ['', '']]],
    [
      'cells in quotes',
      '"a\tb"\t"say ""hi"""\n"two\nlines"\tx',
      [
        ['a\tb', 'say "hi"'],
        ['two\nlines', 'x'],
      ],
    ],
    ['a quote that is a quote', '"inch\t5" pipe', [['"inch', '5" pipe']]],
  ])('%s', (_what, text, rows) => {
    expect(parseBlock(text)).toEqual(rows)
  })

  it('is read back as a spreadsheet wrote it', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ü', '"', '\t', '\n', ' ', '€') })
    const rows = fc
      .integer({ min: 1, max: 4 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 5 }),
      )
    const quoted = (text: string) => (/["\t\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
    fc.assert(
      fc.property(rows, (block) => {
        const text = block.map((row) => row.map(quoted).join('\t')).join('\r\n')
        expect(parseBlock(`${text}\r\n`)).toEqual(block)
      }),
    )
  })

  it('is more than one cell', () => {
    expect(['a', 'a b', 'a\n', ''].filter(isBlock)).toEqual([])
    expect(['a\tb', 'a\nb', 'a\r\nb\r\n'].filter(isBlock)).toHaveLength(3)
  })
})

describe('a paste', () => {
  const row = (line: number, cells: Record<string, string | null>, status = 'valid') =>
    ({ row_number: line, raw_payload: cells, validation_status: status }) as Row
  const columns = [
    { name: 'Line', readOnly: true },
    { name: 'SKU', readOnly: false },
    { name: 'Price', readOnly: false },
  ]
  const rows = [
    row(2, { SKU: 'a', Price: null }),
    row(3, { SKU: 'b', Price: '5' }, 'skipped'),
    row(4, { SKU: 'c' }),
  ]

  it('changes what differs, and lists what does not fit', () => {
    const paste = planPaste(parseBlock('a\t4\tx\nB\t\nc\t7\nd'), rows, columns, 1)
    expect(paste.changed).toEqual([
      { line: 2, column: 'Price', from: '', to: '4' },
      { line: 3, column: 'SKU', from: 'b', to: 'B' },
      { line: 3, column: 'Price', from: '5', to: '' },
    ])
    expect(paste).toMatchObject({ same: 2, takenIn: [3] })
    expect(paste.leftOver).toEqual([
      { reason: 'to the right of the last column', cells: ['x'] },
      { reason: expect.stringMatching(/^in line 4, which has no cell there/), cells: ['7'] },
      { reason: 'below the last line', cells: ['d'] },
    ])
  })

  it('leaves columns that cannot be changed, and an empty cell that stays empty', () => {
    const paste = planPaste([['9', 'a', '']], rows, columns, 0)
    expect(paste).toMatchObject({
      changed: [],
      same: 2,
      leftOver: [{ reason: 'in the column Line, which cannot be changed', cells: ['9'] }],
    })
  })
})
