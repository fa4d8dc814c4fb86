/** A dataset with a field of every type, and of every rule. */
import { defineDataset } from '../../../src/ingest/datasets/declare.ts'

export const allTypes = defineDataset({
  name: 'all_types',
  title: 'All types',
  version: 1,
  platforms: { file: { title: 'File', totals: ['sum of .*'] } },
  fields: {
    id: { type: 'id', aliases: {} },
    name: { type: 'text', aliases: {}, maxLength: 20 },
    code: { type: 'text', aliases: {}, pattern: '[A-Z]{2}[0-9]+', severity: 'warning' },
    day: { type: 'date', aliases: {}, required: true },
    later: { type: 'date', aliases: {}, severity: 'warning' },
    count: { type: 'integer', aliases: {}, min: 0, max: 1000000 },
    ratio: { type: 'decimal', aliases: {}, scale: 3 },
    price: { type: 'money', aliases: {}, min: 0 },
    cost: { type: 'money', aliases: { any: [{ header: 'cost', micros: true }] }, severity: 'warning' },
    share: { type: 'percent', aliases: {}, max: 1 },
    flag: { type: 'boolean', aliases: {}, severity: 'warning' },
    state: { type: 'enum', aliases: {}, severity: 'warning', values: { on: ['läuft'], off: ['paused'] } },
    level: { type: 'enum', aliases: {}, values: { low: ['L'], high: ['H'] } },
    currency: { type: 'currency', aliases: {} },
  },
  rules: [
    {
      name: 'price.above_cost',
      severity: 'warning',
      compare: ['price', '>=', 'cost'],
      message: 'Sold at a loss.',
    },
  ],
  rows: [
    {
      name: 'thing',
      target: 'public.things',
      id: 'id',
      key: ['external_id'],
      requires: ['id'],
      identity: { id: 'id', name: 'name' },
      columns: { external_id: '$identity', name: 'name', day: 'day', count: 'count', price: 'price' },
    },
  ],
})
