import { expect, it } from 'vitest'
import { didYouMean, editDistance, nearest, storableText } from '../../src/kernel/text.ts'

it('text is stored without NUL and without halves of characters', () => {
  expect(storableText('a\0b\ud800c😀')).toBe('a\ufffdb\ufffdc😀')
  expect(storableText('a\0b', '')).toBe('ab')
  expect(storableText('a\0b', ' ')).toBe('a b')
})

it('two neighbours that changed places are one edit', () => {
  expect(editDistance('setp', 'step')).toBe(1)
  expect(editDistance('step', 'step')).toBe(0)
  expect(editDistance('stop', 'step')).toBe(1)
  expect(editDistance('setpx', 'step')).toBe(3)
})

it('the nearest name is the one with the fewest wrong letters, or none', () => {
  expect(nearest('setp', ['stop', 'step', 'steps'])).toBe('step')
  expect(nearest('STEP', ['step'])).toBe('step')
  expect(nearest('x', ['y'])).toBeUndefined()
  expect(didYouMean('handlr', ['handler', 'http'])).toBe('Did you mean handler?')
  expect(didYouMean('elsewhere', ['handler', 'http'])).toBeUndefined()
})
