use super::*;

fn pattern(prompt: &str) -> Pattern {
    Pattern::of(prompt, &[], Category::Clarification)
}

fn tagged(prompt: &str, tags: &[&str]) -> Pattern {
    let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
    Pattern::of(prompt, &tags, Category::Clarification)
}

#[test]
fn spacing_case_and_punctuation_make_no_other_question() {
    for (a, b) in [
        ("Use Postgres for sessions?", "use   POSTGRES for sessions"),
        ("Use Postgres for sessions?", "\"Use `Postgres`, for sessions??\"\n"),
        ("Which store: Redis or SQL?", "Which store:Redis or SQL"),
        ("Can\u{2019}t we drop it?", "can't we drop it"),
        ("ﬁle or ｄａｔａｂａｓｅ?", "File or database"),
        ("Straße oder Allee?", "STRASSE ODER ALLEE"),
        ("Cafe\u{301} ou thé ?", "CAFÉ ou thé?"),
        ("Ποιος ΣΤΟΧΟΣ;", "ποιος στοχος"),
        ("使用哪个数据库？", "使用 哪个数据库"),
        ("どのデータベースを使いますか？", "どのﾃﾞｰﾀﾍﾞｰｽを使いますか。"),
        ("ใช้ฐานข้อมูลไหน?", "ใช้ฐานข้อมูล\u{200b}ไหน"),
        ("Какую базу взять?", "какую базу взять"),
        ("أي قاعدة بيانات نستخدم؟", "أي  قاعدة بيانات نستخدم"),
        ("어떤 데이터베이스를 쓸까요?", "어떤 데이터베이스를 쓸까요"),
        ("कौन सा डेटाबेस?", "कौन सा डेटाबेस।"),
        ("soft\u{ad}ware \u{200e}here", "software here"),
    ] {
        assert_eq!(pattern(a), pattern(b), "{a:?} {b:?}");
        assert!(is_repeat(&pattern(a), &pattern(b)));
    }
}

#[test]
fn another_word_number_sign_or_order_makes_another_question() {
    for (a, b) in [
        ("Use postgres for sessions?", "Use mysql for sessions?"),
        ("Use postgres instead of mysql?", "Use mysql instead of postgres?"),
        ("Should we keep it?", "Should we not keep it?"),
        ("Should the API return 404?", "Does the API return 404?"),
        ("Keep logs for 30 days?", "Keep logs for 300 days?"),
        ("Is 1.5 right?", "Is 15 right?"),
        ("Use C++?", "Use C#?"),
        ("Use C?", "Use C#?"),
        ("Is -1 the default?", "Is 1 the default?"),
        ("At most 50%?", "At most 50?"),
        ("Do we need a < b?", "Do we need a > b?"),
        ("Do we need a != b?", "Do we need a = b?"),
        ("Is it $5?", "Is it €5?"),
        ("Rename user_id?", "Rename user_ids?"),
        ("Take plan A?", "Take plan B?"),
        ("Deploy to v1?", "Deploy to v2?"),
        ("Where is the contact?", "Where is the contract?"),
        ("OK?", "Please?"),
        ("???", "!!!"),
        ("使用哪个数据库？", "使用哪个缓存？"),
        ("应该开启缓存吗？", "应该关闭缓存吗？"),
        ("データベースを有効にしますか？", "データベースを無効にしますか？"),
        ("ใช้ฐานข้อมูลไหน", "ใช้ภาษาไหน"),
        ("เปิดแคชไหม", "ปิดแคชไหม"),
        ("Включить кэш?", "Выключить кэш?"),
        ("Какую базу взять?", "Какую очередь взять?"),
        ("هل نفتح المنفذ؟", "هل نغلق المنفذ؟"),
        ("أي قاعدة بيانات نستخدم؟", "أي لغة برمجة نستخدم؟"),
        ("캐시를 켤까요?", "캐시를 끌까요?"),
        ("कैश चालू करें?", "कैश बंद करें?"),
        ("Sınır nedir?", "Sinir nedir?"),
        ("\u{1f680}?", "\u{1f525}?"),
    ] {
        assert_ne!(pattern(a), pattern(b), "{a:?} {b:?}");
        assert!(!is_repeat(&pattern(a), &pattern(b)), "{a:?} {b:?}: {}", similarity(&pattern(a), &pattern(b)));
    }
}

#[test]
fn one_exchanged_word_does_not_drown_in_a_long_question() {
    let long = "we have looked at every service that reads this table and found no owner ".repeat(10);
    let asks = |store: &str| pattern(&format!("{long} so use {store} for sessions?"));

    assert!(!is_repeat(&asks("postgres"), &asks("mysql")));
    assert!(is_repeat(&asks("postgres"), &asks("the postgres")));
}

#[test]
fn small_edits_make_a_repetition_but_no_equal_pattern() {
    for (a, b) in [
        ("Use postgres for sessions?", "Please use postgres for the sessions"),
        ("Use postgres for sessions?", "Use postgres for session?"),
        ("Use postgres for sessions?", "Use postgress for sesions?"),
        ("Which token format should we use?", "Hello, again: which token formats should we use?"),
        ("Who owns the table?", "Who owns a table?"),
    ] {
        let (a, b) = (pattern(a), pattern(b));
        assert_ne!(a, b);
        assert!(is_repeat(&a, &b), "{} {}: {}", a.as_str(), b.as_str(), similarity(&a, &b));
        assert!(similarity(&a, &b) < 1.0);
    }
}

#[test]
fn the_nearer_question_is_the_more_similar_one() {
    let asked = pattern("Use postgres for sessions?");
    let to = |prompt| similarity(&asked, &pattern(prompt));

    assert!(to("Use mysql for sessions?") > to("Use mysql for carts?"));
    assert!(to("Use mysql for carts?") > to("Who merges?"));
    assert!(to("Who merges?").abs() < f64::EPSILON);
}

#[test]
fn tags_and_category_are_part_of_the_question() {
    let asked = tagged("Which store?", &["Sessions", "auth"]);

    assert_eq!(asked, tagged("which store", &["auth", "sessions", "AUTH "]));
    assert!(!is_repeat(&asked, &tagged("Which store?", &["carts"])));
    assert!(!is_repeat(&asked, &tagged("Which store?", &["auth"])));
    let risk = Pattern::of("Which store?", &[], Category::RiskAck);
    assert!(similarity(&pattern("Which store?"), &risk).abs() < f64::EPSILON);
}

#[test]
fn a_pattern_is_stored_as_a_readable_string() {
    let asked = tagged("Which store: Redis, or C++?", &["rate limit"]);

    let stored = serde_json::to_string(&asked).unwrap();

    assert_eq!(stored, "\"clarification #rate-limit: which store redis or c + +\"");
    assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), asked);
}

/// All texts of up to four of these characters, which stand for all that ASCII has.
#[test]
fn the_short_way_to_the_words_of_a_plain_text_says_what_the_long_way_says() {
    let letters = "aB1_.',;:-#%!=+$^ \n\u{7f}";
    let mut texts = vec![String::new()];
    for length in 1..=4 {
        let longer: Vec<String> =
            texts.iter().flat_map(|text| letters.chars().map(move |c| format!("{text}{c}"))).collect();
        for (text, between) in longer.iter().flat_map(|text| [b' ', b'-', b'|'].map(|between| (text, between))) {
            assert_eq!(ascii_words(&lower_case(text), between), unicode_words(text, between.into()), "{text:?}");
        }
        texts = if length < 3 { longer } else { longer.into_iter().step_by(7).collect() };
    }
    for byte in 0..128_u8 {
        let text = format!("a{0}b {0} 1{0}2", char::from(byte));
        assert_eq!(ascii_words(&lower_case(&text), b'|'), unicode_words(&text, '|'), "{text:?}");
    }
}
