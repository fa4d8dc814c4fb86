/** Texts in many languages and scripts are found as people ask for them, whether or not somebody said which language it is. */
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../support/database.ts'
import { createWorkspace } from '../support/factories.ts'
import { call, create, edit, useLife } from '../units/life.ts'
import { discrepancies, found, lexical, project, unitIn } from './projecting.ts'

const db = useDatabase()
const life = useLife(db)

/** Language, text, and questions that find it. */
const TEXTS: readonly (readonly [language: string, text: string, questions: readonly string[]])[] = [
  [
    'zh',
    '员工每年享有二十八天带薪年假。请假申请须提前两周提交。',
    ['年假', '请假申请', '年*', '假', '带薪年假有几天'],
  ],
  [
    'ja',
    '有給休暇は年に二十日です。コンピュータは会社が用意します。',
    ['有給休暇', '休暇', 'コンピュータ', 'ｺﾝﾋﾟｭｰﾀ'],
  ],
  ['th', 'พนักงานมีสิทธิลาพักร้อนได้ปีละยี่สิบวัน', ['ลาพักร้อน', 'พักร้อน', 'สิทธิ']],
  ['ko', '직원은 유급휴가를 신청할 수 있습니다.', ['유급휴가', '휴가', '신청']],
  ['lo', 'ພະນັກງານມີສິດລາພັກປະຈໍາປີ', ['ລາພັກ']],
  ['km', 'បុគ្គលិកមានសិទ្ធិឈប់សម្រាកប្រចាំឆ្នាំ', ['ឈប់សម្រាក']],
  ['my', 'ဝန်ထမ်းများသည်နှစ်စဉ်ခွင့်ရသည်', ['ခွင့်']],
  ['vi', 'Nhân viên được nghỉ phép hai mươi ngày mỗi năm.', ['nghỉ phép', 'nghi phep', 'NGHI PHÉP']],
  [
    'de',
    'Jeder hat dreißig Urlaubstage. Die Krankenversicherungspflicht gilt in der Straße, in jeder GRÖSSE.',
    ['Urlaub', 'Urlaubstag', 'Krankenversicherung', 'Strasse', 'Straße', 'Größe', 'grosse'],
  ],
  [
    'ru',
    'Сотруднику положено двадцать дней отпуска. Новый день — ёлка.',
    ['отпуск', 'отпусками', 'елка', 'Ёлка', 'новые'],
  ],
  ['ar', 'يحق للموظف الحصول على الإجازة السنوية بعد سنة.', ['إجازة', 'اجازة', 'الإجازة']],
  ['el', 'Ο Σίσυφος σπρώχνει τον βράχο.', ['σίσυφος', 'ΣΊΣΥΦΟΣ', 'σισυφος']],
  ['tr', 'Çalışanların yıllık izinleri yirmi gündür.', ['izin', 'çalışan', 'calisanlarin']],
  [
    'es',
    'La comunicación de las vacaciones se hace por escrito.',
    ['comunicaciones', 'comunicacion', 'vacación', 'vacaciones'],
  ],
  [
    'fr',
    'Les congés payés sont de vingt-cinq jours par année travaillée.',
    ['congé', 'conge', 'années', 'travailler'],
  ],
  [
    'pt',
    'As férias são de vinte dias; a informação chega por escrito.',
    ['informações', 'informacao', 'ferias'],
  ],
  ['it', 'Le ferie sono di venti giorni; la comunicazione è scritta.', ['comunicazioni', 'giorno']],
  ['nl', 'Iedere medewerker heeft vijfentwintig vakantiedagen.', ['vakantiedag', 'vakantie', 'medewerkers']],
  ['sv', 'Varje anställd har tjugofem semesterdagar.', ['semesterdag', 'semester', 'anstalld']],
  ['da', 'Hver medarbejder har femogtyve feriedage om året.', ['feriedag', 'medarbejdere']],
  ['no', 'Alle ansatte har fem ukers ferie.', ['ferie', 'ansatt']],
  ['fi', 'Työntekijöillä on viisi viikkoa lomaa.', ['työntekijä', 'viikko']],
  ['hu', 'A dolgozóknak húsz nap szabadság jár.', ['dolgozó', 'szabadságok']],
  ['ro', 'Angajații au douăzeci de zile de concediu.', ['angajat', 'concediu']],
  ['id', 'Karyawan mendapatkan cuti tahunan dua puluh hari.', ['karyawan', 'tahun']],
  ['hi', 'कर्मचारियों को बीस दिन की छुट्टियाँ मिलती हैं।', ['छुट्टी', 'कर्मचारी']],
  ['he', 'לכל עובד עשרים ימי חופשה בשנה.', ['חופשה']],
  ['uk', 'Працівник має двадцять днів відпустки.', ['відпустки', 'Працівник']],
  [
    'pl',
    'Pracownik ma prawo do dwudziestu dni urlopu, łącznie z sobotą.',
    ['pracownik', 'lacznie', 'łącznie'],
  ],
]

describe('a text in', () => {
  it.each(TEXTS)('%s is found', async (language, body, questions) => {
    const workspace = await createWorkspace(db, `in ${language}`)
    const { unit_id } = await call<{ unit_id: string }>(life.service, 'fn_unit_create', {
      p_workspace_id: workspace,
      p_canonical_address: 'text',
      p_body: body,
      p_language: language,
    })
    const ask = async (question: string) =>
      (await lexical(life.service, workspace, question)).map((hit) => hit.unit_id)
    // At once, and after its projection.
    const pending = async (question: string) =>
      (
        await life.service.session.query<{ unit_id: string }>(
          'select unit_id from iu_core.fn_search_pending($1, $2)',
          [workspace, question],
        )
      ).rows.map((hit) => hit.unit_id)
    const missing: string[] = []
    const literal = questions.filter((question) => !COMPOUNDS.has(question))
    for (const question of literal)
      if (!(await pending(question)).includes(unit_id)) missing.push(`${question} (pending)`)
    await project(db, [unit_id])
    for (const question of questions) if (!(await ask(question)).includes(unit_id)) missing.push(question)
    expect(missing).toEqual([])
    expect(await ask('zzqx')).toEqual([])
  })

  /** Found in the words that search knows: not before the projection. */
  const COMPOUNDS = new Set(['Urlaub', 'Krankenversicherung', 'vakantie', 'semester'])

  it('several languages in one workspace is found in each of them', async () => {
    const workspace = await createWorkspace(db, 'babel')
    const units: string[] = []
    for (const [language, body] of TEXTS) {
      const { unit_id } = await call<{ unit_id: string }>(life.service, 'fn_unit_create', {
        p_workspace_id: workspace,
        p_canonical_address: `text/${language}`,
        p_body: body,
        p_language: language,
      })
      units.push(unit_id)
    }
    await project(db, units)
    for (const [question, language] of [
      ['年假', 'zh'],
      ['休暇', 'ja'],
      ['отпуск', 'ru'],
      ['Urlaubstag', 'de'],
      ['nghi phep', 'vi'],
      ['유급휴가', 'ko'],
    ] as const) {
      const place = TEXTS.findIndex(([name]) => name === language)
      expect((await lexical(life.service, workspace, question))[0]?.unit_id, question).toBe(units[place])
    }
  })

  it('Chinese with English words in it is found by both', async () => {
    const { unit_id } = await unitIn(db, life, '请先安装 PostgreSQL 数据库，然后阅读 policies 文档。', {
      p_language: 'zh',
    })
    for (const question of ['数据库', 'postgresql', 'policy', '安装 PostgreSQL'])
      expect(await found(life, question), question).toContain(unit_id)
  })
})

describe('a token that the server’s parser hides', () => {
  const PARTS: readonly (readonly [text: string, questions: readonly string[]])[] = [
    ['Order SKU-12345-AB today', ['12345', 'SKU-12345-AB', 'sku', '"12345-AB"', 'sku-1*']],
    ['Mail goes to acme-corp.co.uk only', ['acme', 'acme-corp.co.uk', 'corp']],
    ['Since v1.2.3 it is faster', ['1.2.3', 'v1.2.3']],
    ['Ask john.doe@example.com about it', ['john.doe', 'john.doe@example.com', 'doe']],
    ['Ring 912 345 678 at night', ['912345678', '912 345 678']],
    ['It was -12 degrees', ['12', '-12']],
    ['Written in C++ and node.js, with getUserById', ['C++', 'node.js', 'getUserById']],
    ['Ｆｕｌｌ ｗｉｄｔｈ letters', ['full width']],
  ]
  it.each(PARTS)('in “%s” is found, and as a whole', async (text, questions) => {
    const { unit_id } = await unitIn(db, life, text)
    const missing = []
    for (const question of questions)
      if (
        !(await found(life, question.startsWith('-') ? ` ${question.slice(1)}` : question)).includes(unit_id)
      )
        missing.push(question)
    expect(missing).toEqual([])
  })

  it('ranks the whole token before its parts', async () => {
    const parts = await unitIn(db, life, 'Numbers XQ and 77 and ZZ are apart here')
    const whole = await unitIn(db, life, 'The number XQ-77-ZZ is one')
    const hits = await found(life, 'XQ-77-ZZ')
    expect(hits.indexOf(whole.unit_id)).toBeLessThan(hits.indexOf(parts.unit_id))
  })
})

describe('the language of a text', () => {
  const language = async (text: string) =>
    (await db.owner<{ language: string }>('select iu_core.fn_text_language($1) as language', [text]))[0]!
      .language

  /** As people write it: with the small words of a language. */
  const SENTENCES: Readonly<Record<string, string>> = {
    tr: 'Çalışanların yıllık izinleri yirmi gündür ve bu süre her yıl yenilenir.',
    nl: 'Iedere medewerker heeft recht op vijfentwintig vakantiedagen en kan ze vrij opnemen.',
    sv: 'Varje anställd har tjugofem semesterdagar som får sparas till nästa år.',
    da: 'Hver medarbejder har femogtyve feriedage om året, og de kan overføres efter aftale.',
    no: 'Alle ansatte har fem ukers ferie etter avtale, men ikke mer enn det.',
    fi: 'Työntekijöillä on viisi viikkoa lomaa, ja se on pidettävä vuoden aikana.',
    hu: 'A dolgozóknak húsz nap szabadság jár, és ezt minden évben ki kell venni.',
    ro: 'Angajații au dreptul la douăzeci de zile de concediu, care sunt plătite.',
    id: 'Karyawan mendapatkan cuti tahunan dua puluh hari dan tidak dapat diuangkan.',
    pl: 'Pracownik ma prawo do dwudziestu dni urlopu, łącznie z sobotą.',
    en: 'Every employee has twenty days of leave, and they are paid.',
  }
  const KNOWN = TEXTS.filter(([name]) => !['lo', 'km', 'my'].includes(name) && SENTENCES[name] === undefined)
  it.each([...KNOWN.map(([name, text]): [string, string] => [name, text]), ...Object.entries(SENTENCES)])(
    'is found out: %s',
    async (name, text) => {
      expect(await language(text)).toBe(name)
    },
  )

  it('is not that of a name that is repeated', async () => {
    expect(
      await language(
        'Teams include the Los Angeles Rams, Los Angeles Lakers, Los Angeles Clippers, Los Angeles Kings.',
      ),
    ).toBe('en')
  })
  it('is English where nothing speaks for another one, and never missing', async () => {
    for (const text of ['Zebra', '', '12345', 'The policy of the company', '🙂'])
      expect(await language(text)).toBe('en')
  })

  it('is stored where nobody said it, and can be corrected', async () => {
    const unit = await create(life, {
      body: 'Der Urlaub ist mit dem Vorgesetzten und der Abteilung abzustimmen.',
      p_language: null,
    })
    const stored = () =>
      db.owner<{ language: string }>(
        'select v.language from iu_core.information_unit u join iu_core.unit_version v on v.unit_version_id = u.current_version_id where u.unit_id = $1',
        [unit.unit_id],
      )
    expect(await stored()).toEqual([{ language: 'de' }])
    await edit(life.operator, unit.unit_id, 1, { p_language: 'nl' })
    expect(await stored()).toEqual([{ language: 'nl' }])
  })
})

it('counts the languages of a workspace as its texts come and go', async () => {
  const { unit_id } = await unitIn(db, life, 'Un texto en español que se va.', { p_language: 'es' })
  const spoken = async () =>
    (
      await db.owner<{ chunks: number }>(
        `select chunks from iu_core.search_language where workspace_id = $1 and language = 'es'`,
        [life.workspace],
      )
    )[0]?.chunks
  expect(await spoken()).toBe(1)
  expect(await discrepancies(db)).toEqual([])
  await edit(life.operator, unit_id, 1, { p_body: 'A text in English that stays.', p_language: 'en' })
  await project(db, [unit_id])
  expect(await spoken()).toBe(0)
  expect(await discrepancies(db)).toEqual([])
})
