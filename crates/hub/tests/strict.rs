//! An agent that decides for itself, and asks a person once, and only where it cannot: on every engine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{
    Action, Ask, Assume, AssumptionFilter, AssumptionStatus, Blocker, Choice, Code, Command, Confidence, Fallback,
    Party, Provenance, Risk, RiskIfWrong, Source,
};

use crate::support::{Scene, accepted, answers, command, id, on_both_engines, opens, refused};

/// The product manager plans item 42, and its gate is strict.
fn planning(scene: &Scene) {
    let strict = "[agents.product-manager]\ngate = \"strict\"\n";
    scene.edit("config.toml", |config| config.replacen("[agents.product-manager]\n", strict, 1));
    accepted(&scene.hub, &opens("42"));
}

fn asks(item: &str, ask: Ask) -> Command {
    command(item, "product-manager", Action::Ask(Box::new(ask)))
}

fn assumes(assume: Assume) -> Command {
    command("42", "product-manager", Action::Assume(Box::new(assume)))
}

fn question(prompt: &str, options: [(&str, &str); 3], fallback: (&str, &str, Risk)) -> Ask {
    let choice = |(id, label): (&str, &str)| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        description: None,
        recommended: false,
        implications: None,
    };
    let (answer, reason, risk) = fallback;
    let evidence = [
        ("codebase_search", "no keys in config/, .env or secrets/"),
        ("similar_features", "no payment is integrated yet"),
        ("attempted_inference", "nothing says for whom this is"),
    ];
    Ask {
        to: Some(Party::HUMAN),
        topic: "Open point".to_owned(),
        prompt: prompt.to_owned(),
        blocker: Some(Blocker::MissingExternalData),
        evidence: Some(evidence.map(|(name, found)| (name.to_owned(), found.to_owned())).into()),
        options: options.map(choice).to_vec(),
        fallback: Some(Fallback { answer: answer.into(), reason: reason.to_owned(), risk }),
        ..Ask::default()
    }
}

fn which_sign_in() -> Ask {
    let options = [("a", "Passwordless only"), ("b", "Passwords only"), ("c", "Both")];
    let ask = question("Which way to sign in?", options, ("b", "everybody knows it", Risk::Medium));
    Ask { blocker: Some(Blocker::MutuallyExclusiveRequirements), topic: "Sign-in".to_owned(), ..ask }
}

fn which_environment() -> Ask {
    let options = [("a", "Test mode"), ("b", "Production mode"), ("c", "Both")];
    let ask = question("Which Stripe environment?", options, ("a", "test mode charges nobody", Risk::Low));
    Ask { topic: "Stripe environment".to_owned(), ..ask }
}

#[test]
fn where_all_is_clear_it_decides_and_puts_that_on_record() {
    on_both_engines(|scene| {
        planning(&scene);

        accepted(
            &scene.hub,
            &assumes(Assume {
                decision: "JWT for the sessions".to_owned(),
                reasoning: "api/auth.py has helpers for it, and nothing else is there".to_owned(),
                confidence: Confidence::High,
                risk_if_wrong: RiskIfWrong { level: Risk::Medium, note: None },
                source: Source::InferredFromCodebase,
                blocker: None,
                question: None,
            }),
        );

        assert_eq!(scene.hub.item(&id("42")).unwrap().asked, 0);
        assert_eq!(scene.stage("42"), "requirements");
        let assumed = scene.hub.assumptions(None, AssumptionFilter::Standing).unwrap();
        assert_eq!(assumed[0].source, Source::InferredFromCodebase);
    });
}

#[test]
fn a_person_who_answers_in_time_decides_and_the_agent_documents_it() {
    on_both_engines(|scene| {
        planning(&scene);
        let asked: AskReply = accepted(&scene.hub, &asks("42", which_sign_in())).read().unwrap();
        assert_eq!(scene.stage("42"), "awaiting_input");
        scene.pass("4m");

        let answered: AnswerReply = accepted(&scene.hub, &answers(&asked.question_id, "c")).read().unwrap();

        assert!(answered.resumed);
        assert_eq!(answered.answer.unwrap().provenance, Provenance::Human);
        accepted(
            &scene.hub,
            &assumes(Assume {
                decision: "Both, passwordless first".to_owned(),
                reasoning: "alice said so".to_owned(),
                confidence: Confidence::High,
                risk_if_wrong: RiskIfWrong { level: Risk::Low, note: None },
                source: Source::UserConfirmed,
                blocker: Some(Blocker::MutuallyExclusiveRequirements),
                question: Some(asked.question_id.clone()),
            }),
        );
        scene.pass("1h");
        assert_eq!(scene.status(&asked.question_id), "resolved", "no fallback comes after an answer");
        assert_eq!(scene.hub.assumptions(None, AssumptionFilter::All).unwrap().len(), 1);
    });
}

#[test]
fn without_an_answer_in_five_minutes_the_safe_fallback_is_taken_and_recorded() {
    on_both_engines(|scene| {
        planning(&scene);
        let asked: AskReply = accepted(&scene.hub, &asks("42", which_sign_in())).read().unwrap();
        scene.pass("299s");
        assert_eq!(scene.status(&asked.question_id), "open");

        scene.pass("1s");

        let question = scene.hub.question(&asked.question_id).unwrap();
        assert_eq!(question.status.as_str(), "expired");
        assert_eq!(question.answer.as_ref().unwrap().provenance, Provenance::Fallback);
        assert_eq!(scene.stage("42"), "requirements");
        let assumed = scene.hub.assumptions(None, AssumptionFilter::Standing).unwrap();
        assert_eq!(assumed[0].source, Source::TimeoutAssumed);
        assert_eq!(assumed[0].blocker, Blocker::MutuallyExclusiveRequirements);
        assert_eq!(assumed[0].risk_if_wrong.level, Risk::Medium);
    });
}

#[test]
fn a_technical_detail_is_not_asked() {
    on_both_engines(|scene| {
        planning(&scene);
        let detail = Ask { blocker: None, prompt: "Which test framework?".to_owned(), ..which_sign_in() };

        let refusal = refused(&scene.hub.execute(&asks("42", detail), None), Code::ConditionsNotMet);

        assert!(refusal.hint.contains("querent assume"), "{refusal}");
        assert_eq!(scene.hub.item(&id("42")).unwrap().asked, 0);
    });
}

#[test]
fn a_second_question_is_over_the_quota() {
    on_both_engines(|scene| {
        planning(&scene);
        accepted(&scene.hub, &opens("43"));
        let asked: AskReply = accepted(&scene.hub, &asks("42", which_sign_in())).read().unwrap();
        accepted(&scene.hub, &answers(&asked.question_id, "a"));

        let second = refused(&scene.hub.execute(&asks("42", which_environment()), None), Code::ConditionsNotMet);

        assert!(second.hint.contains("has asked its one question, CLR-42-001"), "{second}");
        // Another session may, while none is active in the project.
        accepted(&scene.hub, &asks("43", which_environment()));
        let other = Ask { session: Some(id("another")), ..which_environment() };
        let third = refused(&scene.hub.execute(&asks("42", other.clone()), None), Code::ConditionsNotMet);
        assert!(third.hint.contains("CLR-43-001 is open"), "{third}");
        // Nobody looked at item 43 since its question ran out; that frees the quota all the same.
        scene.pass("5m");
        accepted(&scene.hub, &asks("42", other));
        assert_eq!(scene.status(&id("CLR-43-001")), "expired");
    });
}

/// From the request to the correction: nobody is there, work goes on in test mode, and a day later somebody says otherwise.
#[test]
fn a_payment_is_integrated_while_nobody_is_there() {
    on_both_engines(|scene| {
        planning(&scene);
        let asked: AskReply = accepted(&scene.hub, &asks("42", which_environment())).read().unwrap();
        assert_eq!((asked.max_rounds, asked.resume_stage.unwrap().as_str()), (1, "requirements"));

        scene.pass("5m");
        scene.hub.run_due().unwrap();

        let assumed = &scene.hub.assumptions(None, AssumptionFilter::Standing).unwrap()[0];
        assert_eq!(assumed.decision, "Stripe environment: Test mode");
        assert_eq!((assumed.confidence, assumed.risk_if_wrong.level), (Confidence::Medium, Risk::Low));
        assert_eq!(assumed.reasoning, "test mode charges nobody");
        assert_eq!(scene.stage("42"), "requirements");

        scene.pass("1d");
        accepted(&scene.hub, &answers(&asked.question_id, "c"));

        let overturned = &scene.hub.assumptions(None, AssumptionFilter::All).unwrap()[0];
        assert_eq!(overturned.status, AssumptionStatus::Overturned);
        assert!(scene.hub.item(&id("42")).unwrap().needs_rework);
        let question = scene.hub.question(&asked.question_id).unwrap();
        assert_eq!(question.answer.unwrap().provenance, Provenance::Human);
        let ends = ["question_expired", "assumption_recorded", "item_resumed", "late_answer_recorded"];
        assert!(ends.iter().all(|it| scene.events("42").contains(it)), "{:?}", scene.events("42"));
    });
}
