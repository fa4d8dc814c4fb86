import { useEffect, useSyncExternalStore } from 'react'

/** The address says which page is shown; navigation does not reload the console. */
const MOVED = 'stagedoor:moved'

export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(history.state, '', address)
  dispatchEvent(new Event(MOVED))
  if (how === 'push') {
    scrollTo(0, 0)
    // Screen readers announce the new page, and the keyboard focus starts at its top.
    document.getElementById('main')?.focus({ preventScroll: true })
  }
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname)
}

/** One parameter of the address, so that a link leads to the very view, and a way to change it. */
export function useParameter(name: string): [string | undefined, (value: string | undefined) => void] {
  const search = useSyncExternalStore(subscribe, () => location.search)
  const set = (value: string | undefined) => {
    const parameters = new URLSearchParams(location.search)
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
    const text = parameters.toString()
    go(location.pathname + (text === '' ? '' : `?${text}`), 'replace')
  }
  return [new URLSearchParams(search).get(name) ?? undefined, set]
}

/** Plain links to pages of the console are followed without a reload. */
export function useLinks(isPage: (path: string) => boolean): void {
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      if (event.defaultPrevented || event.button !== 0) return
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      const link = (event.target as Element).closest?.('a')
      if (link?.target !== '' || link.hasAttribute('download')) return
      const address = new URL(link.href)
      if (address.origin !== location.origin || address.hash !== '' || !isPage(address.pathname)) return
      event.preventDefault()
      go(address.pathname + address.search)
    }
    document.addEventListener('click', follow)
    return () => document.removeEventListener('click', follow)
  }, [isPage])
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  addEventListener(MOVED, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(MOVED, listener)
  }
}

/** The parts of the path that the pattern names, or undefined where it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const named: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const piece = given[index] ?? ''
    if (part.startsWith(':') && piece !== '') named[part.slice(1)] = decodeURIComponent(piece)
    else if (part !== piece) return undefined
  }
  return named
}
