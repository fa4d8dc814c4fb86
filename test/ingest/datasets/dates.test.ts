import { describe, expect, it } from 'vitest'
import { judgeValues, valuesOf } from './one-column.ts'

describe('dates', () => {
  it('are read in the forms that leave nothing open', async () => {
    const values = [
      '2024-01-31',
      '2024-01-31T00:00:00Z',
      '2024-01-31 00:00:00',
      '2024-01-31T10:00:00+0000',
      '2024/01/31',
      '2024.01.31',
      '31.01.2024',
      '31.1.2024',
      '20240131',
      'Jan 31, 2024',
      'January 31, 2024',
      '31 Jan 2024',
      '31-Jan-2024',
      '31 January 2024',
      'Wed, Jan 31, 2024',
      '31. Januar 2024',
      '31 janvier 2024',
      '31 de enero de 2024',
      '31 de janeiro de 2024',
      '31 gennaio 2024',
      '31 tháng 1, 2024',
      'ngày 31 tháng 1 năm 2024',
      '2024年1月31日',
    ]
    expect(await valuesOf({ type: 'date' }, values)).toEqual(values.map(() => '2024-01-31'))
  })

  it('follow the order that the whole file shows', async () => {
    expect(await valuesOf({ type: 'date' }, ['01/02/2024', '31/01/2024', '1/2/24'])).toEqual([
      '2024-02-01',
      '2024-01-31',
      '2024-02-01',
    ])
    expect(await valuesOf({ type: 'date' }, ['01/02/2024', '01/31/2024'])).toEqual([
      '2024-01-02',
      '2024-01-31',
    ])
    expect(await valuesOf({ type: 'date' }, ['01-02-2024', '31-01-2024'])).toEqual([
      '2024-02-01',
      '2024-01-31',
    ])
  })

  it('are never guessed where the file shows no order, or two', async () => {
    const [row, same] = await judgeValues({ type: 'date' }, ['01/02/2024', '05/05/2024'])
    expect(row?.rules).toEqual(['date.ambiguous'])
    expect(row?.errors[0]?.suggestion).toMatch(/2024-02-01 or 2024-01-02/)
    expect(same?.values.value).toBe('2024-05-05')
    expect(await valuesOf({ type: 'date' }, ['01/02/2024', '01/31/2024', '31/01/2024'])).toEqual([
      'date.ambiguous',
      '2024-01-31',
      '2024-01-31',
    ])
  })

  it('of a repaired line that stand the other way round than the file are errors', async () => {
    const [row] = await judgeValues({ type: 'date' }, ['31/01/2024'], {
      styles: { decimal: 'dot', dates: 'mdy' },
    })
    expect(row?.rules).toEqual(['date.order'])
  })

  it('that do not exist, and day numbers of a spreadsheet, are errors with a way out', async () => {
    const rows = await judgeValues({ type: 'date' }, [
      '2024-02-30',
      '2023-02-29',
      '2024-02-29',
      '45322',
      'yesterday',
      '0024-01-31',
      '31/13/2024',
    ])
    expect(rows.map((row) => row.rules[0] ?? row.values.value)).toEqual([
      'date.impossible',
      'date.impossible',
      '2024-02-29',
      'date.excel_serial',
      'date.invalid',
      'date.implausible',
      'date.impossible',
    ])
    expect(rows[3]?.errors[0]?.suggestion).toContain('2024-01-31')
    expect(rows[0]?.errors[0]).toMatchObject({
      line: 2,
      column: 'Value',
      field: 'value',
      value: '2024-02-30',
    })
  })
})
