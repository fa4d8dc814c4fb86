import { describe, expect, it } from 'vitest'
import { stylesOf } from '../../../src/ingest/datasets/profile.ts'
import { judgeValues, valuesOf } from './one-column.ts'

const nothing = ['', '--', ' --', '-', '—', 'N/A', 'n/a', '\u00a0--\u00a0', '  ']

describe('numbers', () => {
  it('that say that there is nothing are null, with a warning where they say it in words', async () => {
    expect(await valuesOf({ type: 'integer' }, nothing)).toEqual(
      nothing.map((cell) => (cell.toUpperCase() === 'N/A' ? 'value.nothing' : null)),
    )
    expect(await valuesOf({ type: 'text' }, nothing)).toEqual(nothing.map(() => null))
    expect(await valuesOf({ type: 'date' }, nothing)).toEqual(nothing.map(() => null))
  })

  it('with a decimal point are read with commas, blanks and apostrophes between thousands', async () => {
    const values = [
      '1,234.56',
      '1234.56',
      '1 234.56',
      '1\u00a0234.56',
      '1\u202f234.56',
      "1'234.56",
      '1’234.56',
    ]
    expect(await valuesOf({ type: 'money' }, values)).toEqual(values.map(() => 1234.56))
  })

  it('with a decimal comma are read where the file shows that it is one', async () => {
    const values = ['1.234,56', '1234,56', '1 234,56', '1\u202f234,56']
    expect(await valuesOf({ type: 'money' }, values)).toEqual(values.map(() => 1234.56))
    expect(await valuesOf({ type: 'money' }, ['12,50', '1.234', '7'])).toEqual([12.5, 1234, 7])
  })

  it('that leave the style open are not read, and both readings are named', async () => {
    const [open, ...rest] = await judgeValues({ type: 'money' }, ['1,234', '7', '1234'], { delimiter: ';' })
    expect(open).toMatchObject({ status: 'invalid', rules: ['number.ambiguous'], values: { value: null } })
    expect(open?.errors[0]?.suggestion).toContain('1234, with a decimal comma 1.234')
    expect(rest.map(({ status }) => status)).toEqual(['valid', 'valid'])
    expect(await valuesOf({ type: 'integer' }, ['12.000', '1.234', '5'])).toEqual([12000, 1234, 5])
    expect(await valuesOf({ type: 'integer' }, ['12.000'])).toEqual(['number.ambiguous'])
  })

  it('have a decimal point in formats that say so', () => {
    const none = { dot: 0, comma: 0, dmy: 0, mdy: 0 }
    expect(stylesOf(none, null).decimal).toBe('dot')
    expect(stylesOf(none, ';').decimal).toBe('unknown')
  })

  it('of both styles in one file are read where one reading is possible', async () => {
    const values = [
      '1,234.56',
      '1.234,56',
      '12,50',
      '0,998',
      '1,234',
      '1.234',
      '1 234,567',
      '1,23,4',
      '1.234.567',
    ]
    expect(await valuesOf({ type: 'money' }, values)).toEqual([
      1234.56,
      1234.56,
      12.5,
      0.998,
      'number.ambiguous',
      'number.ambiguous',
      1234.567,
      'number.style',
      1234567,
    ])
    expect(await valuesOf({ type: 'integer' }, ['1,234', '1.234', '12.000'])).toEqual([
      1234,
      1234,
      'number.ambiguous',
    ])
  })

  it('that are no numbers settle no style', async () => {
    expect(await valuesOf({ type: 'money' }, ['1.50', 'see 12,50 below', '1,2,50', '1,234'])).toEqual([
      1.5,
      'number.invalid',
      'number.style',
      1234,
    ])
  })

  it('of another style than the given one are errors with both readings', async () => {
    const styles = { decimal: 'dot', dates: 'unknown' } as const
    const [odd] = await judgeValues({ type: 'money' }, ['12,50'], { styles })
    expect(odd).toMatchObject({ status: 'invalid', rules: ['number.style'], values: { value: null } })
    expect(odd?.errors[0]?.suggestion).toContain('1250')
    expect(odd?.errors[0]?.suggestion).toContain('12.50')
    expect(await valuesOf({ type: 'integer' }, ['1,234', '1.234'], { styles })).toEqual([
      1234,
      'number.style',
    ])
  })

  it('lose signs and codes of currencies, and keep their sign', async () => {
    const values = [
      '$12.50',
      '€12.50',
      '12.50 €',
      '£12.50',
      '12.50₫',
      'A$12.50',
      'AUD 12.50',
      '12.50 AUD',
      'US$ 12.50',
    ]
    expect(await valuesOf({ type: 'money' }, values)).toEqual(values.map(() => 12.5))
    const negative = ['-12.50', '($12.50)', '-$12.50', '$-12.50', '−12.50', '(12.50)', '12.50-']
    expect(await valuesOf({ type: 'money' }, negative)).toEqual(negative.map(() => -12.5))
  })

  it('with a percent sign are fractions', async () => {
    expect(await valuesOf({ type: 'percent' }, ['12.5%', '12.5 %', '0.125', '100%', '-3%'])).toEqual([
      0.125, 0.125, 0.125, 1, -0.03,
    ])
  })

  it.each(['decimal', 'money', 'integer'] as const)(
    'with a percent sign are errors of a field of type %s, and are never divided',
    async (type) => {
      const rows = await judgeValues({ type }, ['15 %', '16', '-3%', '7'])
      expect(rows.map((row) => row.rules[0] ?? row.values.value)).toEqual([
        'number.percent',
        16,
        'number.percent',
        7,
      ])
      expect(rows[0]).toMatchObject({ status: 'invalid', values: { value: null } })
      expect(rows[0]!.errors[0]!.suggestion).toMatch(/`percent`.*`replace`/)
      const [alone] = await judgeValues({ type }, ['15 %'])
      expect(alone!.rules).toEqual(rows[0]!.rules)
      const replace = [{ pattern: '\\s*%\\s*$', with: '' }]
      expect(await valuesOf({ type, replace }, ['15 %', '16'])).toEqual([15, 16])
    },
  )

  it('with a percent sign are errors of a list of decimals', async () => {
    const field = { type: 'array', items: 'decimal', separator: ';' } as const
    expect(await valuesOf(field, ['1.5%;2', '1.5;2'])).toEqual(['number.percent', [1.5, 2]])
  })

  it('that are only bounds are null with a warning', async () => {
    const rows = await judgeValues({ type: 'percent' }, ['< 10%', '<1', '>90%', '≥ 5'])
    expect(rows.map((row) => row.values.value)).toEqual([null, null, null, null])
    expect(rows.every((row) => row.status === 'valid' && row.warnings[0]?.rule === 'value.censored')).toBe(
      true,
    )
  })

  it('keep every digit', async () => {
    const [long, tiny] = await judgeValues({ type: 'decimal' }, [
      '12345678901234567.123456789012345',
      '$0.10',
    ])
    expect(long?.text).toContain('"value":12345678901234567.123456789012345')
    expect(tiny?.text).toContain('"value":0.10')
  })

  it('may have exponents where decimals are expected', async () => {
    expect(await valuesOf({ type: 'decimal' }, ['1.2E3', '5e-2'])).toEqual([1200, 0.05])
  })

  it('that should be whole and are not, or are too large, are errors', async () => {
    const values = ['5', '5.0', '5.5', '9223372036854775807', '9223372036854775808', '1e30', '12x', '5%']
    const rows = await judgeValues({ type: 'integer' }, values)
    expect(rows.map((row) => row.rules[0])).toEqual([
      undefined,
      undefined,
      'integer.fraction',
      undefined,
      'number.overflow',
      'number.overflow',
      'number.invalid',
      'number.percent',
    ])
    expect(rows[3]?.text).toContain('9223372036854775807')
    expect(rows[1]?.text).toContain('"value":5}')
  })

  it('that are none are to be left empty only where the cell may be empty', async () => {
    const suggested = async (field: Parameters<typeof judgeValues>[0]) =>
      (await judgeValues(field, ['12x'])).map(({ errors }) => [errors[0]!.rule, errors[0]!.suggestion])
    const optional = [['number.invalid', 'Write digits only, or leave the cell empty.']]
    const required = [['number.invalid', 'Write digits only.']]
    expect(await suggested({ type: 'decimal' })).toEqual(optional)
    expect(await suggested({ type: 'decimal', required: true })).toEqual(required)
    expect(await suggested({ type: 'array', items: 'integer' })).toEqual(optional)
    expect(await suggested({ type: 'array', items: 'integer', required: true })).toEqual(required)
  })

  it('keep to their range, number of decimals and severity', async () => {
    expect(await valuesOf({ type: 'decimal', min: 0, max: 10 }, ['-1', '11', '10', '($1)'])).toEqual([
      'number.min',
      'number.max',
      10,
      'number.min',
    ])
    expect(await valuesOf({ type: 'money', scale: 2 }, ['1.234', '1.2300', '1.23'])).toEqual([
      'number.scale',
      1.23,
      1.23,
    ])
    const [row] = await judgeValues({ type: 'decimal', severity: 'warning' }, ['Using ad set budget'])
    expect(row).toMatchObject({ status: 'valid', rules: ['number.invalid'], values: { value: null } })
  })

  it('are written so that JSON takes them', async () => {
    expect(await valuesOf({ type: 'decimal' }, ['007', '.5', '5.', '+3', '00.50', '-0.5'])).toEqual([
      7, 0.5, 5, 3, 0.5, -0.5,
    ])
  })
})
