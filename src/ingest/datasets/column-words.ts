/**
 * The words of headers and columns: which of them mean the same in English, German, French and Spanish exports. A modest
 * dictionary; a word that it lacks is compared by its letters.
 */

/** Meaning → its words, without accents and in small letters; ae, oe, ue are written as a, o, u. */
const WORDS: Record<string, string> = {
  name: 'name nom nombre bezeichnung denomination designation naam nome libelle nm',
  title: 'title titel titre titulo titolo',
  price: 'price preis prix precio prezzo preco prijs prc',
  cost: 'cost kosten cout coste costo',
  amount: 'amount betrag montant importe importo monto bedrag amt',
  total: 'total gesamt summe sum totale suma tot',
  quantity: 'quantity qty menge anzahl quantite cantidad quantita aantal qte cant quant',
  stock: 'stock lager bestand inventory existencias vorrat inventario stk lagerbestand',
  tax: 'tax steuer mwst vat tva iva ust taxe impuesto',
  discount: 'discount rabatt remise descuento rebate sconto nachlass',
  description: 'description beschreibung descripcion descrizione desc descr',
  category: 'category kategorie categorie categoria cat warengruppe rubrique kat',
  group: 'group gruppe groupe grupo',
  type: 'type typ tipo art kind sorte',
  status: 'status statut zustand stat',
  state: 'state estado etat',
  date: 'date datum fecha dat data',
  time: 'time zeit uhrzeit heure hora',
  created: 'created creation erstellt angelegt cree creado erstellung anlage creacion',
  updated:
    'updated modified geandert aktualisiert modifie actualizado changed modificado anderung modification update',
  birth: 'birth geburt geburts naissance nacimiento',
  birthdate: 'birthday birthdate dob geburtsdatum geburtstag cumpleanos',
  order: 'order bestellung auftrag commande pedido ord bestell',
  invoice: 'invoice rechnung facture factura bill rg',
  customer: 'customer kunde kunden client cliente cust klant klient',
  supplier: 'supplier lieferant fournisseur proveedor vendor kreditor',
  employee: 'employee mitarbeiter employe empleado staff personal emp',
  product: 'product produkt produit producto prod artikel article articulo item ware prodotto',
  number: 'number nummer nr numero num no nro № # n° nbr',
  id: 'id key identifier kennung schlussel identifiant identificador',
  code: 'code kode codigo kurzel cod',
  sku: 'sku referenz',
  email: 'email mail correo courriel emailadresse',
  phone: 'phone telephone telefon tel telefono fon rufnummer telefoon',
  mobile: 'mobile handy mobil portable movil cell cellphone mobiltelefon',
  fax: 'fax telefax',
  address: 'address adresse direccion anschrift addr indirizzo',
  street: 'street strasse rue calle str',
  city: 'city stadt ort ville ciudad town wohnort',
  country: 'country land pays pais nation',
  region: 'region bundesland province provincia county',
  zip: 'zip plz postleitzahl postcode zipcode cp',
  postal: 'postal post',
  firstname: 'firstname vorname prenom givenname forename',
  lastname: 'lastname nachname surname familienname apellido apellidos',
  first: 'first given erste',
  last: 'last family letzte letzter derniere dernier ultimo ultima',
  gender: 'gender geschlecht sexe sexo sex',
  age: 'age alter edad',
  salary: 'salary gehalt lohn salaire salario sueldo wage',
  department: 'department abteilung departement departamento dept service dep',
  job: 'job position stelle funktion function beruf poste puesto fonction',
  manager: 'manager vorgesetzter chef boss superviseur jefe supervisor',
  start: 'start beginn begin debut inicio',
  end: 'end ende fin',
  website: 'website webseite homepage web webpage site',
  url: 'url link lien enlace',
  image: 'image bild photo foto imagen picture img',
  weight: 'weight gewicht poids peso',
  width: 'width breite largeur ancho',
  height: 'height hohe hauteur alto altura',
  size: 'size grosse taille talla tamano',
  color: 'color farbe couleur colour colore',
  brand: 'brand marke marque marca',
  manufacturer: 'manufacturer hersteller fabricant fabricante',
  currency: 'currency wahrung devise moneda divisa monnaie curr',
  comment:
    'comment kommentar commentaire comentario bemerkung notiz remark remarque anmerkung nota observacion hinweis memo',
  note: 'note notes',
  active: 'active aktiv actif activo enabled',
  language: 'language sprache langue idioma lang',
  account: 'account konto compte cuenta acct',
  balance: 'balance saldo solde',
  payment: 'payment zahlung paiement pago',
  due: 'due fallig falligkeit echeance vencimiento',
  shipping: 'shipping ship lieferung livraison envio versand delivery entrega shipped liefer',
  rating: 'rating bewertung valoracion',
  tag: 'tag schlagwort etiquette etiqueta keyword stichwort schlagworte',
  author: 'author autor auteur',
  year: 'year jahr annee ano',
  month: 'month monat mois mes',
  day: 'day jour dia',
  room: 'room raum zimmer salle habitacion',
  patient: 'patient paciente',
  doctor: 'doctor arzt medecin medico physician',
  diagnosis: 'diagnosis diagnose diagnostic diagnostico',
  student: 'student schuler etudiant alumno estudiante eleve studierende',
  teacher: 'teacher lehrer enseignant profesor professeur instructor dozent',
  grade: 'grade zensur calificacion schulnote',
  course: 'course kurs cours curso',
  class: 'class klasse classe clase',
  device: 'device gerat appareil dispositivo',
  value: 'value wert valeur valor',
  unit: 'unit einheit unite unidad',
  temperature: 'temperature temperatur temperatura temp',
  humidity: 'humidity feuchtigkeit luftfeuchtigkeit humidite humedad feuchte',
  user: 'user benutzer utilisateur usuario nutzer',
  company: 'company firma unternehmen entreprise societe empresa organisation organization org',
  contact: 'contact kontakt ansprechpartner contacto',
  warehouse: 'warehouse lagerort entrepot almacen',
  priority: 'priority prioritat priorite prioridad',
  gross: 'gross brutto brut bruto ttc',
  net: 'net netto neto ht',
  artist: 'artist kunstler artiste artista',
  film: 'film movie pelicula',
  song: 'song track lied cancion chanson',
  duration: 'duration dauer duree duracion laufzeit',
  length: 'length lange longueur longitud',
  rental: 'rental rent miete alquiler leihe leih verleih',
  hire: 'hire hired eintritt eintritts embauche contratacion einstellung',
  publish: 'publish published publie publication veroffentlicht veroffentlichung publicado publicacion',
  view: 'view vue vista aufruf aufrufe',
  login: 'login anmeldung connexion signin',
  replacement: 'replacement wiederbeschaffung ersatz remplacement reemplazo',
  release: 'release released erscheinung sortie erscheinungs',
  reference: 'reference ref referencia verweis',
  subject: 'subject betreff sujet asunto fach materia',
  text: 'text texte texto',
  message: 'message nachricht mensaje',
  point: 'point punkt punto',
  margin: 'margin marge margen',
  rate: 'rate satz taux tasa',
  percent: 'percent prozent pourcent porcentaje',
  limit: 'limit grenze limite',
  count: 'count zahl nombrede',
  location: 'location standort lieu ubicacion emplacement',
  place: 'place platz lugar',
  owner: 'owner besitzer proprietaire propietario eigentumer',
  member: 'member mitglied membre miembro',
  event: 'event ereignis evenement evento veranstaltung',
  begin: 'beginning',
  nationality: 'nationality nationalitat nationalite nacionalidad staatsangehorigkeit',
  insurance: 'insurance versicherung assurance seguro',
  blood: 'blood blut sang sangre',
  book: 'book buch livre libro',
  publisher: 'publisher verlag editeur editorial',
  page: 'page seite pagina',
  piece: 'piece stuck pieza',
  barcode: 'barcode ean gtin strichcode upc',
}

/** The same in Portuguese, Italian and Dutch. */
const MORE_WORDS: Record<string, string> = {
  name: 'denominacao denominazione benaming',
  price: 'prijzen prezzi',
  cost: 'custo costi kostprijs',
  amount: 'valor quantia ammontare',
  total: 'totaal',
  quantity: 'quantidade qtd qtde hoeveelheid',
  stock: 'estoque giacenza scorta voorraad magazzino',
  tax: 'imposto imposta tassa belasting btw',
  discount: 'desconto korting',
  description: 'descricao omschrijving beschrijving',
  group: 'gruppo groep',
  type: 'soort',
  state: 'stato',
  date: 'datas',
  time: 'tempo ora tijd',
  created: 'criado criacao creato creazione aangemaakt',
  updated: 'atualizado modificato modifica gewijzigd bijgewerkt',
  birth: 'nascimento nascita geboorte',
  birthdate: 'geboortedatum aniversario',
  order: 'encomenda ordine bestelling',
  invoice: 'fatura fattura factuur',
  customer: 'klanten clienti',
  supplier: 'fornecedor fornitore leverancier',
  employee: 'funcionario dipendente medewerker empregado',
  product: 'produto prodotti articolo produkten',
  code: 'codice',
  phone: 'telefone',
  mobile: 'celular telemovel cellulare mobiel',
  address: 'endereco morada adres',
  street: 'rua via straat',
  city: 'cidade citta plaats stad comune',
  country: 'paese',
  region: 'regiao regione provincie',
  zip: 'cep cap',
  lastname: 'sobrenome apelido cognome achternaam',
  firstname: 'voornaam prenome',
  gender: 'genero genere geslacht',
  age: 'idade eta leeftijd',
  salary: 'stipendio salaris loon',
  department: 'reparto afdeling',
  job: 'cargo funcao funzione functie beroep',
  start: 'inizio',
  end: 'fim fine einde',
  image: 'imagem immagine afbeelding',
  width: 'largura larghezza breedte',
  height: 'altezza hoogte',
  size: 'tamanho taglia maat',
  color: 'cor kleur',
  brand: 'marchio merk',
  manufacturer: 'fabbricante fabrikant produttore',
  currency: 'moeda valuta',
  comment: 'observacoes osservazioni opmerking',
  active: 'ativo attivo actief',
  language: 'lingua taal',
  account: 'conta conto rekening',
  payment: 'pagamento betaling',
  due: 'scadenza vervaldatum',
  shipping: 'spedizione consegna levering verzending',
  rating: 'avaliacao valutazione beoordeling',
  tag: 'etichetta trefwoord',
  author: 'autore auteurs',
  year: 'anno jaar',
  month: 'mese maand',
  day: 'giorno dag',
  unit: 'unidade unita eenheid',
  user: 'utente gebruiker utilizador',
  company: 'azienda bedrijf',
  contact: 'contato contatto contactpersoon',
  warehouse: 'armazem magazijn deposito',
  priority: 'prioridade priorita prioriteit',
  gross: 'lordo',
  duration: 'duracao durata duur',
  length: 'comprimento lunghezza lengte',
  weight: 'peso gewichten',
  text: 'testo tekst',
  message: 'mensagem messaggio bericht',
  reference: 'riferimento referentie referenz referencias',
  location: 'localizacao posizione locatie',
  barcode: 'barras',
  page: 'paginas',
  book: 'livro libri boek',
}

/** Words that two concepts have in common use, and how near they are. */
const RELATED: readonly (readonly [string, string, number])[] = [
  ['name', 'title', 0.8],
  ['url', 'website', 0.9],
  ['number', 'code', 0.75],
  ['number', 'id', 0.75],
  ['code', 'id', 0.7],
  ['number', 'reference', 0.7],
  ['sku', 'reference', 0.7],
  ['code', 'sku', 0.6],
  ['code', 'reference', 0.6],
  ['amount', 'total', 0.7],
  ['amount', 'price', 0.5],
  ['amount', 'value', 0.6],
  ['state', 'status', 0.75],
  ['state', 'region', 0.85],
  ['comment', 'note', 0.95],
  ['comment', 'description', 0.5],
  ['text', 'description', 0.6],
  ['message', 'text', 0.6],
  ['stock', 'quantity', 0.6],
  ['count', 'quantity', 0.7],
  ['count', 'number', 0.6],
  ['birth', 'birthdate', 0.8],
  ['mobile', 'phone', 0.7],
  ['job', 'title', 0.5],
  ['employee', 'user', 0.5],
  ['customer', 'company', 0.5],
  ['customer', 'contact', 0.5],
  ['length', 'duration', 0.7],
  ['date', 'day', 0.8],
  ['date', 'time', 0.6],
  ['group', 'category', 0.6],
  ['type', 'category', 0.6],
  ['brand', 'manufacturer', 0.6],
  ['address', 'street', 0.7],
  ['class', 'course', 0.6],
  ['location', 'place', 0.8],
  ['location', 'city', 0.5],
  ['percent', 'rate', 0.6],
  ['grade', 'note', 0.5],
  ['start', 'begin', 1],
  ['image', 'url', 0.4],
]

/** Several meanings that together are one; whatever their order. */
const PHRASES: readonly (readonly [readonly string[], string])[] = [
  [['postal', 'code'], 'zip'],
  [['postal', 'number'], 'zip'],
  [['zip', 'code'], 'zip'],
  [['birth', 'date'], 'birthdate'],
  [['birth', 'day'], 'birthdate'],
  [['first', 'name'], 'firstname'],
  [['last', 'name'], 'lastname'],
  [['product', 'number'], 'sku'],
  // Art.-Nr.
  [['art', 'number'], 'sku'],
  [['product', 'code'], 'sku'],
  [['product', 'sku'], 'sku'],
  [['product', 'reference'], 'sku'],
  [['sku', 'code'], 'sku'],
  [['sku', 'number'], 'sku'],
  [['e', 'email'], 'email'],
  [['email', 'address'], 'email'],
  [['phone', 'number'], 'phone'],
  [['mobile', 'number'], 'mobile'],
  [['mobile', 'phone'], 'mobile'],
  [['phone', 'mobile'], 'mobile'],
  [['created', 'date'], 'created'],
  [['created', 'time'], 'created'],
  [['updated', 'date'], 'updated'],
  [['last', 'updated'], 'updated'],
  [['updated', 'time'], 'updated'],
  [['piece', 'price'], 'unit price'],
  [['website', 'address'], 'website'],
  [['website', 'url'], 'website'],
  [['mot', 'cle'], 'tag'],
  [['key', 'word'], 'tag'],
  [['stock', 'quantity'], 'stock'],
]

/** Words that say nothing about which column it is. */
const FILLERS = new Set(
  'of the a de du des der die das dem la le les el los las in im am an at on for fur pour para von vom zum and und et y is are has ist by per en full display complete eur usd gbp chf kg g cm mm km pcs'.split(
    ' ',
  ),
)

/** They go with many others and tell little by themselves. */
const GENERIC = new Set([
  'id',
  'number',
  'name',
  'code',
  'date',
  'type',
  'value',
  'time',
  'text',
  'title',
  'url',
])

const meanings = new Map<string, string>()
// What is there first stays: a word of several languages has its commonest meaning.
for (const words of [WORDS, MORE_WORDS])
  for (const [meaning, list] of Object.entries(words))
    for (const word of list.split(' '))
      if (!meanings.has(plainWord(word))) meanings.set(plainWord(word), meaning)
const MIN_STEM = 4
/** Only of words that have an ending: `longitud` is not the stem of longitude. */
const stems = new Map(
  [...meanings].flatMap(([word, meaning]) => (stem(word) === word ? [] : [[stem(word), meaning] as const])),
)
const related = new Map(
  RELATED.flatMap(([a, b, near]) => [[`${a} ${b}`, near] as const, [`${b} ${a}`, near] as const]),
)

/** Units at the end of a column's name: `weight_kg`, `duration_s`. */
const UNITS = new Set(
  's sec secs ms min mins h m ft lb lbs oz in inch km mi kmh mph l ml kw kwh w c f deg px kb mb gb cents'.split(
    ' ',
  ),
)

/** The meanings of a name's words, in order: `Artikel-Nr.` → sku; `unitPrice` → unit, price. */
export function meaningsOf(name: string): string[] {
  const words = wordsOf(name)
  const found = words.flatMap(meaningsOfWord)
  return joinPhrases([...new Set(found)])
}

/** The words as they stand there, in one spelling: `nameFirst` → name, first. */
export function wordsOf(name: string): string[] {
  const all = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[#№]|n°/giu, ' nr ')
    .replace(/\b[ld]['’]/giu, ' ')
    // street2 is another one, email1 the first of several.
    .replace(/(\p{L})([2-9])(?![\p{L}\p{N}])/gu, '$1 $2')
    .replace(/(\p{L}{3})1(?![\p{L}\p{N}])/gu, '$1')
    .split(/[^\p{L}\p{N}]+/u)
    .map(plainWord)
    .filter((word) => word !== '')
  const kept = all.filter(
    (word, index) => !FILLERS.has(word) && !(index > 0 && index === all.length - 1 && UNITS.has(word)),
  )
  return kept.length > 0 ? kept : all
}

/** Without accents, in small letters, with one spelling of umlauts. */
function plainWord(word: string): string {
  return (
    word
      .toLowerCase()
      .replaceAll('ß', 'ss')
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/ae/g, 'a')
      // Not of a plural: shoes, issues.
      .replace(/oe(?!s$)/g, 'o')
      .replace(/ue(?=.)(?!s$)/g, 'u')
  )
}

function meaningsOfWord(word: string): string[] {
  const known = meaningOf(word)
  if (known) return [known]
  const parts = compoundParts(word)
  return parts ?? [singular(word)]
}

function meaningOf(word: string): string | undefined {
  return (
    meanings.get(word) ??
    meanings.get(singular(word)) ??
    (word.length >= 5 ? stems.get(stem(word)) : undefined)
  )
}

/** shipment → ship, create → creat: of forms of one verb. Not of whoever does it: a creator is not when it was created. */
function stem(word: string): string {
  const cut = singular(word).replace(/(?:ations?|tions?|ions?|ments?|ings?|ed|e)$/, '')
  const short = cut.replace(/([bdgmnprt])\1$/, '$1')
  return short.length >= MIN_STEM ? short : word
}

/** Of an English, German, French or Spanish plural, near enough to compare. */
function singular(word: string): string {
  if (word.length <= 3) return word
  if (/(ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

const MIN_PART = 3

/** `kundennummer`, `geburtsdatum`, `orderdate`: two or three known words without a blank; or one that is not known before a common end. */
function compoundParts(word: string): string[] | undefined {
  for (let at = word.length - MIN_PART; at >= MIN_PART; at--) {
    const tail = meaningOf(word.slice(at)) ?? (word.slice(at) === 'id' ? 'id' : undefined)
    if (!tail) continue
    const head = word.slice(0, at)
    const found = [head, head.replace(/(en|es|s|n|e)$/, '')].map((part) => meaningOf(part)).find(Boolean)
    if (found) return [found, tail]
    const parts = compoundParts(head)
    if (parts) return [...parts, tail]
  }
  const tail = /^(.{4,}?)s?(datum|nummer|betrag|preis|name|text|zeit|wert|menge)$/.exec(word)
  if (tail) return [singular(tail[1]!), meaningOf(tail[2]!)!]
  const id = /^(.{3,}?)(id|nr|no)$/.exec(word)
  const head = id && meaningOf(id[1]!)
  return head ? [head, id[2] === 'id' ? 'id' : 'number'] : undefined
}

function joinPhrases(found: string[]): string[] {
  let parts = found
  for (const [words, meaning] of PHRASES) {
    if (!words.every((word) => parts.includes(word))) continue
    const at = parts.findIndex((part) => words.includes(part))
    const rest = parts.filter((part) => !words.includes(part))
    parts = [...new Set([...rest.slice(0, at), ...meaning.split(' '), ...rest.slice(at)])]
  }
  return parts
}

export function isGeneric(meaning: string): boolean {
  return GENERIC.has(meaning)
}

/** How near two meanings are by the dictionary: 1 the same, 0 unknown. */
export function nearness(left: string, right: string): number {
  return left === right ? 1 : (related.get(`${left} ${right}`) ?? 0)
}

export function isKnownMeaning(meaning: string): boolean {
  return Object.hasOwn(WORDS, meaning)
}
