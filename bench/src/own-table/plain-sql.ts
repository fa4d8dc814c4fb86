/** The floor: the same rows, ready-made, by COPY into a staging table, one INSERT … ON CONFLICT with the look-up, one UPDATE that marks them. */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pgCopy from 'pg-copy-streams'
import type { Figures, Task } from '../benchmark.ts'
import { perSecond } from '../statistics.ts'
import { ingestProducts, openShop } from './shop.ts'

const TABLE = `
  create table floor_rows (like public.staging_rows including defaults);
  create unique index on floor_rows (upload_id, row_number, row_type)`

const UPSERT = `insert into public.products (sku, name, price, stock, category_id)
  select r.normalized_payload ->> 'sku', r.normalized_payload ->> 'name', (r.normalized_payload ->> 'price')::numeric,
         (r.normalized_payload ->> 'stock')::integer, c.id
    from floor_rows r left join public.categories c on c.name = r.normalized_payload ->> 'category'
   where r.validation_status = 'valid'
  on conflict (sku) do update
    set name = excluded.name, price = excluded.price, stock = excluded.stock, category_id = excluded.category_id`

export async function throughPlainSql({ database, size, round }: Task): Promise<Figures> {
  const shop = await openShop(database, size, round + 1)
  const session = await database.superuser()
  try {
    const rows = join(shop.home, 'rows.csv')
    await ingestProducts(shop, 'staged')
    await pipeline(
      session.query(pgCopy.to('copy (select * from public.staging_rows) to stdout (format csv)')),
      createWriteStream(rows),
    )
    await session.query(`truncate iu_core.ingest_staged_row; ${TABLE}; checkpoint`)
    const started = performance.now()
    await pipeline(
      createReadStream(rows),
      session.query(pgCopy.from('copy floor_rows from stdin (format csv)')),
    )
    await session.query(UPSERT)
    await session.query(`update floor_rows set processing_action = 'insert', processed_at = now()`)
    return { rows_per_s: perSecond(size, performance.now() - started) }
  } finally {
    await shop.end()
  }
}
