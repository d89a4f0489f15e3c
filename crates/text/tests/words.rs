//! The word rules: what they answer, and the laws they keep.

use proptest::prelude::*;
use shelfward_text::{InWord, WordRule, lexical_tokens};
use unicode_normalization::UnicodeNormalization;

const RULES: [WordRule; 5] = WordRule::ALL;
const BIGRAMS: [WordRule; 2] = [WordRule::UnicodeBigrams, WordRule::UnicodeBigramsFolded];
/// The rules with canonical composition.
const UNICODE: [WordRule; 4] = [
    WordRule::Unicode,
    WordRule::UnicodeBigrams,
    WordRule::UnicodeFolded,
    WordRule::UnicodeBigramsFolded,
];

/// Checks one text under the rules that do not fold: seed, Unicode, and what is asked for under Unicode
/// with bigrams.
#[track_caller]
fn check(text: &str, seed: &[&str], unicode: &[&str], bigrams: &[&str]) {
    assert_eq!(lexical_tokens(text), seed, "Seed of {text:?}");
    assert_eq!(WordRule::Seed.words(text), seed, "Seed of {text:?}");
    assert_eq!(
        WordRule::Unicode.words(text),
        unicode,
        "Unicode of {text:?}"
    );
    assert_eq!(
        WordRule::UnicodeBigrams.query_words(text),
        bigrams,
        "UnicodeBigrams of {text:?}"
    );
}

/// A text that all rules cut alike.
#[track_caller]
fn check_all(text: &str, words: &[&str]) {
    check(text, words, words, words);
}

#[test]
fn words_of_the_seed() {
    check_all(
        "Q3's budget: 1,200 units",
        &["q3", "s", "budget", "1", "200", "units"],
    );
}

#[test]
fn separators() {
    check_all("", &[]);
    check_all(" \u{a0}\u{3000}\n\u{feff}", &[]);
    check_all("???", &[]);
    check_all("a_b-c.d/e", &["a", "b", "c", "d", "e"]);
    check_all("don't don’t", &["don", "t", "don", "t"]);
    check_all("nul\0byte", &["nul", "byte"]);
}

#[test]
fn case() {
    check_all("ΟΔΥΣΣΕΥΣ ΣΑΣ Σ", &["οδυσσευς", "σας", "σ"]);
    check_all("STRASSE Straße", &["strasse", "straße"]);
    check_all("Ǆ ǅ ﬁ", &["ǆ", "ǆ", "ﬁ"]);
    check_all("ıI", &["ıi"]);
    check(
        "İstanbul",
        &["i", "stanbul"],
        &["i\u{307}stanbul"],
        &["i\u{307}stanbul"],
    );
    check("İ", &["i"], &["i\u{307}"], &["i\u{307}"]);
}

#[test]
fn lower_case_sigma_is_a_matter_of_its_word() {
    // Over the whole text, a full stop does not end the word for Σ, so the initial would become
    // the ς that ends words. Word by word, it is what the query Σ is.
    check(
        "Α.Σ. Παπάς",
        &["α", "ς", "παπάς"],
        &["α", "σ", "παπάς"],
        &["α", "σ", "παπάς"],
    );
    check_all("Σ", &["σ"]);
    // The same at the seam of a run: ー is skipped when Σ looks for the letter before it.
    assert_eq!(
        WordRule::UnicodeBigrams.query_words("ΑーΣ"),
        ["α", "ー", "σ"]
    );
}

#[test]
fn marks() {
    check(
        "re\u{301}sume\u{301}",
        &["re", "sume"],
        &["résumé"],
        &["résumé"],
    );
    check_all("résumé", &["résumé"]);
    check("N\u{308}", &["n"], &["n\u{308}"], &["n\u{308}"]);
    // Lower case finds a composed character that upper case lacks.
    check("J\u{30c}", &["j"], &["ǰ"], &["ǰ"]);
    check(
        "हिन्दी में",
        &["ह", "न", "द", "म"],
        &["हिन्दी", "में"],
        &["हिन्दी", "में"],
    );
    check("தமிழ்", &["தம", "ழ"], &["தமிழ்"], &["தமிழ்"]);
    check("עִבְרִית", &["ע", "ב", "ר", "ית"], &["עִבְרִית"], &["עִבְרִית"]);
}

#[test]
fn lone_marks_begin_no_word() {
    check_all("\u{301}", &[]);
    check_all("\u{301}\u{93f} -\u{301}", &[]);
    check_all("\u{301}a", &["a"]);
    check_all("+\u{301}a", &["a"]);
    check(
        "a\u{301}\u{200d}\u{301}b",
        &["a", "b"],
        &["á\u{301}b"],
        &["á\u{301}b"],
    );
}

#[test]
fn what_is_not_seen_is_left_out() {
    let joined = |text: &str, parts: &[&str], word: &str| check(text, parts, &[word], &[word]);
    joined("Text\u{ad}datei", &["text", "datei"], "textdatei");
    joined(
        "Gesamt\u{ad}kon\u{ad}zept",
        &["gesamt", "kon", "zept"],
        "gesamtkonzept",
    );
    joined("می\u{200c}خواهم", &["می", "خواهم"], "میخواهم");
    joined("ක\u{200d}ෂ", &["ක", "ෂ"], "කෂ");
    joined("to\u{2060}day", &["to", "day"], "today");
    joined("שלום\u{200f}עולם", &["שלום", "עולם"], "שלוםעולם");
    joined("葛\u{e0100}", &["葛"], "葛");
    // At the ends of a word, and of a text.
    joined("\u{ad}\u{feff}word\u{ad}\u{200e}", &["word"], "word");
    check_all("\u{ad} \u{200d}", &[]);
    // Letters on both sides compose.
    joined("e\u{34f}\u{301}", &["e"], "é");
    check(
        "\u{1112}\u{ad}\u{1161}",
        &["\u{1112}", "\u{1161}"],
        &["하"],
        &["하"],
    );
    check(
        "図\u{ad}書\u{fe00}館",
        &["図", "書", "館"],
        &["図書館"],
        &["図書", "書館"],
    );
    // What stands for a separation parts words.
    for parting in ['\u{200b}', '\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'] {
        check_all(&format!("a{parting}b"), &["a", "b"]);
    }
    for blank in ['\u{3164}', '\u{ffa0}'] {
        assert_eq!(WordRule::Unicode.words(&format!("a{blank}b")), ["a", "b"]);
    }
}

/// Every character of Unicode 16 that is default-ignorable does one of the two, and no other one is
/// left out.
#[test]
fn every_character_that_is_not_seen_is_decided_on() {
    let ignorable = [
        '\u{ad}'..='\u{ad}',
        '\u{34f}'..='\u{34f}',
        '\u{61c}'..='\u{61c}',
        '\u{115f}'..='\u{1160}',
        '\u{17b4}'..='\u{17b5}',
        '\u{180b}'..='\u{180f}',
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{3164}'..='\u{3164}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{feff}'..='\u{feff}',
        '\u{ffa0}'..='\u{ffa0}',
        '\u{fff0}'..='\u{fff8}',
        '\u{1bca0}'..='\u{1bca3}',
        '\u{1d173}'..='\u{1d17a}',
        '\u{e0000}'..='\u{e0fff}',
    ];
    let parting = "\u{200b}\u{2061}\u{2062}\u{2063}\u{2064}\u{3164}\u{ffa0}";
    for character in '\0'..=char::MAX {
        let code = u32::from(character);
        let is_ignorable = ignorable.iter().any(|range| range.contains(&character));
        let expected = is_ignorable && !parting.contains(character);
        let is_left_out = InWord::of(character) == InWord::LeftOut;
        assert_eq!(is_left_out, expected, "U+{code:04X}");
        if is_ignorable {
            let text = format!("two{character}words");
            let words: &[&str] = if expected {
                &["twowords"]
            } else {
                &["two", "words"]
            };
            assert_eq!(WordRule::Unicode.words(&text), words, "U+{code:04X}");
            assert_eq!(WordRule::UnicodeBigrams.words(&text), words, "U+{code:04X}");
        }
    }
}

#[test]
fn digits_and_numbers() {
    check_all("١٢٣ ۱۲۳ १२३ 𝟙𝟚", &["١٢٣", "۱۲۳", "१२३", "𝟙𝟚"]);
    check_all("x² ½ Ⅷ ①", &["x²", "½", "ⅷ", "①"]);
    check_all("№5 50% 0x1F", &["5", "50", "0x1f"]);
    // A Thai number is not cut, though Thai letters are.
    check_all("๒๕๖๗", &["๒๕๖๗"]);
    check("ปี๒๕๖๗", &["ป", "๒๕๖๗"], &["ปี๒๕๖๗"], &["ปี", "๒๕๖๗"]);
}

#[test]
fn emoji() {
    check_all("👩‍👩‍👧 family", &["family"]);
    check_all("👍🏽🇫🇷❤\u{fe0f}🏴\u{e0067}\u{e0062}\u{e007f}", &[]);
    // A keycap is a digit with marks.
    check("1\u{fe0f}\u{20e3}", &["1"], &["1\u{20e3}"], &["1\u{20e3}"]);
}

#[test]
fn han_and_kana() {
    check("世界", &["世界"], &["世界"], &["世界"]);
    check(
        "東京タワー",
        &["東京タワー"],
        &["東京タワー"],
        &["東京", "京タ", "タワ", "ワー"],
    );
    check(
        "更新v2手順",
        &["更新v2手順"],
        &["更新v2手順"],
        &["更新", "v2", "手順"],
    );
    check("A本", &["a本"], &["a本"], &["a", "本"]);
    check(
        "人々〆切",
        &["人々〆切"],
        &["人々〆切"],
        &["人々", "々〆", "〆切"],
    );
    check(
        "二〇二四年",
        &["二〇二四年"],
        &["二〇二四年"],
        &["二〇", "〇二", "二四", "四年"],
    );
    check("𠀀𰀀a", &["𠀀𰀀a"], &["𠀀𰀀a"], &["𠀀𰀀", "a"]);
    check("ｶﾞｷﾞ", &["ｶﾞｷﾞ"], &["ガギ"], &["ガギ"]);
    // Loose voicing marks are composed where there is a character for it, and stay with their
    // letter where there is none.
    check("か\u{3099}く", &["か", "く"], &["がく"], &["がく"]);
    check(
        "か\u{309a}く",
        &["か", "く"],
        &["か\u{309a}く"],
        &["か\u{309a}く"],
    );
    // A compatibility ideograph is its unified one, canonically.
    check("\u{f900}", &["\u{f900}"], &["\u{8c48}"], &["\u{8c48}"]);
}

#[test]
fn a_word_inside_a_run_is_found() {
    let words = WordRule::UnicodeBigrams.words("昨日図書館で本を借りた");
    let letters_and_pairs =
        "昨 昨日 日 日図 図 図書 書 書館 館 館で で で本 本 本を を を借 借 借り り りた た";
    assert_eq!(words, letters_and_pairs.split(' ').collect::<Vec<_>>());
    for query in ["図書館", "本", "を借"] {
        for word in WordRule::UnicodeBigrams.query_words(query) {
            assert!(words.contains(&word), "{word}");
        }
    }
    // A text of one letter holds it once.
    assert_eq!(WordRule::UnicodeBigrams.words("本 A本"), ["本", "a", "本"]);
}

#[test]
fn width_is_no_difference_but_to_the_seed() {
    check("ＡＢＣ１２３", &["ａｂｃ１２３"], &["abc123"], &["abc123"]);
    check("ｶﾀｶﾅ", &["ｶﾀｶﾅ"], &["カタカナ"], &["カタ", "タカ", "カナ"]);
    check(
        "ﾊﾟｰﾃｨｰ",
        &["ﾊﾟｰﾃｨｰ"],
        &["パーティー"],
        &["パー", "ーテ", "ティ", "ィー"],
    );
    // A voicing mark that nothing stands before, and one that does not compose.
    check("ﾞ", &["ﾞ"], &[], &[]);
    check("ｱﾞ", &["ｱﾞ"], &["ア\u{3099}"], &["ア\u{3099}"]);
    check("ﾡￂ", &["ﾡￂ"], &["ㄱㅏ"], &["ㄱㅏ"]);
    check("カ゛", &["カ"], &["カ"], &["カ"]);
}

#[track_caller]
fn folded(text: &str, words: &[&str]) {
    assert_eq!(WordRule::UnicodeFolded.words(text), words, "{text:?}");
}

#[test]
fn folding_leaves_out_accents_and_takes_plain_letters() {
    folded("Straße STRASSE STRAẞE", &["strasse"; 3]);
    folded("über U\u{308}ber", &["uber", "uber"]);
    folded("Đại học", &["dai", "hoc"]);
    folded("οδός ΟΔΟΣ ὁδὸς", &["οδοσ"; 3]);
    folded("İstanbul ISTANBUL ıstanbul", &["istanbul"; 3]);
    folded(
        "كُتُبٌ كتـــب أحمد آخر ٱسم",
        &["كتب", "كتب", "احمد", "اخر", "اسم"],
    );
    folded("שָׁלוֹם", &["שלום"]);
    folded(
        "Łódź Ærø Œuvre smørrebrød Þór",
        &["lodz", "aero", "oeuvre", "smorrebrod", "thor"],
    );
    folded(
        "ﬁn ﬃ ℕ x² Ⅷ ① ǆ",
        &["fin", "ffi", "n", "x2", "viii", "1", "dz"],
    );
    folded("ﻛﺘﺎﺏ", &["كتاب"]);
    folded("ёж Йод ўсё", &["еж", "йод", "ўсе"]);
    folded(
        "1\u{20e3} Z\u{351}a\u{300}\u{301}\u{302}lgo",
        &["1", "zalgo"],
    );
    // What is part of a letter stays.
    folded(
        "हिन्दी ไทย தமிழ் が か",
        &["हिन्दी", "ไทย", "தமிழ்", "が", "か"],
    );
    folded("\u{1112}\u{1161}\u{11ab} ½ ﷺ", &["한", "½", "ﷺ"]);
    // The stroke that makes words longer stays where it makes none longer.
    folded("ـ كـ ـــ", &["ـ", "ك", "ـــ"]);
    assert_eq!(
        WordRule::UnicodeBigramsFolded.words("Ｃａｆé図書"),
        ["cafe", "図", "図書", "書"]
    );
}

#[test]
fn hangul() {
    check(
        "한국어를",
        &["한국어를"],
        &["한국어를"],
        &["한국", "국어", "어를"],
    );
    // Conjoining letters, composed first.
    check(
        "\u{1112}\u{1161}\u{11ab}",
        &["\u{1112}\u{1161}\u{11ab}"],
        &["한"],
        &["한"],
    );
}

#[test]
fn thai() {
    let pairs: &[&str] = &["สวั", "วัส", "สดี"];
    check("สวัสดี", &["สว", "สด"], &["สวัสดี"], pairs);
    check("ไทยv2", &["ไทยv2"], &["ไทยv2"], &["ไท", "ทย", "v2"]);
    // Its neighbours are not cut.
    check("ລາວ", &["ລາວ"], &["ລາວ"], &["ລາວ"]);
}

#[test]
fn names_in_json() {
    for rule in RULES {
        // serde_json is no dependency of this crate; serde's own deserialiser of a bare string
        // is enough to see the name.
        use serde::{Deserialize, de::IntoDeserializer, de::value::Error};
        let bare: serde::de::value::StrDeserializer<'_, Error> = rule.name().into_deserializer();
        assert_eq!(WordRule::deserialize(bare), Ok(rule));
    }
    assert_eq!(WordRule::default(), WordRule::Unicode);
}

/// The words of a version are settled: other words are another version, whose number stands here too.
#[test]
fn words_of_a_version() {
    let text = "L'Été Straße ＡＢＣ ｶﾞ 東京都 v2 कि\u{ad} ﬁ x²";
    let expected = [
        (WordRule::Seed, 1, "l été straße ａｂｃ ｶﾞ 東京都 v2 क ﬁ x²"),
        (
            WordRule::Unicode,
            3,
            "l été straße abc ガ 東京都 v2 कि ﬁ x²",
        ),
        (
            WordRule::UnicodeBigrams,
            3,
            "l été straße abc ガ 東 東京 京 京都 都 v2 कि ﬁ x²",
        ),
        (
            WordRule::UnicodeFolded,
            1,
            "l ete strasse abc ガ 東京都 v2 कि fi x2",
        ),
        (
            WordRule::UnicodeBigramsFolded,
            1,
            "l ete strasse abc ガ 東 東京 京 京都 都 v2 कि fi x2",
        ),
    ];
    assert_eq!(expected.map(|(rule, ..)| rule), RULES);
    for (rule, version, words) in expected {
        assert_eq!(
            (rule.version(), rule.words(text).join(" ")),
            (version, words.to_owned())
        );
    }
}

#[test]
fn every_character_is_found_by_itself() {
    for character in ('\0'..=char::MAX).filter(|c| InWord::of(*c) != InWord::Gap) {
        let text = format!("a{character}b");
        for rule in RULES {
            for asked in [rule.query_words(&text), rule.query_words(&text[1..])] {
                let again = rule.query_words(&asked.join(" "));
                assert_eq!(again, asked, "{rule:?} of U+{:04X}", u32::from(character));
            }
        }
    }
}

/// Each would take hours if a letter were looked for anew behind each mark, or a run folded once more
/// for each word of it. What is handed on doubles with the text.
#[test]
fn long_words_take_linear_time() {
    for piece in [
        "\u{306}",
        "\u{94d}\u{640}",
        "\u{640}",
        "\u{301}",
        "漢",
        "ｶﾞ",
        "\u{1112}\u{1161}",
        "ﬁ",
    ] {
        for rule in RULES {
            let lent = |times: usize| {
                let mut bytes = 0;
                rule.for_each_word(&format!("иك{}", piece.repeat(times)), |word| {
                    bytes += word.len()
                });
                bytes
            };
            let (once, twice) = (lent(30_000), lent(60_000));
            assert!(
                twice <= 2 * once + 100,
                "{rule:?} of {piece:?}: {once}, {twice}"
            );
        }
    }
}

/// Texts made of what the rules are about, which random characters seldom hit.
fn tricky() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "Z",
        "7",
        " ",
        ".",
        "'",
        ":",
        "·",
        "-",
        "İ",
        "I",
        "ı",
        "ſ",
        "ß",
        "ẞ",
        "Σ",
        "σ",
        "ς",
        "Α",
        "ᾈ",
        "J",
        "T",
        "H",
        "Å",
        "K",
        "é",
        "\u{301}",
        "\u{307}",
        "\u{308}",
        "\u{30c}",
        "\u{323}",
        "\u{331}",
        "\u{345}",
        "\u{344}",
        "ि",
        "्",
        "ह",
        "ก",
        "ั",
        "ี",
        "ำ",
        "๑",
        "漢",
        "々",
        "〇",
        "か",
        "\u{3099}",
        "\u{309a}",
        "ー",
        "ｶ",
        "ﾞ",
        "\u{1112}",
        "\u{1161}",
        "\u{11ab}",
        "한",
        "𠀀",
        "\u{f900}",
        "👩",
        "\u{200d}",
        "\u{200c}",
        "\u{fe0f}",
        "\u{20e3}",
        "①",
        "½",
        "≠",
        "=",
        "\u{338}",
        "\u{1d15e}",
        "\u{1d165}",
        "\u{e0100}",
        "\u{feff}",
        "\u{ad}",
        "\u{1fbd}",
        "\u{374}",
        "𐐀",
        "Ａ",
        "ｱ",
        "ﾊ",
        "ﾟ",
        "ﾡ",
        "ￂ",
        "đ",
        "Ø",
        "ﬁ",
        "ǆ",
        "и",
        "й",
        "\u{306}",
        "أ",
        "ـ",
        "\u{64e}",
        "\u{654}",
        "ﻻ",
        "ﷺ",
        "ŀ",
        "ℕ",
        "²",
        "\u{200b}",
    ]);
    prop::collection::vec(pieces, 0..16).prop_map(|pieces| pieces.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![tricky(), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_word_is_found_by_itself_and_every_text_by_itself(text in texts()) {
        for rule in RULES {
            let words = rule.words(&text);
            for word in &words {
                prop_assert!(!word.is_empty());
                prop_assert_eq!(rule.query_words(word), std::slice::from_ref(word), "{:?}", rule);
            }
            let asked = rule.query_words(&text);
            prop_assert!(asked.iter().all(|word| words.contains(word)), "{:?}", rule);
            prop_assert_eq!(rule.query_words(&asked.join(" ")), asked.clone(), "{:?}", rule);
            if !BIGRAMS.contains(&rule) {
                prop_assert_eq!(&asked, &words, "{:?}", rule);
            }
        }
    }

    /// Words are lent one by one as they would be from the whole text in lower case.
    #[test]
    fn the_seeds_words_are_those_of_the_lower_case_text(text in texts()) {
        use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory};
        let lower = text.to_lowercase();
        let letter = |c: char| matches!(c.general_category_group(), Group::Letter | Group::Number);
        let words: Vec<&str> = lower.split(|c| !letter(c)).filter(|w| !w.is_empty()).collect();
        let mut lent = Vec::new();
        WordRule::Seed.for_each_word(&text, |word| lent.push(word.to_owned()));
        prop_assert_eq!(lent, words);
    }

    /// Folding run by run with reused buffers is folding each run from new.
    #[test]
    fn words_are_composed_and_in_lower_case(text in texts()) {
        for rule in UNICODE {
            rule.for_each_word(&text, |word| {
                let again: String = word.nfc().collect::<String>().to_lowercase().nfc().collect();
                assert_eq!(word, again, "{rule:?} of {text:?}");
            });
        }
    }

    #[test]
    fn texts_joined_by_a_space_have_the_words_of_both(one in texts(), other in texts()) {
        for rule in RULES {
            let both = [rule.words(&one), rule.words(&other)].concat();
            prop_assert_eq!(rule.words(&format!("{one} {other}")), both, "{:?}", rule);
            let both = [rule.query_words(&one), rule.query_words(&other)].concat();
            prop_assert_eq!(rule.query_words(&format!("{one} {other}")), both, "{:?}", rule);
        }
    }

    #[test]
    fn equivalent_spellings_have_the_same_words(text in texts()) {
        for rule in UNICODE {
            let words = rule.words(&text);
            prop_assert_eq!(&rule.words(&text.nfc().collect::<String>()), &words, "{:?}", rule);
            prop_assert_eq!(&rule.words(&text.nfd().collect::<String>()), &words, "{:?}", rule);
        }
    }

    /// Words are those of the text without what is not seen in it.
    #[test]
    fn what_is_not_seen_changes_no_word(
        text in texts(),
        unseen in prop::sample::select(vec!['\u{ad}', '\u{200d}', '\u{fe0f}', '\u{34f}']),
        at in any::<prop::sample::Index>(),
    ) {
        let bare: String = text.chars().filter(|c| InWord::of(*c) != InWord::LeftOut).collect();
        let mut other = text.clone();
        other.insert(other.floor_char_boundary(at.index(other.len() + 1)), unseen);
        for rule in UNICODE {
            prop_assert_eq!(rule.words(&text), rule.words(&bare), "{:?} of {:?}", rule, text);
            prop_assert_eq!(rule.words(&other), rule.words(&bare), "{:?} of {:?}", rule, other);
        }
    }

    /// What is found without folding is found with it.
    #[test]
    fn folding_finds_more(text in texts()) {
        for (plain, folded) in [
            (WordRule::Unicode, WordRule::UnicodeFolded),
            (WordRule::UnicodeBigrams, WordRule::UnicodeBigramsFolded),
        ] {
            let again: Vec<String> =
                plain.words(&text).iter().flat_map(|word| folded.query_words(word)).collect();
            prop_assert_eq!(again, folded.words(&text), "{:?}", folded);
        }
    }

    /// Composing, lower-casing and cutting the whole text is the same but for Σ.
    #[test]
    fn only_sigma_looks_beyond_its_word(text in texts()) {
        let text = text.replace('Σ', "");
        let whole = text.nfc().collect::<String>().to_lowercase();
        prop_assert_eq!(WordRule::Unicode.words(&text), WordRule::Unicode.words(&whole));
    }

    #[test]
    fn bigrams_only_cut_what_unicode_answers(text in texts()) {
        // Cut once more, the words under Unicode give the words under UnicodeBigrams, except
        // that a whole run may decide the lower case of a Σ inside it.
        let text = text.replace('Σ', "");
        for (whole, bigrams) in [
            (WordRule::Unicode, WordRule::UnicodeBigrams),
            (WordRule::UnicodeFolded, WordRule::UnicodeBigramsFolded),
        ] {
            let runs = whole.words(&text);
            let cut: Vec<String> = runs.iter().flat_map(|run| bigrams.words(run)).collect();
            prop_assert_eq!(bigrams.words(&text), cut);
        }
    }

    /// What the pairs are for: any stretch of a run is found in it, whatever surrounds it.
    #[test]
    fn every_stretch_of_a_run_is_found(
        run in prop::collection::vec(
            prop::sample::select(vec!["漢", "字", "か", "ナ", "ー", "々", "한", "สี", "ก", "𠀀"]),
            2..12,
        ),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let start = cut.0.index(run.len() - 1);
        let end = start + 2 + cut.1.index(run.len() - start - 1);
        let words = WordRule::UnicodeBigrams.words(&run.concat());
        prop_assert_eq!(words.len(), 2 * run.len() - 1);
        let end = if cut.0.index(3) == 0 { start + 1 } else { end };
        for word in WordRule::UnicodeBigrams.query_words(&run[start..end].concat()) {
            prop_assert!(words.contains(&word), "{word} of {run:?}");
        }
    }
}
