/** The code of a sign-in link, exchanged for a token: once. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { takeSignInCode } from '../../access/sign-in-codes.ts'
import { inTransaction } from '../../db/transaction.ts'
import { StagedoorError } from '../../errors.ts'
import { problems } from '../responses.ts'
import type { ApiContext } from '../server.ts'

export function signInRoutes({ pool, signIn }: ApiContext): FastifyPluginAsyncTypebox {
  return async (api) => {
    if (signIn === undefined) return
    api.post(
      '/sign-in',
      {
        config: { public: true },
        bodyLimit: 4096,
        schema: {
          operationId: 'signIn',
          summary: 'Exchange the code of a sign-in link for a token; a code is good once',
          tags: ['access'],
          body: Type.Object(
            { code: Type.String({ minLength: 20, maxLength: 200 }) },
            { additionalProperties: false },
          ),
          response: { 200: Type.Object({ token: Type.String() }), ...problems(400, 401) },
        },
      },
      async (request, reply) => {
        const who = await inTransaction(pool, (client) => takeSignInCode(client, request.body.code), {
          role: 'service_role',
        })
        if (who === undefined) {
          throw new StagedoorError('token_invalid', {
            reason: 'the sign-in link was used already, or is too old',
          })
        }
        reply.header('cache-control', 'no-store')
        return { token: await signIn(who) }
      },
    )
  }
}
