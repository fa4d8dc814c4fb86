/** What the database and what TypeScript make of the same JSON texts. */
import type pg from 'pg'
import { StagedoorError } from '../../src/errors.ts'
import { canonicalJson, digestJson } from '../../src/staging/canonical.ts'

/** The canonical text with its digest, or refused. */
export type Verdict = { text: string; content_hash: string; byte_len: number } | 'refused'

/** For one session: refusals of single texts must not end the statement that asks for hundreds. */
export async function prepareVerdicts(session: pg.Client): Promise<void> {
  await session.query(`
    create function pg_temp.verdict(given text, out canonical text, out content_hash text, out byte_len int, out state text)
    language plpgsql as $$
    begin
      select v::text, d.content_hash, d.byte_len into canonical, content_hash, byte_len
        from (select given::jsonb as v) as parsed, iu_core.fn_iu_staging_json_digest(v) as d;
    exception when others then
      state := sqlstate;
    end $$`)
}

/** One statement for all of them. */
export async function databaseVerdicts(session: pg.Client, texts: readonly string[]): Promise<Verdict[]> {
  const { rows } = await session.query({
    text: `select v.canonical as text, v.content_hash, v.byte_len, v.state
             from unnest($1::text[]) with ordinality as t (given, position), pg_temp.verdict(given) as v
            order by position`,
    values: [texts],
  })
  return rows.map(({ state, ...verdict }) => (state === null ? verdict : 'refused'))
}

/** A refusal is an error of the catalogue that a person can act on; anything else is a bug of ours. */
export function ourVerdict(text: string): Verdict {
  try {
    return { text: canonicalJson(text).toString('utf8'), ...digestJson(text) }
  } catch (error) {
    if (error instanceof StagedoorError && error.status === 400) return 'refused'
    throw error
  }
}
