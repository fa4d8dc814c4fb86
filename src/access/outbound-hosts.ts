/**
 * Where a request of ours may go, a webhook's or a playbook's: hosts that the operator named, and of those only public addresses. A name is looked up once, what
 * was found is checked, and the connection goes to what was checked: a name that answers differently the next time leads nowhere.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Hosts that the operator allows, and the setting that lists them. */
interface AllowedHosts {
  readonly hosts: readonly string[]
  readonly setting: string
}

/** Resolves a host name. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

/** The target is not allowed; a retry does not help. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused'
}

/** Not reachable from everywhere, or not for this: RFC 6890 and what the registries of special addresses name since. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** Of IPv6 only 2000::/3 is public; in it these are not, or carry an IPv4 address that would have to be checked (2002::, 2001::). */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const special = blockList(SPECIAL_V4, SPECIAL_V6)
const global = blockList([], ['2000::/3'])

export function isPublicAddress({ address, family }: Address): boolean {
  if (family === 4) return !special.check(address, 'ipv4')
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The addresses that a request to this URL may connect to. Throws HostRefused, or what the lookup throws. */
export async function permittedAddresses(
  url: URL,
  { hosts, setting }: AllowedHosts,
  resolve: Resolve = lookUp,
): Promise<readonly Address[]> {
  if (!isNamed(url.hostname, url, hosts)) {
    throw new HostRefused(`${url.host} is not among the hosts of ${setting}`)
  }
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && family !== 0)) {
    throw new HostRefused(`${url.host} needs https; http goes only to an address that the hosts name`)
  }
  const addresses =
    family === 0 ? await resolve(url.hostname) : [{ address: literal, family: family as 4 | 6 }]
  const refused = addresses.find(
    (address) => !isPublicAddress(address) && !isNamed(hostOf(address), url, hosts),
  )
  if (refused) {
    throw new HostRefused(`${url.host} is ${refused.address}, which is not a public address`)
  }
  if (addresses.length === 0) throw new Error(`${url.host} has no address`)
  return addresses
}

/** For a request: it connects to the checked addresses, even if the name resolves differently by then. */
export function pinLookup(addresses: readonly Address[]): LookupFunction {
  return (_hostname, { all }, found) => {
    if (all)
      found(
        null,
        addresses.map((one) => ({ ...one })),
      )
    else found(null, addresses[0]!.address, addresses[0]!.family)
  }
}

/** A lookup cannot be cancelled, but the caller stops waiting for it. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return Promise.race([
    work,
    new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    ),
  ])
}

/** Without a port an entry means the port of the protocol. */
function isNamed(hostname: string, url: URL, allowed: readonly string[]): boolean {
  return (
    allowed.includes(url.port === '' ? hostname : `${hostname}:${url.port}`) ||
    allowed.includes(withPort(hostname, url))
  )
}

function withPort(hostname: string, url: URL): string {
  return `${hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
}

function hostOf({ address, family }: Address): string {
  return family === 6 ? new URL(`http://[${address}]`).hostname : address
}

async function lookUp(hostname: string): Promise<Address[]> {
  return (await lookup(hostname, { all: true })) as Address[]
}

function blockList(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList()
  for (const subnet of v4) list.addSubnet(subnet.split('/')[0]!, Number(subnet.split('/')[1]), 'ipv4')
  for (const subnet of v6) list.addSubnet(subnet.split('/')[0]!, Number(subnet.split('/')[1]), 'ipv6')
  return list
}
