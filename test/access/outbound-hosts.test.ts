/** Where a webhook or a playbook's request may go, and where it never goes. */
import { describe, expect, it } from 'vitest'
import {
  type Address,
  HostRefused,
  isPublicAddress,
  permittedAddresses,
} from '../../src/access/outbound-hosts.ts'
import { readConfig } from '../../src/kernel/config.ts'

const v4 = (address: string): Address => ({ address, family: 4 })
const v6 = (address: string): Address => ({ address, family: 6 })
const permitted = (url: string, hosts: string[], found: Address[] = [v4('93.184.215.14')]) =>
  permittedAddresses(new URL(url), { hosts, setting: 'STAGEDOOR_THESE_HOSTS' }, async () => found)
const refused = async (...given: Parameters<typeof permitted>) =>
  expect(permitted(...given)).rejects.toBeInstanceOf(HostRefused)

describe('an address is public', () => {
  it.each([
    '93.184.215.14',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '169.253.255.255',
    '2606:2800:21f::1',
    '2a00::1',
  ])('%s', (address) => {
    expect(isPublicAddress(address.includes(':') ? v6(address) : v4(address))).toBe(true)
  })
})

describe('an address is not public', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:93.184.215.14',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
  ])('%s', (address) => {
    expect(isPublicAddress(address.includes(':') ? v6(address) : v4(address))).toBe(false)
  })
})

describe('a request goes', () => {
  it('to a host that was named, at the port of the protocol', async () => {
    expect(await permitted('https://hooks.example.com/a', ['hooks.example.com'])).toEqual([
      v4('93.184.215.14'),
    ])
    expect(await permitted('https://HOOKS.example.com:443/a', ['hooks.example.com:443'])).toHaveLength(1)
    expect(await permitted('https://hooks.example.com:8443/a', ['hooks.example.com:8443'])).toHaveLength(1)
  })

  it('nowhere while no host was named, and the setting to name it in is named', async () => {
    await refused('https://hooks.example.com/', [])
    await expect(permitted('https://hooks.example.com/', [])).rejects.toThrow('STAGEDOOR_THESE_HOSTS')
  })

  it.each([
    ['another host', 'https://other.example.com/'],
    ['a host below it', 'https://a.hooks.example.com/'],
    ['a host that ends like it', 'https://evilhooks.example.com/'],
    ['another port', 'https://hooks.example.com:8443/'],
    ['a host that only looks like it', 'https://hooks.example.com.evil.com/'],
    ['a host behind its name as a user', 'https://hooks.example.com@evil.com/'],
    ['plain http', 'http://hooks.example.com/'],
    ['something that is not http', 'ftp://hooks.example.com/'],
  ])('not to %s', (_, url) => refused(url, ['hooks.example.com']))

  it('not to a name that means an address inside, not even if one of several does', async () => {
    await refused('https://hooks.example.com/', ['hooks.example.com'], [v4('10.0.0.5')])
    await refused(
      'https://hooks.example.com/',
      ['hooks.example.com'],
      [v4('93.184.215.14'), v4('169.254.169.254')],
    )
    await refused('https://hooks.example.com/', ['hooks.example.com'], [v6('::ffff:10.0.0.5')])
  })

  it('inside only where the address itself was named, and its port', async () => {
    const inside = [v4('10.0.0.5')]
    expect(await permitted('https://hooks.example.com/', ['hooks.example.com', '10.0.0.5'], inside)).toEqual(
      inside,
    )
    expect(await permitted('http://127.0.0.1:9000/', ['127.0.0.1:9000'])).toEqual([v4('127.0.0.1')])
    expect(await permitted('http://[::1]:9000/', ['[::1]:9000'])).toEqual([v6('::1')])
    await refused('http://127.0.0.1:9001/', ['127.0.0.1:9000'])
    await refused('https://hooks.example.com/', ['hooks.example.com', '10.0.0.6'], inside)
  })

  it('not to an address that is written in another way than it was named', async () => {
    for (const host of ['2130706433', '0x7f.1', '127.1', '017700000001']) {
      await refused(`https://${host}/`, [host])
    }
  })

  it('again later, when the name has no answer now', async () => {
    const nothing = permitted('https://hooks.example.com/', ['hooks.example.com'], [])
    await expect(nothing).rejects.not.toBeInstanceOf(HostRefused)
  })
})

describe('STAGEDOOR_WEBHOOK_HOSTS', () => {
  const hosts = (value: string) => readConfig({ STAGEDOOR_WEBHOOK_HOSTS: value }).webhookHosts

  it('is a list of hosts with or without a port, written as an address would write them', () => {
    expect(hosts('')).toEqual([])
    expect(hosts('Hooks.Example.com, [0::1]:9000 bücher.example:8443')).toEqual([
      'hooks.example.com',
      '[::1]:9000',
      'xn--bcher-kva.example:8443',
    ])
  })

  it.each([
    'https://hooks.example.com',
    'hooks.example.com/path',
    '*.example.com',
    'a:99999',
    'user@host',
    'a:b',
  ])('does not take %s', (value) => {
    expect(() => hosts(value)).toThrow('is not a host or host:port')
  })
})
