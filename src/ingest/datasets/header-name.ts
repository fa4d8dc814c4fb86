/** Headers as exports write them, brought to a form in which they can be compared. */
import { distance } from 'fastest-levenshtein'

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))

/** Signs that stand for one currency only; `$` and `¥` alone do not. */
const SIGNS: Record<string, string> = {
  '€': 'EUR',
  '£': 'GBP',
  '₫': 'VND',
  đ: 'VND',
  VNĐ: 'VND',
  A$: 'AUD',
  AU$: 'AUD',
  US$: 'USD',
  C$: 'CAD',
  CA$: 'CAD',
  NZ$: 'NZD',
  S$: 'SGD',
  HK$: 'HKD',
  NT$: 'TWD',
  R$: 'BRL',
  MX$: 'MXN',
  '₹': 'INR',
  '₩': 'KRW',
  '฿': 'THB',
  '₱': 'PHP',
  '₺': 'TRY',
  '₽': 'RUB',
  '₴': 'UAH',
  '₪': 'ILS',
  '₦': 'NGN',
  '₸': 'KZT',
  '₡': 'CRC',
  '₲': 'PYG',
  '₵': 'GHS',
  '₼': 'AZN',
  '₾': 'GEL',
  '৳': 'BDT',
  zł: 'PLN',
  Kč: 'CZK',
}

/** Signs that several currencies use: each agrees with any of them. */
const SHARED_SIGNS: Record<string, string[]> = {
  $: 'USD AUD CAD NZD SGD HKD TWD MXN ARS CLP COP UYU DOP JMD TTD BBD BZD BSD BMD BND FJD GYD KYD LRD NAD SBD SRD XCD'.split(
    ' ',
  ),
  '¥': ['JPY', 'CNY'],
  '￥': ['JPY', 'CNY'],
  kr: ['SEK', 'NOK', 'DKK', 'ISK'],
  'kr.': ['SEK', 'NOK', 'DKK', 'ISK'],
  Fr: ['CHF', 'XOF', 'XAF', 'XPF'],
  'Fr.': ['CHF', 'XOF', 'XAF', 'XPF'],
  '₨': ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
}

/** What a sign or a code beside an amount may stand for; by its capital letters. */
export const CURRENCIES_BY_SIGN: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...CURRENCIES].map((code): [string, string[]] => [code, [code]]),
  ...Object.entries(SIGNS).map(([sign, code]): [string, string[]] => [sign.toUpperCase(), [code]]),
  ...Object.entries(SHARED_SIGNS).map(([sign, codes]): [string, string[]] => [sign.toUpperCase(), codes]),
])

/** Full-width forms, case, accents, blanks, underscores and punctuation do not tell two headers apart. */
export function headerKey(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replaceAll('đ', 'd')
    .replace(/[\s_.:;,'’‘"“”`´/\\\-–—\u200b\ufeff]+/gu, '')
}

/** `Amount spent (AUD)` → Amount spent, AUD. The currency is null where the sign leaves it open, as `$` does. */
export function splitCurrency(
  header: string,
): { name: string; currency: string | null; sign?: string } | undefined {
  const text = header.normalize('NFKC').trim()
  const match =
    /^(.+?)\s*[([]\s*([^()[\]]{1,4})\s*[)\]]$/u.exec(text) ?? /^(.+?)[\s,:]+([A-Z]{3})$/u.exec(text)
  if (!match) return undefined
  const [, name, mark] = match as unknown as [string, string, string]
  const code = mark.toUpperCase()
  if (CURRENCIES.has(code)) return { name, currency: code }
  if (SIGNS[mark]) return { name, currency: SIGNS[mark] }
  if (/^\p{Sc}$/u.test(mark) || CURRENCIES_BY_SIGN.has(code)) return { name, currency: null, sign: mark }
  return undefined
}

/** Currency codes and signs, for compiled rules. */
export const CURRENCY_CODES: readonly string[] = [...CURRENCIES]
export const CURRENCY_SIGNS: Readonly<Record<string, string>> = SIGNS

/**
 * How unlike two header keys are, from 0 to 1: the share of letters that must change. Measured over the aliases of the
 * ads dataset: at 0.25 a name with one letter wrong in eight is still found, and of the aliases of different fields only
 * such as differ in one word's ending come as near.
 */
export function unlikeness(left: string, right: string): number {
  const longest = Math.max(left.length, right.length)
  return longest === 0 ? 0 : distance(left, right) / longest
}

export const NEAR = 0.25
