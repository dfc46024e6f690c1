use super::*;

fn options() -> Vec<Choice> {
    let choice = |id: &str, label: &str, description: Option<&str>| Choice {
        id: id.into(),
        label: label.into(),
        description: description.map(Into::into),
        recommended: false,
        implications: None,
    };
    vec![
        choice("jwt", "JSON Web Tokens", Some("stateless")),
        choice("cookie", "Session cookie, signed", None),
        choice("B", "Ünïcode Étiquette", None),
    ]
}

fn single(text: &str) -> Result<Meaning, Refusal> {
    read(&json!(text), &Expected::SingleChoice, &options(), false)
}

#[test]
fn a_choice_is_given_by_id_label_or_text_in_any_case() {
    for text in ["jwt", " JWT ", "json web tokens", "STATELESS"] {
        assert_eq!(single(text).unwrap().value, json!("jwt"), "{text}");
    }
    assert_eq!(single("ünïcode étiquette").unwrap().value, json!("B"));
    assert_eq!(single("jwt").unwrap().text, "JSON Web Tokens");
}

#[test]
fn a_wrong_choice_lists_what_is_accepted() {
    let refusal = single("saml").unwrap_err();

    assert_eq!(refusal.code, Code::QuestionInvalidAnswer);
    assert!(refusal.hint.contains("jwt (JSON Web Tokens), cookie"), "{}", refusal.hint);
    assert_eq!(refusal.details["accepted"]["options"][0]["id"], "jwt");
}

#[test]
fn free_text_beside_options_is_marked_as_such() {
    let meaning = read(&json!("ask the bank"), &Expected::SingleChoice, &options(), true).unwrap();

    assert_eq!((meaning.value, meaning.free_text), (json!("ask the bank"), true));
    assert!(!read(&json!("jwt"), &Expected::SingleChoice, &options(), true).unwrap().free_text);
}

#[test]
fn several_choices_come_with_commas_or_as_a_json_array_and_count_once() {
    let many = |given: Value| read(&given, &Expected::MultiChoice, &options(), false).map(|it| it.value);

    assert_eq!(many(json!("jwt, b, JWT")).unwrap(), json!(["jwt", "B"]));
    assert_eq!(many(json!("[\"cookie\",\"jwt\"]")).unwrap(), json!(["cookie", "jwt"]));
    assert_eq!(many(json!(["b"])).unwrap(), json!(["B"]));
    assert_eq!(many(json!("session cookie, signed")).unwrap(), json!(["cookie"]));
    assert!(many(json!("jwt, saml")).is_err());
    assert!(many(json!("[]")).is_err());
}

#[test]
fn yes_and_no_are_booleans_and_maybe_is_not() {
    let boolean = |text: &str| read(&json!(text), &Expected::Boolean, &[], false).map(|it| it.value);

    assert_eq!(boolean("Yes").unwrap(), json!(true));
    assert_eq!(boolean("FALSE").unwrap(), json!(false));
    assert!(boolean("maybe").unwrap_err().hint.contains("true, false, yes or no"));
}

#[test]
fn a_number_is_a_finite_json_number() {
    let number = |given: Value| read(&given, &Expected::Number, &[], false).map(|it| it.value);

    assert_eq!(number(json!("1.5")).unwrap(), json!(1.5));
    assert_eq!(number(json!(-3)).unwrap(), json!(-3));
    for wrong in ["", "NaN", "1e999", "three", "0x10"] {
        assert!(number(json!(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_json_answer_must_fit_its_schema_and_the_refusal_says_where_it_does_not() {
    let schema = json!({"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}}});
    let expected = Expected::Json { schema };

    assert_eq!(read(&json!("{\"port\": 80}"), &expected, &[], false).unwrap().value, json!({"port": 80}));
    let refusal = read(&json!("{\"port\": \"http\"}"), &expected, &[], false).unwrap_err();
    assert_eq!(refusal.code, Code::QuestionInvalidAnswer);
    assert!(refusal.message.contains("/port"), "{}", refusal.message);
    assert!(read(&json!("{"), &expected, &[], false).unwrap_err().message.contains("not JSON"));
}

#[test]
fn a_schema_that_does_not_compile_or_reaches_outside_is_refused() {
    assert!(check_schema(&json!({"type": 7})).is_err());
    assert!(check_schema(&json!({"$ref": "https://example.com/schema.json"})).is_err());
    assert!(check_schema(&json!({"type": "string"})).is_ok());
}

#[test]
fn an_answer_has_a_length_that_counts_characters_not_bytes() {
    let longest = "ü".repeat(LONGEST_TEXT);

    assert!(read(&json!(longest), &Expected::Text, &[], false).is_ok());
    let refusal = read(&json!(longest + "ü"), &Expected::Text, &[], false).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidInput);
    assert!(refusal.message.contains("2000 characters"));
}

#[test]
fn an_empty_answer_is_no_answer() {
    assert!(read(&json!("  "), &Expected::Text, &[], false).is_err());
    assert!(read(&json!(""), &Expected::SingleChoice, &options(), true).is_err());
}
