-- Languages: which one a text is in, and how the words of each are analysed.

-- The language of a text where nobody said it, as a tag: by its script, and for Latin letters by the small words that every text of
-- a language has, each counted once: a name that is repeated says nothing. A text without evidence is English, as it was before languages were detected. Only the beginning is looked at.
-- No library: this answers for every caller of the SQL functions, and costs less than a millisecond.
create or replace function iu_core.fn_text_language(p_text text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sample text := left(ltrim(coalesce(p_text, '')), 1000);
  v_latin integer;
  v_language text;
  -- What is beyond ASCII in it.
  v_marked text := '';
  -- Languages by small word.
  v_words constant jsonb := '{
    "the":"en","of":"en","and":"en","is":"en","to":"en pl","with":"en","that":"en","for":"en","are":"en","this":"en","by":"en",
    "from":"en","or":"en","it":"en","be":"en","not":"en","you":"en","your":"en","der":"de da","die":"de","das":"de","und":"de","ist":"de",
    "nicht":"de","mit":"de","ein":"de","eine":"de","den":"de sv da no","für":"de","auf":"de","von":"de nl","dem":"de","werden":"de",
    "sind":"de","zu":"de","im":"de","wird":"de","le":"fr it","la":"fr es it ca ro","les":"fr ca","est":"fr","des":"fr","une":"fr",
    "dans":"fr","pour":"fr","que":"fr es pt ca","sur":"fr","un":"fr es it ca ro","du":"fr","au":"ro fr","avec":"fr","sont":"fr",
    "pas":"fr","il":"fr it","el":"es ca","los":"es","las":"es","del":"es it ca","y":"es","en":"es fr ca nl sv da no tr","una":"es it ca",
    "por":"es pt","con":"es it","para":"es pt","se":"es pt it ro sv cs fi","su":"es","al":"es it ca ro","como":"es pt","más":"es",
    "es":"ca de","o":"pt it pl cs ro","os":"pt","da":"pt it","do":"pt pl cs","dos":"pt","não":"pt","uma":"pt","em":"pt","ao":"pt",
    "com":"pt","são":"pt","é":"pt","no":"pt es en","na":"pt pl cs","e":"pt it","di":"it id","che":"it","della":"it","per":"it ca",
    "è":"it","sono":"it","gli":"it","nel":"it","non":"it","i":"it pl da no sv ca","alla":"it sv","delle":"it","dei":"it","si":"it",
    "het":"nl","een":"nl","van":"nl hu","niet":"nl","zijn":"nl","voor":"nl","dat":"nl","aan":"nl","op":"nl da","wordt":"nl","ook":"nl",
    "de":"nl fr es pt ro ca da sv","och":"sv","att":"sv","är":"sv","som":"sv da no","inte":"sv","för":"sv","av":"sv no","till":"sv",
    "på":"sv da no","ett":"sv","med":"sv da no","det":"sv da no","og":"da no","at":"da no en","er":"da no","ikke":"da no","af":"da",
    "til":"da no","et":"fr da no","blev":"da","fra":"da no","ved":"da no","hvor":"da no","eller":"da no sv","også":"da no","ble":"no",
    "etter":"no","mot":"no","være":"no da","efter":"da sv","ja":"fi","on":"fi en","ei":"fi","että":"fi","oli":"fi","tai":"fi","myös":"fi",
    "sen":"fi","ovat":"fi","mutta":"fi","kun":"fi","joka":"fi","w":"pl","z":"pl","jest":"pl","nie":"pl","się":"pl","oraz":"pl","dla":"pl",
    "przez":"pl","są":"pl","po":"pl cs","od":"pl cs","jak":"pl cs","v":"cs","a":"cs pt hu en","je":"cs fr nl","že":"cs","pro":"cs",
    "jsou":"cs","nebo":"cs","které":"cs","ve":"tr cs","s":"cs","bir":"tr","bu":"tr","için":"tr","ile":"tr","olarak":"tr","çok":"tr",
    "olan":"tr","değil":"tr","daha":"tr","sonra":"tr","gibi":"tr","și":"ro","şi":"ro","în":"ro","este":"ro","nu":"ro","cu":"ro",
    "din":"ro","pentru":"ro","care":"ro","sau":"ro","prin":"ro","és":"hu","az":"hu","egy":"hu","nem":"hu","hogy":"hu","vagy":"hu",
    "meg":"hu","ki":"hu","volt":"hu","csak":"hu","mint":"hu","dan":"id nl","yang":"id","dengan":"id","untuk":"id","dari":"id","ini":"id",
    "itu":"id","dalam":"id","tidak":"id","pada":"id","adalah":"id","akan":"id","atau":"id","oleh":"id","els":"ca","amb":"ca","dels":"ca",
    "què":"ca","aquest":"ca","també":"ca","ser":"ca es pt","l":"ca fr it","d":"ca fr","là":"vi","và":"vi","của":"vi","có":"vi",
    "được":"vi","không":"vi","các":"vi","cho":"vi","trong":"vi","với":"vi","một":"vi","những":"vi","người":"vi","heeft":"nl",
    "worden":"nl","kan":"nl sv da no","bij":"nl","naar":"nl","uit":"nl","over":"nl","deze":"nl","als":"nl","maar":"nl","meer":"nl",
    "alle":"nl da no de","ieder":"nl","iedere":"nl","har":"sv da no","om":"sv da no","vi":"sv da no","från":"sv","så":"sv da no",
    "varje":"sv","under":"sv da no","hur":"sv","vid":"sv","vad":"sv","hver":"da no","hvad":"da","mellem":"da","blive":"da","hva":"no",
    "mellom":"no","uker":"no","jos":"fi","hän":"fi","sekä":"fi","mitä":"fi","kuin":"fi","vain":"fi","niin":"fi","minden":"hu","kell":"hu",
    "lehet":"hu","ezt":"hu","jár":"hu","mert":"hu","ke":"id","setiap":"id","hari":"id","tahun":"id","karyawan":"id","bagi":"id",
    "kami":"id","anda":"id","sunt":"ro","mai":"ro","fi":"ro","după":"ro","ale":"ro","kadar":"tr","her":"tr","ne":"tr","yıl":"tr",
    "ma":"pl","an":"en de","in":"en de nl it","as":"en","has":"en","have":"en","was":"en","were":"en","its":"en","can":"en","will":"en",
    "must":"en","all":"en","one":"en","if":"en","when":"en","who":"en","which":"en","every":"en","they":"en","jeder":"de","hat":"de"}';
begin
  if octet_length(v_sample) <> length(v_sample) then
    v_sample := normalize(v_sample, NFKC);
    v_latin := length(regexp_replace(v_sample, '[^A-Za-z\u00c0-\u024f\u1e00-\u1eff]+', '', 'g'));
    -- The script with the most letters, if they outweigh the Latin ones: a Chinese character says as much as three letters, and
    -- texts of all languages quote English names.
    select s.language into v_language
      from (values ('zh', 3, '[^\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+'),
                   ('ko', 3, '[^\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+'), ('th', 2, '[^\u0e01-\u0e5b]+'), ('lo', 2, '[^\u0e80-\u0eff]+'),
                   ('km', 2, '[^\u1780-\u17ff]+'), ('my', 2, '[^\u1000-\u109f]+'), ('ru', 2, '[^\u0400-\u052f]+'), ('ar', 2, '[^\u0600-\u06ff\u0750-\u077f]+'),
                   ('el', 2, '[^\u0370-\u03ff\u1f00-\u1fff]+'), ('he', 2, '[^\u0590-\u05ff]+'), ('hi', 2, '[^\u0900-\u097f]+'), ('bn', 2, '[^\u0980-\u09ff]+'),
                   ('ta', 2, '[^\u0b80-\u0bff]+'), ('te', 2, '[^\u0c00-\u0c7f]+'), ('ka', 2, '[^\u10a0-\u10ff]+'), ('hy', 2, '[^\u0530-\u058f]+'),
                   ('yi', 0, '^.*$')) as s (language, weight, others)
     cross join lateral (select s.weight * length(regexp_replace(v_sample, s.others, '', 'g')) as letters) as n
     where n.letters > 0 and n.letters >= v_latin
     order by n.letters desc limit 1;
    -- One script, several languages: by letters that the others do not have.
    v_language := case v_language
      when 'zh' then case when length(regexp_replace(v_sample, '[^\u3040-\u30ff]+', '', 'g')) * 20 >= length(v_sample) then 'ja' else 'zh' end
      when 'ru' then case when v_sample ~ '[іїєґІЇЄҐ]' then 'uk' when v_sample ~ '[ўЎ]' then 'be' when v_sample ~ '[ђћџљњјЂЋЏЉЊЈ]' then 'sr'
                          when v_sample ~ '[ъЪ]' and v_sample !~ '[ыэЫЭ]' then 'bg' else 'ru' end
      when 'ar' then case when v_sample ~ '[ٹڈڑںے]' then 'ur' when v_sample ~ '[پچژگی]' then 'fa' else 'ar' end
      when 'hi' then case when v_sample ~ 'छ' and v_sample ~ '(छन्|गर्न|हुन्|को\s)' and v_sample !~ '(है|हैं|में)' then 'ne'
                          when v_sample ~ 'ळ|आहे' then 'mr' else 'hi' end
      else v_language end;
    if v_language is not null then
      return v_language;
    end if;
    v_marked := lower(left(regexp_replace(v_sample, '[\u0001-\u007f]+', '', 'g'), 40));
    -- Letters that no other language has so often.
    if length(regexp_replace(v_sample, '[^ăĂđĐơƠưƯ\u1ea0-\u1ef9]+', '', 'g')) * 25 >= greatest(v_latin, 1) then
      return 'vi';
    end if;
  end if;
  select l.language into v_language
    from (
      select l.language from (select distinct w from unnest((string_to_array(lower(regexp_replace(v_sample, '[\u0001-\u0040\u005b-\u0060\u007b-\u00bf\u2010-\u2040]+', ' ', 'g')), ' '))[:120]) as w) as t (word)
       cross join lateral unnest(string_to_array(v_words ->> t.word, ' ')) as l (language)
       union all
      -- Letters that few languages have count as small words.
      select l.language
        from (values ('ğşıİ', 'tr'), ('ß', 'de'), ('ñ¿¡', 'es'), ('ãõ', 'pt'), ('őű', 'hu'), ('țșţă', 'ro'), ('łąęśźż', 'pl'), ('ěřůčž', 'cs'),
                     ('åäö', 'sv'), ('äö', 'fi'), ('åøæ', 'da'), ('åøæ', 'no'), ('çèêàœ', 'fr'), ('üäöß', 'de')) as l (letters, language)
       cross join lateral unnest(string_to_array(l.letters, null)) as c (letter)
        where strpos(v_marked, c.letter) > 0) as l
   group by l.language
   -- English first where others are no likelier.
   order by count(*) desc, l.language = 'en' desc, l.language limit 1;
  return coalesce(v_language, 'en');
end $$;

grant execute on function iu_core.fn_text_language(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;

-- How the words of a language are analysed: the text search configuration of the server, or `vietnamese`, or `simple` where the
-- server has no stemmer. Scripts without spaces have no stems; the English words among them do. Internal.
create or replace function iu_core.fn_search_analyzer(p_language text) returns text
language sql immutable parallel safe
as $$
  select case split_part(lower(p_language), '-', 1)
    when 'en' then 'english' when 'vi' then 'vietnamese' when 'de' then 'german' when 'fr' then 'french' when 'es' then 'spanish'
    when 'pt' then 'portuguese' when 'it' then 'italian' when 'nl' then 'dutch' when 'ru' then 'russian' when 'sv' then 'swedish'
    when 'da' then 'danish' when 'no' then 'norwegian' when 'nb' then 'norwegian' when 'nn' then 'norwegian' when 'fi' then 'finnish'
    when 'hu' then 'hungarian' when 'ro' then 'romanian' when 'tr' then 'turkish' when 'el' then 'greek' when 'ar' then 'arabic'
    when 'hi' then 'hindi' when 'ne' then 'nepali' when 'ta' then 'tamil' when 'id' then 'indonesian' when 'ms' then 'indonesian'
    when 'ga' then 'irish' when 'lt' then 'lithuanian' when 'ca' then 'catalan' when 'eu' then 'basque' when 'hy' then 'armenian'
    when 'sr' then 'serbian' when 'yi' then 'yiddish'
    when 'zh' then 'english' when 'ja' then 'english' when 'ko' then 'english' when 'th' then 'english' when 'lo' then 'english'
    when 'km' then 'english' when 'my' then 'english' when 'yue' then 'english'
    else 'simple' end
$$;

grant execute on function iu_core.fn_search_analyzer(text) to
  dot_executor, service_role, vector_worker, authenticated, stagedoor_agent, stagedoor_reviewer;
