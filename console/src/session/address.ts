/** What links bring in the fragment of the address, which is not sent to any server and so not logged by one. */
interface LinkedSecrets {
  /** Of a sign-in link; the server takes it once. */
  readonly code: string | undefined
  readonly invitation: string | undefined
}

/** Removes them from the address. A token in the address is removed and not used: such a link would sign others in as its sender. */
export function takeSecretsFromAddress(): LinkedSecrets {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (!['code', 'token', 'invitation'].some((name) => fragment.has(name)))
    return { code: undefined, invitation: undefined }
  history.replaceState(null, '', location.pathname + location.search)
  return { code: fragment.get('code') || undefined, invitation: fragment.get('invitation') || undefined }
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
