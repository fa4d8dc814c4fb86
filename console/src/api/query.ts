/** A query string without undefined values. */
export function query(given: object): URLSearchParams {
  const said = Object.entries(given).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(said.map(([name, value]) => [name, String(value)]))
}
