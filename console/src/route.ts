import { createBrowserHistory } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'

/** The address says which page is shown; navigation does not reload the console. The router (app.tsx) follows this history. */
export const browserHistory = createBrowserHistory()

export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  browserHistory[how](address)
  if (how === 'push') {
    scrollTo(0, 0)
    // Screen readers announce the new page, and the keyboard focus starts at its top.
    document.getElementById('main')?.focus({ preventScroll: true })
  }
}

export function usePath(): string {
  return useSyncExternalStore(browserHistory.subscribe, () => browserHistory.location.pathname)
}

/** One parameter of the address, so that a link leads to the very view, and a way to change it. */
export function useParameter(name: string): [string | undefined, (value: string | undefined) => void] {
  const [parameters, set] = useParameters()
  return [parameters.get(name) ?? undefined, (value) => set({ [name]: value })]
}

/** All parameters of the address, and a way to change several at once; undefined takes one out. */
export function useParameters(): [
  URLSearchParams,
  (values: Readonly<Record<string, string | undefined>>) => void,
] {
  const search = useSyncExternalStore(browserHistory.subscribe, () => browserHistory.location.search)
  const set = (values: Readonly<Record<string, string | undefined>>) => {
    const { pathname, search: current } = browserHistory.location
    const parameters = new URLSearchParams(current)
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || value === '') parameters.delete(name)
      else parameters.set(name, value)
    }
    const text = parameters.toString()
    go(pathname + (text === '' ? '' : `?${text}`), 'replace')
  }
  return [new URLSearchParams(search), set]
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
