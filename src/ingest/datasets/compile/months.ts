/** Names of months, without accents and in small letters: English, German, French, Spanish, Portuguese, Italian. */
const NAMES: readonly (readonly string[])[] = [
  ['jan', 'january', 'januar', 'janner', 'janvier', 'janv', 'enero', 'ene', 'janeiro', 'gennaio', 'gen'],
  ['feb', 'february', 'februar', 'fevrier', 'fev', 'fevr', 'febrero', 'fevereiro', 'febbraio'],
  ['mar', 'march', 'marz', 'maerz', 'mrz', 'mars', 'marzo', 'marco'],
  ['apr', 'april', 'avril', 'avr', 'abril', 'abr', 'aprile'],
  ['may', 'mai', 'mayo', 'maio', 'maggio', 'mag'],
  ['jun', 'june', 'juni', 'juin', 'junio', 'junho', 'giugno', 'giu'],
  ['jul', 'july', 'juli', 'juillet', 'juil', 'julio', 'julho', 'luglio', 'lug'],
  ['aug', 'august', 'aout', 'agosto', 'ago'],
  ['sep', 'sept', 'september', 'septembre', 'septiembre', 'setembro', 'set', 'settembre'],
  ['oct', 'october', 'okt', 'oktober', 'octobre', 'octubre', 'outubro', 'out', 'ottobre', 'ott'],
  ['nov', 'november', 'novembre', 'noviembre', 'novembro'],
  ['dec', 'december', 'dez', 'dezember', 'decembre', 'diciembre', 'dic', 'dezembro', 'dicembre'],
]

export const MONTHS: Readonly<Record<string, number>> = Object.fromEntries(
  NAMES.flatMap((names, index) => names.map((name) => [name, index + 1])),
)
