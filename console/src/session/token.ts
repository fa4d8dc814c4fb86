/** The token is stored in this tab only: closing the tab deletes it, and it never stays in the address. */
const KEY = 'stagedoor.token'

/**
 * A sign-in link is `…/#code=<code>`; a fragment is not sent to any server and so not logged by one. The server exchanges the code for a
 * token, once. A token in the address is removed and not used: such a link would sign others in as its sender.
 */
export function takeCodeFromAddress(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (!fragment.has('code') && !fragment.has('token')) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return fragment.get('code') || undefined
}

/** A link never acts on the session of somebody who is signed in here, unless they say so. */
export function mayUseLink(): boolean {
  return (
    storedToken() === undefined || confirm('You are already signed in. Sign out and use this link instead?')
  )
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

/** The code of a sign-in link that is pasted as a whole. */
export function codeIn(pasted: string): string | undefined {
  return /#code=([\w-]+)\s*$/.exec(pasted)?.[1]
}

/** People paste what they have: a token, a link with one, or a header. Undefined: none of these. */
export function tokenIn(pasted: string): string | undefined {
  const text = pasted
    .trim()
    .replace(/^.*#token=/s, '')
    .replace(/^(authorization:\s*)?bearer\s+/i, '')
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text : undefined
}
