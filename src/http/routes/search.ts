/** Search over HTTP: a question under the caller's own rights, in words or with filters. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Search } from '../../search/library.ts'
import { LIFECYCLES, LONGEST_QUESTION, MOST_HITS, SOURCES } from '../../search/question.ts'
import { invalidInput } from '../invalid-input.ts'
import { problems } from '../responses.ts'
import { AnswerShape, presentAnswer } from './search/shapes.ts'
import { Workspace } from './units/shapes.ts'
import { workspaceOf } from './uploads/options.ts'

const tags = ['search']
/** A question of 10,000 words, every character escaped. */
const QUESTION_LIMIT = 1024 ** 2

const Word = Type.String({ minLength: 1, maxLength: 100 })
const Words = Type.Union([Word, Type.Array(Word, { minItems: 1, maxItems: 50 })])
const Limit = Type.Integer({ minimum: 1, maximum: MOST_HITS, default: 10 })
const Explain = Type.Boolean({ default: false, description: 'say beside each hit why it is there' })
const Lifecycle = Type.Enum([...LIFECYCLES], { description: 'default: draft and enacted' })
const Source = Type.Enum([...SOURCES], { description: 'only units, or only the old knowledge base' })
const Container = Type.String({
  maxLength: 400,
  description: 'address or id of a unit: it, and what is in it',
})

const SearchQuery = Type.Object(
  {
    q: Type.String({
      maxLength: 10_000,
      description: 'a question, words, "a phrase", begin*',
      examples: ['paid leave'],
    }),
    workspace_id: Workspace,
    limit: Limit,
    explain: Explain,
    topic: Type.Optional(Word),
    kind: Type.Optional(Word),
    lifecycle: Type.Optional(Lifecycle),
    language: Type.Optional(Word),
    container: Type.Optional(Container),
    source: Type.Optional(Source),
  },
  { additionalProperties: false },
)

const SearchBody = Type.Object(
  {
    text: Type.String({ maxLength: LONGEST_QUESTION, description: 'a question, words, "a phrase", begin*' }),
    workspace_id: Workspace,
    limit: Type.Optional(Limit),
    explain: Type.Optional(Explain),
    filters: Type.Optional(
      Type.Object(
        {
          topic: Type.Optional(Words),
          kind: Type.Optional(Words),
          lifecycle: Type.Optional(
            Type.Union([Lifecycle, Type.Array(Lifecycle, { minItems: 1, maxItems: 3 })]),
          ),
          language: Type.Optional(Words),
          profile: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), {
              description: 'what the profile must hold, at least',
            }),
          ),
          edge: Type.Optional(
            Type.Object(
              {
                type: Type.Optional(Word),
                target: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
              },
              {
                additionalProperties: false,
                minProperties: 1,
                description:
                  'an edge of this type from it, to this address, id or reference; one of the two will do',
              },
            ),
          ),
          container: Type.Optional(Container),
          source: Type.Optional(Source),
        },
        { additionalProperties: false },
      ),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ text: 'how many days of leave?', filters: { topic: 'leave', lifecycle: 'enacted' } }],
  },
)

export const searchRoutes =
  (search: Search): FastifyPluginAsyncTypebox =>
  async (api) => {
    api.setSchemaErrorFormatter(invalidInput)
    api.get(
      '/',
      {
        schema: {
          operationId: 'search',
          summary: 'Find units and documents by words and by meaning; each hit says how fresh it is',
          tags,
          querystring: SearchQuery,
          response: { 200: AnswerShape, ...problems(400, 401, 403, 404) },
        },
      },
      async (request) => {
        const { q, workspace_id, limit, explain, ...filters } = request.query
        return answer(request, search, workspace_id, { text: q, limit, explain, filters })
      },
    )

    api.post(
      '/',
      {
        bodyLimit: QUESTION_LIMIT,
        config: { onlyReads: true },
        schema: {
          operationId: 'searchWith',
          summary: 'The same for long questions and for every filter',
          tags,
          body: SearchBody,
          response: { 200: AnswerShape, ...problems(400, 401, 403, 404, 413) },
        },
      },
      async (request) => {
        const { workspace_id, ...asked } = request.body
        return answer(request, search, workspace_id, asked)
      },
    )
  }

async function answer(
  request: FastifyRequest,
  search: Search,
  named: string | undefined,
  { filters, ...asked }: Omit<Static<typeof SearchBody>, 'workspace_id'>,
) {
  const workspace_id = await request.transaction((client) => workspaceOf(client, named))
  const answered = await search.findAs((work) => request.transaction(work), {
    ...asked,
    workspace_id,
    ...(filters && { filters }),
  })
  return presentAnswer(answered)
}
