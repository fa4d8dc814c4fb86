/** The currency of an amount is never lost and never guessed: signs, header and column must agree. */
import { afterAll, describe, expect, it } from 'vitest'
import { mapHeaders } from '../../../src/ingest/datasets/headers.ts'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { ads } from '../../../src/ingest/packs.ts'
import { judge } from './judge.ts'

afterAll(closeDuck)
const DAY = '2026-11-01'

async function line(spend: string, currency?: string, header = 'Amount spent') {
  const headers = ['Campaign name', 'Day', header, ...(currency === undefined ? [] : ['Currency'])]
  const [row] = await judge(ads, headers, [['A', DAY, spend, ...(currency === undefined ? [] : [currency])]])
  return { status: row!.status, rules: row!.rules, spend: row!.values.spend, currency: row!.values.currency }
}

describe('a sign beside an amount', () => {
  it.each([
    ['$10.5', 'EUR'],
    ['£4.20', 'EUR'],
    ['10.50 USD', 'EUR'],
    ['US$1', 'AUD'],
    ['¥100', 'EUR'],
    ['5 kr', 'EUR'],
    ['$5.00 EUR', 'EUR'],
  ])('%s contradicts %s: an error of the line', async (spend, currency) => {
    expect(await line(spend, currency)).toMatchObject({ status: 'invalid', rules: ['currency.contradicts'] })
  })

  it.each([
    ['$10.5', 'USD'],
    ['$10.5', 'AUD'],
    ['A$10.5', 'AUD'],
    ['¥100', 'CNY'],
    ['¥100', 'JPY'],
    ['5 kr', 'SEK'],
    ['5 kr.', 'DKK'],
    ['£4.20', 'GBP'],
    ['EUR 4.20', 'EUR'],
  ])('%s agrees with %s', async (spend, currency) => {
    expect(await line(spend, currency)).toMatchObject({ status: 'valid', rules: [], currency })
  })

  it.each([
    ['£4.20', 'GBP', 4.2],
    ['4.20 €', 'EUR', 4.2],
    ['USD 1.5', 'USD', 1.5],
  ])('%s alone names the currency: %s', async (spend, currency, value) => {
    expect(await line(spend)).toEqual({ status: 'valid', rules: [], currency, spend: value })
    // Where the column is there and empty, too.
    expect(await line(spend, '')).toMatchObject({ status: 'valid', currency })
  })

  it('that several currencies use leaves it open, with a warning', async () => {
    const row = await line('$4.20')
    expect(row).toMatchObject({ status: 'valid', spend: 4.2 })
    expect(row.currency ?? null).toBeNull()
    expect(await line('$4.20', '')).toMatchObject({ status: 'valid', rules: ['currency.open'] })
  })

  it('counts against the header', async () => {
    expect(await line('$4.20', undefined, 'Amount spent (EUR)')).toMatchObject({ status: 'invalid' })
    expect(await line('$4.20', undefined, 'Amount spent (AUD)')).toMatchObject({
      status: 'valid',
      currency: 'AUD',
    })
    expect(await line('XQZ 4.20')).toMatchObject({ status: 'invalid', rules: ['currency.unknown'] })
  })

  it('of two amounts must be the same currency', async () => {
    const headers = ['Campaign name', 'Day', 'Amount spent', 'Purchases conversion value']
    const [same, other] = await judge(ads, headers, [
      ['A', DAY, '€1', '2 €'],
      ['A', DAY, '€1', '£2'],
    ])
    expect(same).toMatchObject({ status: 'valid', values: { currency: 'EUR' } })
    expect(other).toMatchObject({ status: 'invalid', rules: ['currency.contradicts'] })
  })
})

describe('a header with a currency', () => {
  it.each([
    ['Amount spent (EUR)', 'USD'],
    ['Amount spent ($)', 'EUR'],
  ])('%s contradicts %s', async (header, currency) => {
    expect(await line('4.20', currency, header)).toMatchObject({
      status: 'invalid',
      rules: ['currency.contradicts'],
    })
  })

  it('of a sign agrees with what uses it, and fills what is empty', async () => {
    expect(await line('4.20', 'AUD', 'Amount spent ($)')).toMatchObject({ status: 'valid', rules: [] })
    expect(await line('4.20', '', 'Amount spent (EUR)')).toMatchObject({ status: 'valid', currency: 'EUR' })
  })

  it('is the one that a person taught, with or without its currency in brackets', () => {
    const taught = { headers: { 'Media cost (EUR)': 'spend' } }
    for (const header of ['Media cost (EUR)', 'Media cost', 'Media cost (USD)', 'media_cost ($)']) {
      const { fields } = mapHeaders(ads, 'meta', ['Campaign name', 'Day', header], taught)
      expect(fields.spend?.header, header).toBe(header)
    }
    const plain = mapHeaders(ads, 'meta', ['Media cost (USD)'], { headers: { 'Media cost': 'spend' } })
    expect(plain.fields.spend).toMatchObject({ header: 'Media cost (USD)', currency: 'USD' })
    expect(
      mapHeaders(ads, 'meta', ['Media cost (USD)'], { headers: { 'Media cost': null } }).fields.spend,
    ).toBeUndefined()
  })
})
