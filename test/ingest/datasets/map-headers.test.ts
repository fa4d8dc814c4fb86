import { describe, expect, it } from 'vitest'
import { headerKey } from '../../../src/ingest/datasets/header-key.ts'
import {
  knownHeaderTest,
  MAX_RELATIVE_DISTANCE,
  mapHeaders,
  periodOf,
  relativeDistance,
  requireColumns,
} from '../../../src/ingest/datasets/headers.ts'
import { ads } from '../../../src/ingest/packs.ts'

describe('headers', () => {
  it('are known whatever their case, blanks, underscores and brackets', () => {
    for (const header of [
      'AMOUNT SPENT (USD)',
      'amount_spent',
      'Amount  spent（USD）',
      ' Amount\u00a0Spent [USD]',
      'Cost (USD)',
      'Spend, USD',
    ]) {
      expect(mapHeaders(ads, 'meta', [header]).fields.spend, header).toBeDefined()
    }
    expect(mapHeaders(ads, 'meta', ['Amount spent（AUD）']).fields.spend?.currency).toBe('AUD')
    expect(mapHeaders(ads, 'meta', ['Cost (€)']).fields.spend?.currency).toBe('EUR')
    expect(mapHeaders(ads, 'meta', ['Cost ($)']).fields.spend?.currency).toBeUndefined()
  })

  it('do not lose (all) to the currency of Albania', () => {
    expect(mapHeaders(ads, 'meta', ['Clicks (ALL)']).fields.clicks).not.toHaveProperty('currency')
  })

  it('that mean the same field are used in the declared order', () => {
    const map = mapHeaders(ads, 'meta', ['Clicks (all)', 'Link clicks'])
    expect(map.fields.clicks?.header).toBe('Link clicks')
    expect(map.notes.map(({ rule }) => rule)).toContain('header.second_choice')
    expect(map.unknown).toEqual([])
  })

  it('follow what the workspace remembers', () => {
    const headers = { 'My money': 'spend', Impressions: null }
    const map = mapHeaders(ads, 'meta', ['my  money', 'Impressions', 'Amount spent'], { headers })
    expect(map.fields.spend?.column).toBe(0)
    expect(map.fields.impressions).toBeUndefined()
    expect(knownHeaderTest(ads, 'meta', { headers })('My Money')).toBe(true)
    expect(knownHeaderTest(ads, 'meta')('Campaign report')).toBe(false)
  })

  it('of another platform are noted with its name, and those of the platform itself are not', () => {
    const google = ['Day', 'Campaign', 'Ad group', 'Ad group ID', 'Ad ID', 'Impr.', 'Clicks', 'Cost']
    const noted = (platform: string, headers: string[]) =>
      mapHeaders(ads, platform, headers).notes.filter(({ rule }) => rule === 'header.other_platform')
    expect(noted('meta', google)).toEqual([
      {
        rule: 'header.other_platform',
        message: expect.stringMatching(/platform google, not of meta: it knows .*“Ad group ID”/),
      },
    ])
    expect(noted('google', google)).toEqual([])
    const meta = ['Campaign name', 'Ad set name', 'Ad name', 'Day', 'Amount spent (AUD)', 'Link clicks']
    expect(noted('meta', meta)).toEqual([])
    expect(noted('meta', ['Colour'])).toEqual([])
    const lacking = mapHeaders(ads, 'meta', ['Ad group', 'Ad group ID', 'Impr.'])
    expect(() => requireColumns(ads, 'meta', lacking)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('those of the platform google, not of meta') }),
    )
  })

  it('that are missing are named with the nearest one', () => {
    const map = mapHeaders(ads, 'meta', ['Campain nam', 'Colour'])
    expect(map.missing[0]).toMatchObject({ title: 'Campaign ID or Campaign name', nearest: 'Campain nam' })
    expect(() => requireColumns(ads, 'meta', map)).toThrow(
      expect.objectContaining({
        code: 'upload_columns_missing',
        hint: expect.stringMatching(
          /The file has “Campain nam”, “Colour”\..*`stagedoor dataset map ads --platform meta --set "Campain nam=campaign_name" --as operator`/,
        ),
      }),
    )
  })

  it('that are like no other are not suggested for what is missing', () => {
    const map = mapHeaders(ads, 'meta', ['Campaign name', 'Ad set name', 'Ad name', 'Budget name', 'Cost'])
    expect(map.missing.every(({ nearest }) => nearest === undefined)).toBe(true)
    expect(map.missing.map(({ field }) => field)).toContain('date')
    expect(() => requireColumns(ads, 'meta', map)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('--set "HEADER=') }),
    )
  })

  it('of one field are hardly ever near to those of another, and with a letter wrong always to their own', () => {
    const keys = Object.entries(ads.fields).flatMap(([field, { aliases }]) =>
      [field, ...(aliases.any ?? []), ...(aliases.meta ?? [])].map((alias) => ({
        field,
        key: headerKey(typeof alias === 'string' ? alias : alias.header),
      })),
    )
    const others = keys.flatMap((one) =>
      keys.filter(({ field }) => field !== one.field).map((other) => [one, other]),
    )
    const near = others.filter(
      ([one, other]) =>
        one!.key !== other!.key && relativeDistance(one!.key, other!.key) <= MAX_RELATIVE_DISTANCE,
    )
    expect(near.length / others.length).toBeLessThan(0.01)
    for (const { key } of keys.filter(({ key }) => key.length >= 6))
      expect(relativeDistance(`${key.slice(0, 2)}#${key.slice(3)}`, key)).toBeLessThanOrEqual(
        MAX_RELATIVE_DISTANCE,
      )
  })

  it('of a status belong to the deepest level of the file', () => {
    expect(mapHeaders(ads, 'meta', ['Campaign name', 'Delivery status']).fields.campaign_status).toBeDefined()
    expect(
      mapHeaders(ads, 'meta', ['Campaign name', 'Ad set name', 'Delivery status']).fields.ad_set_status,
    ).toBeDefined()
  })
})

describe('the date line', () => {
  it.each([
    ['1 January 2024 - 31 January 2024', '2024-01-01', '2024-01-31'],
    ['Jan 1, 2024 - Jan 1, 2024', '2024-01-01', '2024-01-01'],
    ['January 1, 2024 - January 31, 2024', '2024-01-01', '2024-01-31'],
    ['2024-01-01 - 2024-01-31', '2024-01-01', '2024-01-31'],
    ['2024-01-01', '2024-01-01', '2024-01-01'],
    ['1. Januar 2024 – 31. Januar 2024', '2024-01-01', '2024-01-31'],
    ['1 de enero de 2024 - 31 de enero de 2024', '2024-01-01', '2024-01-31'],
    ['"Jan 1, 2024 - Jan 31, 2024"', '2024-01-01', '2024-01-31'],
    ['Date range: Jan 1, 2024 - Jan 31, 2024', '2024-01-01', '2024-01-31'],
    ['01.01.2024-31.01.2024', '2024-01-01', '2024-01-31'],
  ])('%s is read', (line, start, end) => {
    expect(periodOf([{ text: 'Campaign report' }, { text: line }])).toEqual({ start, end })
  })

  it('that leaves day and month open is not read', () => {
    expect(periodOf([{ text: '01/02/2024 - 03/04/2024' }])).toBeNull()
  })
})
