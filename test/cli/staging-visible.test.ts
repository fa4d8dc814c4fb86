import { describe, expect, it } from 'vitest'
import { formatTable } from '../../src/cli/terminal.ts'
import { printable, printableLine, textWidth, truncate, wrapText } from '../../src/cli/text.ts'
import { problemTable } from '../../src/cli/upload-problems.ts'

describe('what others wrote', () => {
  it('shows every character that would steer a terminal, hide or reorder', () => {
    expect(printable('a\u001b[2Jb\rc\u0000\u0007\u007f')).toBe('a␛[2Jb␍c␀␇␡')
    expect(printable('\u009b31m\u0085')).toBe('\\u009b31m\\u0085')
    expect(printable('\u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c')).toBe(
      '\\u202eevil\\u202c \\u2066x\\u2069 \\u200e\\u200f\\u061c',
    )
    expect(printable('ze\u200bro\u200d\u2060\ufeff\u00ad\u2028')).toBe(
      'ze\\u200bro\\u200d\\u2060\\ufeff\\u00ad\\u2028',
    )
    expect(printable('\u{e0041}\ufe01')).toBe('\\u{e0041}\\ufe01')
  })

  it('leaves everything else as it is: newlines, tabs, every script, emoji', () => {
    const text = 'Zürich\n\t東京 مرحبا नमस्ते e\u0301 ❤️ 😀 \\u202e'
    expect(printable(text)).toBe(text)
  })

  it('stays on its line, and in its cell', () => {
    expect(printableLine('fine\n✔ Approved\tx')).toBe('fine␊✔ Approved␉x')
    expect(formatTable([['a\u001b[1A', 'b\nc']])).toBe('a␛[1A  b␊c')
  })

  it('is marked where it is cut, and never within a character', () => {
    expect(truncate('12345', 5)).toBe('12345')
    expect(truncate('123456', 5)).toBe('12345…')
    expect(truncate('😀😀😀', 4)).toBe('😀😀…')
    expect(truncate('😀😀', 4)).toBe('😀😀')
    expect(truncate('😀😀', 3)).toBe('😀…')
    expect(truncate('👩‍👩‍👧‍👦e\u0301x', 3)).toBe('👩‍👩‍👧‍👦e\u0301…')
  })
})

describe('a table in a window that is too narrow', () => {
  const first = '01a1e6bc-ea6d-7bfe-89b9-0b454b1b5e69'
  const second = '01a1e6bc-ea6d-7cfe-89b9-0b454b1b5e69'
  const rows = [
    ['id', 'when', 'what it is about'],
    [first, new Date().toISOString(), 'a sentence of many words that goes on and on'],
    [second, new Date().toISOString(), 'short'],
  ]

  it('shows ids by a beginning that tells them apart, times by their age, and wraps the last column', () => {
    expect(formatTable(rows, (cell) => cell, 60)).toMatch(
      /^id +when {2}what it is about\n01a1e6bc-ea6d-7b +0 s +a sentence of many words that goes\n {24}on and on\n01a1e6bc-ea6d-7c +0 s +short$/,
    )
  })

  it('puts a sentence below where hardly any room is left, and leaves it alone where there is', () => {
    expect(formatTable(rows, (cell) => cell, 40)).toMatch(
      /0 s\n {4}a sentence of many words that goes\n {4}on and on\n/,
    )
    expect(formatTable(rows, (cell) => cell, 200)).toContain(`${first}  ${rows[1]![1]}  a sentence`)
    expect(formatTable(rows)).toContain(second)
  })
})

describe('wide characters', () => {
  const rows = [
    ['name', 'city', 'n'],
    ['年假申请', '東京', '1'],
    ['Ada', 'Zürich', '22'],
    ['e\u0301clair 😀', '한국', '3'],
  ]

  it('columns of a table begin at the same place of the terminal in every line', () => {
    const printed = formatTable(rows).split('\n')
    const starts = printed.map((line, row) =>
      rows[row]!.slice(1).map((cell) => textWidth(line.slice(0, line.indexOf(cell, rows[row]![0]!.length)))),
    )
    expect(new Set(starts.map((start) => start.join()))).toHaveLength(1)
  })

  it('wrapped text takes no more columns than there are, and loses nothing', () => {
    const text = '员工每年享有二十八天带薪年假 annual leave 有給休暇は二十八日です'
    const lines = wrapText(text, 12)
    expect(lines.every((line) => textWidth(line) <= 12)).toBe(true)
    expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
  })

  it('problems of lines are aligned, too', () => {
    const problem = {
      line: 3,
      message: 'is not a number',
      rule: 'number',
      severity: 'error' as const,
      row_type: 'metric',
    }
    const printed = problemTable(
      [
        { ...problem, column: '費用', value: '１２円' },
        { ...problem, column: 'Spend', value: 'abc' },
      ] as never,
      100,
    ).split('\n')
    const starts = printed.slice(1).map((line) => textWidth(line.slice(0, line.indexOf('is not a number'))))
    expect(new Set(starts)).toHaveLength(1)
  })
})
