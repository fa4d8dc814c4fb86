/** Packs: tables for those who do not have them yet. Created only where absent, and only by a command that says so. */
import { readFile } from 'node:fs/promises'
import type { Client } from '../db/connection.ts'
import { ads } from './datasets/ads.ts'
import type { Dataset } from './datasets/dataset.ts'
import { registerDataset } from './datasets/registry.ts'

export const PACKS: Readonly<Record<string, Dataset>> = { ads }

/** `client` must act as workflow_admin, inside a transaction. */
export async function addPack(client: Client, name: string): Promise<void> {
  const dataset = PACKS[name]!
  await client.query(await readFile(new URL(`../../sql/packs/${name}.sql`, import.meta.url), 'utf8'))
  await registerDataset(client, dataset)
}
