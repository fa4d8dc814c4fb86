import { createRequest } from '../api/request.ts'

/** A code is good once: the server forgets it with this. */
export async function exchange(code: string): Promise<string> {
  const { token } = await createRequest(undefined)<{ token: string }>('/sign-in', {
    method: 'POST',
    body: { code },
  })
  return token
}
