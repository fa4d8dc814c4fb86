import { describe, expect, it } from 'vitest'
import { mapHeaders } from '../../../src/ingest/datasets/headers.ts'
import { ads } from '../../../src/ingest/packs.ts'
import { judge } from './judge.ts'

const META = [
  'Campaign name',
  'Ad set name',
  'Ad name',
  'Day',
  'Delivery status',
  'Amount spent (AUD)',
  'Impressions',
  'Reach',
  'Attribution setting',
  'Ad set name',
  'Link clicks',
  'Reporting starts',
  'Reporting ends',
]
const metaLine = (name: string, set: string, ad: string, day: string, other = set) => [
  name,
  set,
  ad,
  day,
  'active',
  '12.50',
  '1,000',
  '900',
  '7-day click',
  other,
  '10',
  '2024-01-01',
  '2024-01-31',
]

describe('a Meta export', () => {
  it('without ids has its names as identity, the currency of its header, and no summary line', async () => {
    const [first, again, summary, differing] = await judge(ads, META, [
      metaLine('Total wellness', 'Set', 'Ad', '2024-01-01'),
      metaLine('Total wellness', 'Set', 'Other ad', '2024-01-01'),
      ['', '', '', '', '', '99.00', '5000', '4000', '', '', '50', '2024-01-01', '2024-01-31'],
      metaLine('Total', 'Set', 'Ad', '2024-01-02', 'Another set'),
    ])
    expect(first).toMatchObject({
      status: 'valid',
      rules: [],
      values: {
        campaign_name: 'Total wellness',
        spend: 12.5,
        impressions: 1000,
        clicks: 10,
        currency: 'AUD',
        date: '2024-01-01',
        ad_status: 'active',
      },
      raw: { 'Ad set name': 'Set', 'Ad set name (2)': 'Set', Impressions: '1,000' },
    })
    expect(first?.values['@campaign']).toMatch(/^name:[0-9a-f]{32}$/)
    expect(again?.values['@ad_set']).toBe(first?.values['@ad_set'])
    expect(again?.values['@ad']).not.toBe(first?.values['@ad'])
    expect(summary).toMatchObject({ status: 'skipped', rules: ['row.total'], errors: [] })
    expect(differing).toMatchObject({ status: 'valid', rules: ['header.duplicate_differs'] })
    expect(first?.row).toMatchObject({
      row_type: 'daily_metric',
      platform: 'meta',
      row_number: '2',
      client_id: null,
    })
  })

  it('says once what holds for the whole file', () => {
    const map = mapHeaders(ads, 'meta', META)
    expect(map.notes.map(({ rule }) => rule).sort()).toEqual([
      'header.duplicate',
      'header.unknown',
      'identity.by_name',
    ])
    expect(map.unknown.map(({ header }) => header)).toEqual(['Attribution setting'])
    expect(map.rowTypes).toEqual(['campaign', 'ad_set', 'ad', 'daily_metric'])
  })

  it('without days takes the day of its period, and refuses lines of a longer one', async () => {
    const headers = [
      'Campaign ID',
      'Campaign name',
      'Amount spent (EUR)',
      'Reporting starts',
      'Reporting ends',
    ]
    const [day, month] = await judge(ads, headers, [
      ['120', 'A', '1', '2024-01-01', '2024-01-01'],
      ['121', 'B', '1', '2024-01-01', '2024-01-31'],
    ])
    expect(day).toMatchObject({ status: 'valid', values: { date: '2024-01-01', '@campaign': '120' } })
    expect(month).toMatchObject({ status: 'invalid', rules: ['period.longer_than_day'] })
  })

  it.each([
    [
      'de',
      [
        'Kampagnenname',
        'Anzeigengruppenname',
        'Anzeigenname',
        'Tag',
        'Ausgegebener Betrag (EUR)',
        'Impressionen',
        'Link-Klicks',
      ],
    ],
    [
      'fr',
      [
        'Nom de la campagne',
        'Nom de l’ensemble de publicités',
        'Nom de la publicité',
        'Jour',
        'Montant dépensé (EUR)',
        'Impressions',
        'Clics sur le lien',
      ],
    ],
    [
      'es',
      [
        'Nombre de la campaña',
        'Nombre del conjunto de anuncios',
        'Nombre del anuncio',
        'Día',
        'Importe gastado (EUR)',
        'Impresiones',
        'Clics en el enlace',
      ],
    ],
    [
      'pt',
      [
        'Nome da campanha',
        'Nome do conjunto de anúncios',
        'Nome do anúncio',
        'Dia',
        'Valor usado (EUR)',
        'Impressões',
        'Cliques no link',
      ],
    ],
    [
      'it',
      [
        'Nome della campagna',
        'Nome del gruppo di inserzioni',
        "Nome dell'inserzione",
        'Giorno',
        'Importo speso (EUR)',
        'Impressioni',
        'Clic sul link',
      ],
    ],
    [
      'vi',
      [
        'Tên chiến dịch',
        'Tên nhóm quảng cáo',
        'Tên quảng cáo',
        'Ngày',
        'Số tiền đã chi tiêu (EUR)',
        'Lượt hiển thị',
        'Lượt click vào liên kết',
      ],
    ],
  ])('is understood in %s, with semicolons and decimal commas', async (_, headers) => {
    const [row] = await judge(ads, headers, [['K', 'S', 'A', '31.01.2024', '1.234,50', '1.000', '7']], {
      delimiter: ';',
    })
    expect(row).toMatchObject({
      status: 'valid',
      rules: [],
      values: {
        campaign_name: 'K',
        ad_set_name: 'S',
        ad_name: 'A',
        date: '2024-01-31',
        spend: 1234.5,
        currency: 'EUR',
        impressions: 1000,
        clicks: 7,
      },
    })
  })

  it('with age or gender is of demographics', async () => {
    const headers = ['Campaign name', 'Day', 'Age', 'Gender', 'Impressions']
    const [row] = await judge(ads, headers, [['A', '2024-01-01', '18-24', 'Weiblich', '5']])
    expect(row).toMatchObject({
      values: { age: '18-24', gender: 'female' },
      row: { row_type: 'demographic_metric' },
    })
  })

  it('as the API gives it is understood', async () => {
    const headers = [
      'campaign_id',
      'campaign_name',
      'adset_id',
      'ad_id',
      'date_start',
      'date_stop',
      'spend',
      'impressions',
      'clicks',
      'inline_link_clicks',
    ]
    const [row] = await judge(ads, headers, [
      ['1', 'A', '2', '3', '2024-01-01', '2024-01-01', '1.23', '10', '4', '2'],
    ])
    expect(row).toMatchObject({
      status: 'valid',
      values: { date: '2024-01-01', spend: 1.23, clicks: 4, '@ad': '3' },
    })
  })
})

const GOOGLE = [
  'Campaign status',
  'Campaign',
  'Budget',
  'Budget type',
  'Impr.',
  'Interactions',
  'Interaction rate',
  'Currency code',
  'Avg. cost',
  'Cost',
  'Conversions',
  'Cost / conv.',
]

describe('a Google export', () => {
  const lines = [
    ['Enabled', 'Brand', '50.00', 'Daily', '1,234', '100', '8.10%', 'AUD', '1.00', '100.00', '3.50', '28.57'],
    ['Paused', 'Generic', ' --', ' --', '0', '0', ' --', 'AUD', ' --', '0', '0.00', '0'],
    [
      'Total: Campaigns',
      ' --',
      ' --',
      ' --',
      '1,234',
      '100',
      '8.10%',
      'AUD',
      '1.00',
      '100.00',
      '3.50',
      '28.57',
    ],
    [
      'Total: Account',
      ' --',
      '50.00',
      'Daily',
      '1,234',
      '100',
      '8.10%',
      'AUD',
      '1.00',
      '100.00',
      '3.50',
      '28.57',
    ],
    ['Total: Search', ' --', ' --', ' --', '1,234', '100', '8.10%', 'AUD', '1.00', '100.00', '3.50', '28.57'],
  ]

  it('of one day has the day of its date line, and its totals are left out', async () => {
    const rows = await judge(ads, GOOGLE, lines, {
      platform: 'google',
      preamble: ['Campaign report', '1 January 2024 - 1 January 2024'],
    })
    expect(rows.map(({ status }) => status)).toEqual(['valid', 'valid', 'skipped', 'skipped', 'skipped'])
    expect(rows[0]).toMatchObject({
      values: {
        date: '2024-01-01',
        campaign_status: 'active',
        budget: 50,
        impressions: 1234,
        spend: 100,
        conversions: 3.5,
        currency: 'AUD',
      },
      rules: [],
    })
    expect(rows[1]?.values).toMatchObject({ budget: null, campaign_status: 'paused' })
  })

  it('of a longer period is refused as daily figures', async () => {
    const shape = { platform: 'google', preamble: ['Campaign report', '1 January 2024 - 31 January 2024'] }
    await expect(judge(ads, GOOGLE, lines, shape)).rejects.toMatchObject({
      code: 'upload_period_too_long',
      details: { period: '2024-01-01 to 2024-01-31' },
    })
  })

  it('without any day lacks a column', async () => {
    await expect(judge(ads, GOOGLE, lines, { platform: 'google' })).rejects.toMatchObject({
      code: 'upload_columns_missing',
    })
  })

  it.each([
    [
      'camelCase',
      [
        'campaign.id',
        'campaign.name',
        'adGroup.id',
        'adGroupAd.ad.id',
        'segments.date',
        'metrics.costMicros',
        'metrics.impressions',
        'metrics.conversionsValue',
      ],
    ],
    [
      'snake_case',
      [
        'campaign.id',
        'campaign.name',
        'ad_group.id',
        'ad_group_ad.ad.id',
        'segments.date',
        'metrics.cost_micros',
        'metrics.impressions',
        'metrics.conversions_value',
      ],
    ],
  ])('as the API gives it in %s is understood, micros and all', async (_, headers) => {
    const [row, small] = await judge(
      ads,
      headers,
      [
        ['1', 'A', '2', '3', '2024-01-01', '1230000', '5', '2.5'],
        ['1', 'A', '2', '3', '2024-01-02', '7', '5', '2.5'],
      ],
      { platform: 'google' },
    )
    expect(row).toMatchObject({
      status: 'valid',
      values: { spend: 1.23, conversion_value: 2.5, '@campaign': '1', '@ad_set': '2', '@ad': '3' },
    })
    expect(small?.text).toContain('"spend":0.000007')
  })
})

describe('a TikTok export', () => {
  const headers = [
    'Campaign name',
    'Ad Group Name',
    'Date',
    'Ad Name',
    'Cost',
    'CPC (Destination)',
    'CPM',
    'Impression',
    'Clicks (Destination)',
    'CTR (Destination)',
    'Conversions',
    'CPA',
    'Currency',
  ]

  it('is understood, and its last line of results is left out', async () => {
    const rows = await judge(
      ads,
      headers,
      [
        ['Spring', 'Group', '2024-01-01', 'Clip', '10.00', '1', '2', '500', '10', '2%', '1', '10', 'USD'],
        ['Total of 1 results', '-', '-', '-', '10.00', '1', '2', '500', '10', '2%', '1', '10', 'USD'],
      ],
      { platform: 'tiktok' },
    )
    expect(rows[0]).toMatchObject({
      status: 'valid',
      values: { spend: 10, impressions: 500, clicks: 10, currency: 'USD', date: '2024-01-01' },
    })
    expect(rows[1]).toMatchObject({ status: 'skipped', rules: ['row.total'] })
  })

  it('as the API gives it is understood', async () => {
    const api = [
      'dimensions.ad_id',
      'dimensions.stat_time_day',
      'metrics.campaign_id',
      'metrics.campaign_name',
      'metrics.adgroup_id',
      'metrics.spend',
      'metrics.impressions',
      'metrics.clicks',
    ]
    const [row] = await judge(ads, api, [['3', '2024-01-01 00:00:00', '1', 'A', '2', '4.20', '10', '1']], {
      platform: 'tiktok',
    })
    expect(row).toMatchObject({
      status: 'valid',
      values: { date: '2024-01-01', spend: 4.2, '@ad_set': '2', '@ad': '3' },
    })
  })
})

describe('totals', () => {
  const headers = ['Campaign', 'Day', 'Impressions']
  it.each(['Total', 'Grand total', 'Gesamt', 'Summe', 'Totale', 'Tổng cộng', 'TOTAL: campagnes'])(
    '%s is a total without a date and a name with one',
    async (word) => {
      const rows = await judge(ads, headers, [
        [word, '', '5'],
        [word, '2024-01-01', '5'],
        ['Total wellness', '', '5'],
        [word, 'All', '5'],
      ])
      expect(rows.map(({ status }) => status)).toEqual(['skipped', 'valid', 'invalid', 'skipped'])
    },
  )

  it('without days are recognised by a colon, a count or empty columns', async () => {
    const plain = ['Campaign', 'Campaign status', 'Impressions']
    const lines = [
      ['Total: Account', 'Enabled', '5'],
      ['Total', '', '5'],
      ['Total', 'Enabled', '5'],
    ]
    const rows = await judge(ads, plain, lines, {
      platform: 'google',
      preamble: ['Jan 1, 2024 - Jan 1, 2024'],
    })
    expect(rows.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'valid'])
  })
})

it('a line with a campaign but no ad in a file of ads is an error, not a figure of the campaign', async () => {
  const [row] = await judge(
    ads,
    ['Campaign name', 'Ad set name', 'Ad name', 'Day', 'Impressions'],
    [['A', 'S', '', '2024-01-01', '5']],
  )
  expect(row?.errors[0]).toMatchObject({ rule: 'required.missing', field: 'ad_name' })
})

it('more clicks than impressions are warned about', async () => {
  const [row] = await judge(
    ads,
    ['Campaign name', 'Day', 'Impressions', 'Clicks'],
    [['A', '2024-01-01', '5', '6']],
  )
  expect(row).toMatchObject({ status: 'valid', rules: ['clicks.above_impressions'] })
})
