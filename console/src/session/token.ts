/** The token lives in this tab only: it is gone when the tab is closed, and never stays in the address. */
const KEY = 'stagedoor.token'

/** A sign-in link is `…/#token=<jwt>`; a fragment is not sent to any server and so not logged by one. */
export function takeTokenFromAddress(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return token === '' ? undefined : token
}

export function storedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

export function storeToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY)
}

/** People paste what they have: a token, a whole sign-in link, or a header. Undefined: none of these. */
export function tokenIn(pasted: string): string | undefined {
  const text = pasted
    .trim()
    .replace(/^.*#token=/s, '')
    .replace(/^(authorization:\s*)?bearer\s+/i, '')
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text : undefined
}
