/** A dataset of one field beside a key, to look at single values. */
import type { Dataset, Field } from '../../../src/ingest/datasets/dataset.ts'
import { defineDataset } from '../../../src/ingest/datasets/declare.ts'
import { type FileShape, type Judged, judge } from './judge.ts'

export function datasetOf(field: Omit<Field, 'aliases'>): Dataset {
  return defineDataset({
    name: 'single',
    title: 'Single',
    version: 1,
    platforms: { file: { title: 'File' } },
    fields: {
      key: { type: 'text', aliases: {}, required: true },
      value: { ...field, aliases: { any: ['Value'] } },
    },
    rows: [
      {
        name: 'row',
        target: 'public.rows',
        key: ['key'],
        requires: ['key'],
        columns: { key: 'key', value: 'value' },
      },
    ],
  })
}

/** Each value in a line of its own, all in one file. */
export async function judgeValues(
  field: Omit<Field, 'aliases'>,
  values: string[],
  shape: FileShape = {},
): Promise<Judged[]> {
  return judge(
    datasetOf(field),
    ['key', 'Value'],
    values.map((value, index) => [`k${index}`, value]),
    shape,
  )
}

export async function valuesOf(
  field: Omit<Field, 'aliases'>,
  values: string[],
  shape: FileShape = {},
): Promise<unknown[]> {
  return (await judgeValues(field, values, shape)).map((row) => row.rules[0] ?? row.values.value)
}
