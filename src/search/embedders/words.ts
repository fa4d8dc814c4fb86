/**
 * Words of texts for the embedders that count them, from PostgreSQL in one round trip. One analysis whatever the
 * language: a question does not say which it is in, and only words made the same way meet. Marks are taken off first, as
 * for the words' own leg, so that Vietnamese typed without them is the same; stemming hardly touches its syllables.
 */
import type { Queryable } from '../../db/connection.ts'
import { reached } from '../stores/reached.ts'

/** How often each word is in a text, one map for each text. */
export type Words = (texts: readonly string[]) => Promise<Map<string, number>[]>

/** Over an expression, for statements that read the texts where they are. */
export const analysed = (text: string): string =>
  `to_tsvector('pg_catalog.english', iu_core.fn_search_plain(${text}))`

export function wordsOf(db: Queryable): Words {
  // A database that goes away for a moment is no fault of a text.
  const database = reached(db)
  return async (texts) => {
    const { rows } = await database.query<{ lexemes: string[]; counts: number[] }>(
      `select array(select w.lexeme from unnest(a.words) as w order by w.lexeme collate "C") as lexemes,
              array(select cardinality(w.positions) from unnest(a.words) as w order by w.lexeme collate "C") as counts
         from unnest($1::text[]) with ordinality as t (text, place)
        cross join lateral (select ${analysed('t.text')} as words offset 0) as a
        order by t.place`,
      [texts.map(storable)],
    )
    return rows.map(({ lexemes, counts }) => new Map(lexemes.map((lexeme, at) => [lexeme, counts[at]!])))
  }
}

/** What PostgreSQL takes as text: questions are typed by people and may hold anything. */
function storable(text: string): string {
  // Half a surrogate pair goes to the server as a replacement character; only NUL is refused.
  return text.replaceAll('\0', ' ')
}
