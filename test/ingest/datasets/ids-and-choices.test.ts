import { describe, expect, it } from 'vitest'
import { judge } from './judge.ts'
import { datasetOf, judgeValues, valuesOf } from './one-column.ts'

describe('ids', () => {
  it('stay text, without the marks of spreadsheets and platforms', async () => {
    const id = '120253111222333444'
    const values = [
      id,
      `'${id}`,
      `="${id}"`,
      `c:${id}`,
      `as:${id}`,
      `ag:${id}`,
      `a:${id}`,
      `ad:${id}`,
      ` ${id}\u00a0`,
    ]
    expect(await valuesOf({ type: 'id' }, values)).toEqual(values.map(() => id))
    expect(await valuesOf({ type: 'id' }, ['007', 'SO-1001', '12345.0', 'a"b'])).toEqual([
      '007',
      'SO-1001',
      '12345',
      'a"b',
    ])
  })

  it('that a spreadsheet has ruined are errors and never completed', async () => {
    const rows = await judgeValues({ type: 'id' }, ['1.20253E+17', '1,20253E+17', '1E+17'])
    expect(rows.map((row) => row.rules)).toEqual([
      ['id.not_scientific'],
      ['id.not_scientific'],
      ['id.not_scientific'],
    ])
    expect(rows.every((row) => row.values.value === null)).toBe(true)
  })

  it('that a spreadsheet may have rounded are kept with a warning', async () => {
    const [rounded, short] = await judgeValues({ type: 'id' }, ['120253111222333000', '1200000000'])
    expect(rounded).toMatchObject({
      status: 'valid',
      rules: ['id.maybe_rounded'],
      values: { value: '120253111222333000' },
    })
    expect(short?.rules).toEqual([])
  })
})

describe('choices', () => {
  const status = {
    type: 'enum' as const,
    values: { active: ['enabled', 'Aktiv', 'Đang hoạt động'], paused: ['En pause'] },
  }

  it('are known in any language, case and spacing', async () => {
    expect(
      await valuesOf(status, ['active', 'ENABLED', ' aktiv ', 'đang  hoạt động', 'EN_PAUSE', '']),
    ).toEqual(['active', 'active', 'active', 'active', 'paused', null])
  })

  it('that are unknown are errors, or warnings if so declared, with the nearest one', async () => {
    const [row] = await judgeValues(status, ['enabeld'])
    expect(row?.errors[0]).toMatchObject({ rule: 'enum.unknown', value: 'enabeld' })
    expect(row?.errors[0]?.suggestion).toContain('“enabled”')
    const [mild] = await judgeValues({ ...status, severity: 'warning' }, ['enabeld'])
    expect(mild).toMatchObject({ status: 'valid', rules: ['enum.unknown'] })
    expect(mild?.values.value).toBe('enabeld')
  })

  it('take a remembered meaning first', async () => {
    const [row] = await judge(datasetOf(status), ['key', 'Value'], [['k', 'läuft']], {
      values: { value: { läuft: 'active' } },
    })
    expect(row).toMatchObject({ status: 'valid', values: { value: 'active' }, raw: { Value: 'läuft' } })
  })

  it('may be true and false, or currencies', async () => {
    expect(await valuesOf({ type: 'boolean' }, ['TRUE', 'no', 'Ja', '0', 'maybe'])).toEqual([
      true,
      false,
      true,
      false,
      'enum.unknown',
    ])
    expect(await valuesOf({ type: 'currency' }, ['usd', 'VND', '€', 'A$', 'ABC', '$'])).toEqual([
      'USD',
      'VND',
      'EUR',
      'AUD',
      'currency.unknown',
      'currency.unknown',
    ])
  })
})

describe('texts', () => {
  it('keep to length and pattern, and survive JSON', async () => {
    expect(await valuesOf({ type: 'text', maxLength: 3, pattern: '[a-z]+' }, ['abcd', 'A', 'abc'])).toEqual([
      'text.too_long',
      'text.pattern',
      'abc',
    ])
    const odd = 'a "quoted" \\ back\nline \u0001 ’; DROP TABLE x; --'
    expect(await valuesOf({ type: 'text' }, [odd, "it's"])).toEqual([odd, "it's"])
  })

  it('that lost a character before they came are warned about', async () => {
    const [row] = await judgeValues({ type: 'text' }, ['Caf\ufffd'])
    expect(row).toMatchObject({ status: 'valid', rules: ['text.replacement_character'] })
    expect(row?.warnings[0]?.value).toBe('Value')
  })
})

describe('lines', () => {
  it('whose values are not in their places say only that, others everything in one pass', async () => {
    const dataset = datasetOf({ type: 'integer' })
    const rows = await judge(
      dataset,
      ['key', 'Value'],
      [
        ['a', 'x'],
        ['', ''],
        ['c', 'x'],
      ],
      {
        flaws: { 0: 'too_many_fields', 1: 'not_json', 2: 'nul_character' },
      },
    )
    expect(rows.map((row) => row.rules)).toEqual([
      ['structure.too_many_fields'],
      ['structure.not_json'],
      ['structure.nul_character', 'number.invalid'],
    ])
    expect(rows.every((row) => row.status === 'invalid' && row.errors[0]!.suggestion.length > 10)).toBe(true)
  })

  it('lacking what is required are errors', async () => {
    const rows = await judge(datasetOf({ type: 'text' }), ['key', 'Value'], [['--', 'x']])
    expect(rows[0]?.errors[0]).toMatchObject({ rule: 'required.missing', column: 'key', line: 2 })
  })
})
