/**
 * Packs: the datasets that are shipped, with tables for those who have none yet. `ads` reads exports of Meta, Google and
 * TikTok ads, as files and as their APIs give them: campaigns, ad sets, ads, figures.
 */

import { readFile } from 'node:fs/promises'
import { StagedoorError } from '../kernel/errors.ts'
import type { Client } from '../kernel/postgres/connection.ts'
import { dayFields, identityFields, metricFields } from './datasets/ads-fields.ts'
import type { Dataset } from './datasets/dataset.ts'
import { defineDataset } from './datasets/declare.ts'
import { type RegistrationOptions, registerDataset } from './datasets/registry.ts'

const CAMPAIGN = 'campaign_id|campaign_name'
const AD_SET = 'ad_set_id|ad_set_name'
const AD = 'ad_id|ad_name'
const FIGURES = 'impressions|clicks|spend|reach|conversions|conversion_value|video_views'

const figures = {
  client_id: '$client',
  platform: '$platform',
  campaign_id: '$campaign',
  ad_set_id: '$ad_set',
  ad_id: '$ad',
  date: 'date',
  currency: 'currency',
  impressions: 'impressions',
  clicks: 'clicks',
  spend: 'spend',
  reach: 'reach',
  conversions: 'conversions',
  conversion_value: 'conversion_value',
  video_views: 'video_views',
}

export const ads = defineDataset({
  name: 'ads',
  title: 'Ad platforms',
  version: 1,
  platforms: {
    meta: { title: 'Meta Ads' },
    google: { title: 'Google Ads' },
    tiktok: { title: 'TikTok Ads' },
  },
  fields: { ...identityFields, ...dayFields, ...metricFields },
  rules: [
    {
      name: 'clicks.above_impressions',
      severity: 'warning',
      compare: ['clicks', '<=', 'impressions'],
      message: 'There are more clicks than impressions.',
      suggestion: 'Check that the columns were not swapped.',
    },
    {
      name: 'reach.above_impressions',
      severity: 'warning',
      compare: ['reach', '<=', 'impressions'],
      message: 'More people were reached than there were impressions.',
      suggestion: 'Check that the columns were not swapped.',
    },
  ],
  rows: [
    {
      name: 'campaign',
      target: 'public.campaigns',
      id: 'id',
      key: ['client_id', 'platform', 'external_id'],
      requires: [CAMPAIGN],
      identity: { id: 'campaign_id', name: 'campaign_name', nameColumn: 'name' },
      columns: {
        client_id: '$client',
        platform: '$platform',
        external_id: '$identity',
        name: 'campaign_name',
        status: 'campaign_status',
        objective: 'objective',
        budget: 'budget',
        currency: 'currency',
      },
      duplicates: 'last',
    },
    {
      name: 'ad_set',
      target: 'public.ad_sets',
      id: 'id',
      key: ['campaign_id', 'external_id'],
      requires: [CAMPAIGN, AD_SET],
      identity: { id: 'ad_set_id', name: 'ad_set_name', nameColumn: 'name' },
      columns: {
        campaign_id: '$campaign',
        external_id: '$identity',
        name: 'ad_set_name',
        status: 'ad_set_status',
      },
      duplicates: 'last',
    },
    {
      name: 'ad',
      target: 'public.ads',
      id: 'id',
      key: ['ad_set_id', 'external_id'],
      requires: [CAMPAIGN, AD_SET, AD],
      identity: { id: 'ad_id', name: 'ad_name', nameColumn: 'name' },
      columns: { ad_set_id: '$ad_set', external_id: '$identity', name: 'ad_name', status: 'ad_status' },
      duplicates: 'last',
    },
    {
      name: 'daily_metric',
      target: 'public.daily_metrics',
      id: 'id',
      key: ['campaign_id', 'ad_set_id', 'ad_id', 'date'],
      requires: [CAMPAIGN, FIGURES],
      columns: figures,
      duplicates: 'refuse',
    },
    {
      name: 'demographic_metric',
      target: 'public.demographic_metrics',
      id: 'id',
      key: ['campaign_id', 'ad_set_id', 'ad_id', 'date', 'age', 'gender'],
      requires: [CAMPAIGN, FIGURES, 'age|gender'],
      columns: { ...figures, age: 'age', gender: 'gender' },
      duplicates: 'refuse',
    },
  ],
  client: { table: 'public.clients', id: 'id', workspace: 'workspace_id', name: 'name' },
  uploads: 'public.data_uploads',
  amount: 'spend',
})

export const PACKS: Readonly<Record<string, Dataset>> = { ads }

/** `client` must act as workflow_admin, inside a transaction: the tables and the registration, or neither. */
export async function registerPack(
  client: Client,
  name: string,
  options?: RegistrationOptions,
): Promise<void> {
  if (!Object.hasOwn(PACKS, name))
    throw new StagedoorError(
      'not_found',
      { what: `shipped dataset ${name}; there is ${Object.keys(PACKS).join(', ')}` },
      { hint: 'Your own is registered by its file: stagedoor dataset register ./my-dataset.json' },
    )
  await client.query(await readFile(new URL(`../../sql/packs/${name}.sql`, import.meta.url), 'utf8'))
  await registerDataset(client, PACKS[name]!, options)
}
