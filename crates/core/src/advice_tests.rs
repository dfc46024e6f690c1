use serde_json::json;

use super::*;

fn question(to: &str, prompt: &str) -> Question {
    serde_json::from_value(json!({
        "id": "CLR-42-001", "item": "42", "from": { "agent": "engineer", "session": "engineer@42" },
        "to": to, "asked": to, "kind": "blocking", "category": "clarification", "blocker": "none",
        "topic": "Work", "prompt": prompt, "context": null, "details": null, "options": [],
        "expected": { "kind": "text" }, "allow_free_text": false, "blocking": true, "fallback": null,
        "evidence": null, "tags": [], "round": 1, "max_rounds": 5, "status": "open",
        "created_at": "2026-01-31T10:02:00Z", "stale_at": null, "remind_at": null, "expires_at": null,
        "resume_stage": null, "answer": null, "thread": [], "version": 1,
    }))
    .unwrap()
}

/// A question to a human that says what one must know.
fn explained(prompt: &str) -> Question {
    Question { context: Some("The importer reads orders every night.".to_owned()), ..question("human", prompt) }
}

fn option(id: &str, implications: Option<&str>) -> Choice {
    let implications = implications.map(str::to_owned);
    Choice { id: id.to_owned(), label: id.to_owned(), description: None, recommended: false, implications }
}

/// Every advice on these prompts to an agent must contain the word.
fn advised(prompts: &[(&str, &str)]) {
    for (prompt, part) in prompts {
        let advice = advice(&question("architect", prompt));
        assert_eq!(advice.len(), 1, "{prompt}: {advice:?}");
        assert!(advice[0].contains(part), "{prompt}: {advice:?}");
    }
}

#[test]
fn no_phrase_ends_with_a_word_that_is_not_looked_for() {
    for (phrase, _) in PHRASES {
        assert!(phrase.last().is_some_and(|word| ENDS.contains(word)), "{phrase:?}");
    }
}

#[test]
fn a_prompt_that_points_at_what_the_reader_has_not_seen_is_told_so() {
    advised(&[
        ("Should I handle refunds as above?", "\"as above\""),
        ("Is the above approach right for refunds?", "\"the above\""),
        ("See previous, is that still wanted for refunds?", "\"see previous\""),
        ("How long do tokens live (see above)?", "\"see above\""),
        ("Should sign-in work like before?", "\"like before\""),
        ("Do refunds go out as before, or at once?", "\"as before\""),
        ("Shall I keep THIS ONE?", "\"this one\""),
        ("Is this one right?", "\"this one\""),
        ("Do we ship that one?", "\"that one\""),
        ("Are refunds rounded as discussed?", "\"as discussed\""),
    ]);
}

#[test]
fn a_thing_that_is_not_named_is_asked_for() {
    advised(&[
        ("Should I delete the file?", "say which file"),
        ("Should the file be deleted?", "say which file"),
        ("What does this function do now?", "\"this function\""),
        ("How do I fix the error?", "say which error"),
        ("Is the test right?", "say which test"),
    ]);
}

#[test]
fn several_questions_at_once_are_counted_in_every_script() {
    advised(&[
        ("How long do tokens live? Who may revoke them?", "2 questions"),
        ("What? Why?? How?!", "3 questions"),
        ("令牌有效期多长？谁可以撤销？", "2 questions"),
        ("Сколько живёт токен? Кто его отзывает?", "2 questions"),
    ]);
}

#[test]
fn a_good_prompt_gets_no_advice() {
    for prompt in [
        "How long does a sign-in link stay valid?",
        "Should orders go to the filesystem?",
        "Is the file-system read-only on the build machines?",
        "Is the file size limited?",
        "Should the file format be CSV?",
        "Should I delete the file `orders.csv`?",
        "Should I delete the file src/orders.rs?",
        "Is the file kept when an upload fails?",
        "When an upload fails, is the file kept?",
        "What does the error page say?",
        "Is 'as above' the right label for repeated addresses?",
        "May users see previous orders?",
        "Should prices stay as before the tax reform?",
        "Does this one-time code expire?",
        "Is this one of the cases that the law names?",
        "Do we want a design that one can extend?",
        "Should a report show daily, weekly, or all of the above totals?",
        "Guests pay 5 EUR.\nMembers pay nothing.\nDo partners pay the above price for guests?",
        "Does /search?q=a&page=2 stay public?",
        "Does load()? return early here?",
        "Should the label be 'Lost your password?' on this page?",
        "Really???",
        "What is the highest price above which we ask?",
    ] {
        assert_eq!(advice(&question("architect", prompt)), [""; 0], "{prompt}");
    }
}

#[test]
fn other_scripts_get_no_advice_about_words() {
    for prompt in [
        "Удалить файл, как указано выше?",
        "Использовать Redis или SQL?",
        "Как раньше: the file остаётся на месте?",
        "删除上面的文件吗？",
        "用Redis还是用SQL？",
        "请看the file里的内容",
        "上記のファイルを削除しますか？",
        "RedisとSQLのどちらを使いますか？",
        "هل نحذف الملف؟",
        "파일을 삭제할까요?",
    ] {
        assert_eq!(advice(&explained(prompt)), [""; 0], "{prompt}");
    }
}

#[test]
fn a_person_is_given_a_context() {
    let bare = question("human", "Where do sessions live?");
    let blank = Question { context: Some("  ".to_owned()), ..bare.clone() };
    let cheerful = Question { kind: Kind::Celebratory, ..bare.clone() };

    for question in [&bare, &blank] {
        let advice = advice(question);
        assert!(advice.len() == 1 && advice[0].starts_with("add a context"), "{advice:?}");
    }
    for question in [cheerful, explained("Where do sessions live?"), question("architect", "Where do sessions live?")] {
        assert_eq!(advice(&question), [""; 0]);
    }
}

#[test]
fn a_context_names_what_a_short_prompt_does_not() {
    assert_eq!(advice(&explained("Should I delete the file?")), [""; 0]);
    assert_eq!(advice(&explained("Should I do it as above?")).len(), 1);
}

#[test]
fn a_choice_is_offered_as_options() {
    for prompt in [
        "Redis or SQL?",
        "Should sessions live in Redis or in SQL?",
        "Sessions must survive a restart. Should they live in Redis, SQL, or a file?",
        "What do we use: Redis or SQL?",
        "Which store is it: 'Redis' or 'SQL'?",
        "Which of the two stores holds sessions?",
        "Which of these is right for sessions?",
    ] {
        let advice = advice(&explained(prompt));
        assert!(advice.len() == 1 && advice[0].contains("as options"), "{prompt}: {advice:?}");
    }
}

#[test]
fn what_only_sounds_like_a_choice_is_left_alone() {
    for prompt in [
        "What name or logo goes on the invoice?",
        "Is there a rule or a guideline for names?",
        "Should a token expire after 15 minutes or less?",
        "Should guests see prices or not?",
        "May an editor or an author delete a post by somebody else?",
        "How many retries or redirects are fine?",
        "Who orders for the store?",
        "Where does the priority or the order come from?",
    ] {
        assert_eq!(advice(&explained(prompt)), [""; 0], "{prompt}");
    }
    let choice = "Should sessions live in Redis or in SQL?";
    let offered =
        Question { options: vec![option("redis", None)], expected: Expected::SingleChoice, ..explained(choice) };
    let yes_or_no = Question { expected: Expected::Boolean, ..explained(choice) };
    for question in [offered, yes_or_no, question("architect", choice)] {
        assert_eq!(advice(&question), [""; 0]);
    }
}

#[test]
fn a_risk_is_taken_knowing_what_follows() {
    let options = vec![option("go", Some("orders of the last hour are lost")), option("wait", None)];
    let plain = Question { options, expected: Expected::SingleChoice, ..explained("Do we restore the backup?") };
    let risk = Question { category: Category::RiskAck, ..plain.clone() };

    let advice_on_risk = advice(&risk);

    assert!(advice_on_risk.len() == 1 && advice_on_risk[0].ends_with(": wait"), "{advice_on_risk:?}");
    assert_eq!(advice(&plain), [""; 0]);
}

#[test]
fn a_fallback_says_why_it_is_safe() {
    let with = |reason: &str| {
        let fallback = Fallback { answer: json!("x"), reason: reason.to_owned(), risk: crate::question::Risk::Low };
        advice(&Question { fallback: Some(fallback), ..explained("Where do sessions live?") })
    };

    for reason in ["safe", "ok", "-", "it is the default", "Seems fine."] {
        assert_eq!(with(reason).len(), 1, "{reason}");
    }
    for reason in ["it is there already", "easily undone", "已经部署", "уже развёрнут", "すぐ戻せる"]
    {
        assert_eq!(with(reason), [""; 0], "{reason}");
    }
}

#[test]
fn one_answer_may_hold_several_where_it_is_an_object() {
    let expected = Expected::Json { schema: json!({ "type": "object" }) };

    let question = Question { expected, ..question("architect", "How long? How many?") };

    assert_eq!(advice(&question), [""; 0]);
}

#[test]
fn a_follow_up_is_read_with_its_thread_at_hand() {
    let question = question("architect", "How long do tokens live?");

    assert_eq!(advice_on_follow_up(&question, "Who deletes the file?"), [""; 0]);
    assert_eq!(advice_on_follow_up(&question, "For guests? For admins?").len(), 1);
    assert_eq!(advice_on_follow_up(&question, "And for this one?").len(), 1);
}
