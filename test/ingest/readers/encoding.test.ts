import iconv from 'iconv-lite'
import { afterAll, describe, expect, it } from 'vitest'
import { closeDuck } from '../../../src/ingest/duckdb.ts'
import { readBack } from './read-back.ts'

afterAll(closeDuck)

const TEXT = 'name,n\nTiếng Việt 👍,1\n"é\r\nx",2\n'

function utf16(text: string, order: 'le' | 'be', mark: boolean): Buffer {
  const bytes = Buffer.from(mark ? `\ufeff${text}` : text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('The encoding is found', () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with BOM', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16LE', utf16(TEXT, 'le', false)],
    ['UTF-16LE with BOM', utf16(TEXT, 'le', true)],
    ['UTF-16BE', utf16(TEXT, 'be', false)],
    ['UTF-16BE with BOM', utf16(TEXT, 'be', true)],
  ])('as %s', async (name, bytes) => {
    for (const bufferBytes of [3, 4096]) {
      const file = await readBack(bytes, { bufferBytes })
      expect(file).toMatchObject({ encoding: name, headers: ['name', 'n'] })
      expect(file.rows.map((row) => [row.line, row.flaw, ...row.values])).toEqual([
        [2, '', 'Tiếng Việt 👍', '1'],
        [3, '', 'é\nx', '2'],
      ])
    }
  })

  it('unless it is given', async () => {
    const bytes = Buffer.from([...Buffer.from('name,n\n'), 0x80, 0x92, 0xe9, ...Buffer.from(',1\n')])
    const file = await readBack(bytes, { encoding: 'windows-1252' })
    expect(file).toMatchObject({ encoding: 'windows-1252', notes: [] })
    expect(file.rows).toEqual([{ line: 2, flaw: '', extra: '', values: ['€’é', '1'] }])
  })
})

describe('Damaged UTF-16', () => {
  it('has half a pair of surrogates in one record, which is flawed', async () => {
    const { rows } = await readBack(utf16('name,n\na\ud83db,1\nc,2\n', 'le', true))
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['invalid_utf8', 'a\ufffdb', '1'],
      ['', 'c', '2'],
    ])
  })

  it('ends in the middle of a character', async () => {
    const { rows } = await readBack(utf16('name,n\na,1\nc,2', 'be', true).subarray(0, -1))
    expect(rows.map((row) => [row.flaw, ...row.values])).toEqual([
      ['', 'a', '1'],
      ['invalid_utf8', 'c', '\ufffd'],
    ])
  })
})

describe('A file that is neither UTF-8 nor UTF-16', () => {
  const TEXTS: [encoding: string, values: string[]][] = [
    ['shift_jis', ['東京都の広告キャンペーン', '大阪でのセール', '表示回数とクリック']],
    ['euc-jp', ['東京都の広告キャンペーン', '大阪でのセール', '表示回数とクリック']],
    ['gbk', ['北京的广告系列', '上海的销售活动', '展示次数和点击']],
    ['big5', ['臺北的廣告活動', '高雄的特賣會', '曝光次數與點擊']],
    ['euc-kr', ['서울 광고 캠페인', '부산 할인 행사', '노출수와 클릭수']],
    ['windows-1251', ['Рекламная кампания', 'Распродажа в Москве', 'Показы и клики']],
    ['koi8-r', ['Рекламная кампания', 'Распродажа в Москве', 'Показы и клики']],
    ['windows-1252', ['Größe – 5 €', 'Crème brûlée', 'señor niño']],
    ['iso-8859-2', ['Kampaň v Čechách', 'Žluťoučký kůň', 'Příliš drahé']],
    ['windows-1253', ['Διαφημιστική καμπάνια', 'Προσφορές στην Αθήνα', 'Προβολές και κλικ']],
  ]
  const fileOf = (encoding: string, values: string[]) =>
    iconv.encode(`name,n\nplain,0\n${values.map((value, n) => `"${value}",${n}\n`).join('')}`, encoding)

  it.each(TEXTS)('is read when it is named: %s', async (encoding, values) => {
    for (const bufferBytes of [3, 4096]) {
      const file = await readBack(fileOf(encoding, values), { encoding, bufferBytes })
      expect(file.rows.map((row) => [row.flaw, row.values[0]])).toEqual([
        ['', 'plain'],
        ...values.map((value) => ['', value]),
      ])
    }
  })

  it.each(TEXTS)('is refused when it is not, with what it would say: %s', async (encoding, values) => {
    const error = await readBack(fileOf(encoding, values)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'file_encoding_unknown' })
    expect((error as Error).message).toContain(`“${values[0]}”`)
  })

  it('is not taken for windows-1252 where the bytes are Japanese', async () => {
    const error = await readBack(fileOf(...TEXTS[0]!)).catch((thrown: unknown) => thrown)
    expect((error as { details: { encodings: string[] } }).details.encodings[0]).toMatch(/shift_jis/i)
    expect((error as { hint: string }).hint).toContain('--encoding Shift_JIS')
    const { rows } = await readBack(fileOf(...TEXTS[0]!), { encoding: 'windows-1252' })
    expect(rows.filter((row) => row.flaw === 'invalid_utf8').length).toBeGreaterThan(0)
  })

  it('has damaged bytes flagged in its own encoding, too', async () => {
    const bytes = Buffer.concat([
      Buffer.from('name,n\n'),
      Buffer.from([0x81, 0x20]),
      Buffer.from(',1\nb,2\n'),
    ])
    const { rows } = await readBack(bytes, { encoding: 'Shift_JIS' })
    expect(rows.map((row) => row.flaw)).toEqual(['invalid_utf8', ''])
  })

  it('as JSON lines is refused as well', async () => {
    const bytes = iconv.encode(
      '{"name":"東京都の広告キャンペーン"}\n{"name":"大阪でのセール"}\n',
      'shift_jis',
    )
    await expect(readBack(bytes)).rejects.toMatchObject({ code: 'file_encoding_unknown' })
    expect((await readBack(bytes, { encoding: 'shift_jis' })).rows[1]!.values).toEqual(['大阪でのセール'])
  })

  it('cannot be named as what no text is, and an unknown name brings near ones', async () => {
    for (const encoding of ['base64', 'shift-jiss', 'x'])
      await expect(readBack('a,b\n1,2\n', { encoding })).rejects.toMatchObject({ code: 'argument_invalid' })
    const error = await readBack('a,b\n1,2\n', { encoding: 'shift-jiss' }).catch((thrown: unknown) => thrown)
    expect((error as Error).message).toContain('Is it shift_jis?')
  })
})
