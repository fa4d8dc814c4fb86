/** A browser without a window: it keeps the cookies of the API, and sends the token for changes as the console does. */
import type { FastifyInstance } from 'fastify'
import { SESSION_COOKIE } from '../../src/access/sessions.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Browser {
  /** The id of the session. */
  readonly cookie: string
  /** The header that set it. */
  readonly setCookie: string
  csrf(): Promise<string>
  /** Below /api/v1. Changes have the token of the session unless `headers` say otherwise; undefined leaves a header out. */
  send(
    method: Method,
    path: string,
    body?: object,
    headers?: Record<string, string | undefined>,
    // biome-ignore lint/suspicious/noExplicitAny: what came is compared
  ): Promise<{ status: number; body: any; headers: Record<string, unknown>; text: string }>
}

export function createBrowser(app: FastifyInstance, cookie = ''): Browser {
  const cookies = new Map<string, string>(cookie === '' ? [] : [[SESSION_COOKIE, cookie]])
  const session = () => [...cookies.keys()].findLast((name) => name.includes(SESSION_COOKIE))
  let setCookie = ''
  const browser: Browser = {
    get cookie() {
      return cookies.get(session() ?? '') ?? ''
    },
    get setCookie() {
      return setCookie
    },
    async csrf() {
      return (await browser.send('GET', '/session')).body.session?.csrf ?? ''
    },
    async send(method, path, body, given = {}) {
      const isChange = method !== 'GET' && session() !== undefined && !('x-stagedoor-csrf' in given)
      const wanted: Record<string, string | undefined> = {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') || undefined,
        ...(isChange && { 'x-stagedoor-csrf': await browser.csrf() }),
        ...given,
      }
      const headers = Object.fromEntries(
        Object.entries(wanted).filter((header): header is [string, string] => header[1] !== undefined),
      )
      const reply = await app.inject({
        method,
        url: `/api/v1${path}`,
        headers,
        ...(body && { payload: body }),
      })
      for (const one of reply.cookies) {
        if (one.value === '') cookies.delete(one.name)
        else cookies.set(one.name, one.value)
        if (one.name.includes(SESSION_COOKIE))
          setCookie = [reply.headers['set-cookie'] ?? '']
            .flat()
            .find((text) => text.includes(SESSION_COOKIE))!
      }
      const text = reply.body
      return {
        status: reply.statusCode,
        body: text.startsWith('{') ? reply.json() : undefined,
        headers: reply.headers,
        text,
      }
    },
  }
  return browser
}
