import { describe, expect, it } from 'vitest'
import { cut, table, visible, visibleLine } from '../../src/cli/output.ts'

describe('what others wrote', () => {
  it('shows every character that would steer a terminal, hide or reorder', () => {
    expect(visible('a\u001b[2Jb\rc\u0000\u0007\u007f')).toBe('a␛[2Jb␍c␀␇␡')
    expect(visible('\u009b31m\u0085')).toBe('\\u009b31m\\u0085')
    expect(visible('\u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c')).toBe(
      '\\u202eevil\\u202c \\u2066x\\u2069 \\u200e\\u200f\\u061c',
    )
    expect(visible('ze\u200bro\u200d\u2060\ufeff\u00ad\u2028')).toBe(
      'ze\\u200bro\\u200d\\u2060\\ufeff\\u00ad\\u2028',
    )
    expect(visible('\u{e0041}\ufe01')).toBe('\\u{e0041}\\ufe01')
  })

  it('leaves everything else as it is: newlines, tabs, every script, emoji', () => {
    const text = 'Zürich\n\t東京 مرحبا नमस्ते e\u0301 ❤️ 😀 \\u202e'
    expect(visible(text)).toBe(text)
  })

  it('stays on its line, and in its cell', () => {
    expect(visibleLine('fine\n✔ Approved\tx')).toBe('fine␊✔ Approved␉x')
    expect(table([['a\u001b[1A', 'b\nc']])).toBe('a␛[1A  b␊c')
  })

  it('is marked where it is cut, and never within a character', () => {
    expect(cut('12345', 5)).toBe('12345')
    expect(cut('123456', 5)).toBe('12345…')
    expect(cut('😀😀😀', 2)).toBe('😀😀…')
    expect(cut('😀😀', 2)).toBe('😀😀')
  })
})
