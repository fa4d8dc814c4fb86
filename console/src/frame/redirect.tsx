import { useEffect } from 'react'
import { go } from '../route.ts'

/** An address of before leads to the page that took its place. */
export function redirectTo(address: (params: Readonly<Record<string, string>>) => string) {
  return function Redirect({ params }: { params: Readonly<Record<string, string>> }) {
    useEffect(() => go(address(params), 'replace'), [params])
    return null
  }
}
