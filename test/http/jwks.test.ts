import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTokenVerifier, signToken } from '../../src/access/tokens.ts'

const SECRET = 'a secret that is long enough for HS256'
let server: Server
let url: string
let healthy = true
const keys: Record<string, Awaited<ReturnType<typeof generateKeyPair>>['privateKey']> = {}

beforeAll(async () => {
  const published = await Promise.all(
    ['RS256', 'ES256'].map(async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg)
      keys[alg] = privateKey
      return { ...(await exportJWK(publicKey)), alg, kid: alg, use: 'sig' }
    }),
  )
  server = createServer((_request, reply) => {
    reply.statusCode = healthy ? 200 : 500
    reply.end(healthy ? JSON.stringify({ keys: published }) : 'out of order')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
})
afterAll(() => server.close())

const verifier = (settings: { jwtIssuer?: string; jwtAudience?: string } = {}, secret?: string) =>
  createTokenVerifier({ jwksUrl: url, jwtIssuer: undefined, jwtAudience: undefined, ...settings }, secret)

const sign = (alg: string, claims: Record<string, unknown> = {}, kid = alg) =>
  new SignJWT({ sub: 'ada', ...claims })
    .setProtectedHeader({ alg, kid })
    .setExpirationTime('1h')
    .sign(keys[alg]!)

it.each(['RS256', 'ES256'])('takes %s tokens of the provider, as a person', async (alg) => {
  expect(await verifier().verify(await sign(alg))).toMatchObject({ subject: 'ada', role: 'authenticated' })
})

it('does not take HS256 without a secret, and with one takes both', async () => {
  const own = await signToken(SECRET, { subject: 'bob', role: 'service_role', expiresIn: '1h' })
  await expect(verifier().verify(own)).rejects.toMatchObject({ code: 'token_invalid' })
  expect(await verifier({}, SECRET).verify(own)).toMatchObject({ subject: 'bob' })
  expect(await verifier({}, SECRET).verify(await sign('RS256'))).toMatchObject({ subject: 'ada' })
})

it('does not take a public key for a secret', async () => {
  const jwks = await (await fetch(url)).text()
  const forged = await new SignJWT({ sub: 'mallory' })
    .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(jwks))
  await expect(verifier().verify(forged)).rejects.toMatchObject({ code: 'token_invalid' })
})

it('checks issuer and audience when they are set', async () => {
  const strict = verifier({ jwtIssuer: 'https://id.example.com', jwtAudience: 'stagedoor' })
  const good = { iss: 'https://id.example.com', aud: 'stagedoor' }
  expect(await strict.verify(await sign('RS256', good))).toMatchObject({ subject: 'ada' })
  for (const bad of [{}, { ...good, iss: 'https://evil.example.com' }, { ...good, aud: 'other' }]) {
    await expect(strict.verify(await sign('RS256', bad))).rejects.toMatchObject({ code: 'token_invalid' })
  }
})

it('refuses a key that the provider does not publish', async () => {
  const { privateKey } = await generateKeyPair('RS256')
  const token = await new SignJWT({ sub: 'x' })
    .setProtectedHeader({ alg: 'RS256', kid: 'unknown' })
    .setExpirationTime('1h')
    .sign(privateKey)
  await expect(verifier().verify(token)).rejects.toMatchObject({ code: 'token_invalid' })
})

it('says that the keys are unavailable when they are: the token may be fine', async () => {
  healthy = false
  await expect(verifier().verify(await sign('RS256'))).rejects.toMatchObject({
    code: 'keys_unavailable',
    status: 503,
    retryable: true,
  })
  healthy = true
})
