import { createRequest } from '../api/request.ts'

/** Exchanges the code of a sign-in link for a token. A code works once. */
export async function exchange(code: string): Promise<string> {
  const { token } = await createRequest(undefined)<{ token: string }>('/sign-in', {
    method: 'POST',
    body: { code },
  })
  return token
}
