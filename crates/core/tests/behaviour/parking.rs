//! Sessions that wait outside of any process, are resumed once, and are told once.

use querent_core::{Action, Claim, Code, Command, News, Park, Process, Program, ProgramHandle, Verdict};

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Q2, Who, architect, engineer, human};

fn handle(name: &str) -> ProgramHandle {
    name.parse().unwrap()
}

fn parks_as(name: &str, id: &str) -> Command {
    let park = Park {
        program: Program::Claude,
        handle: handle(name),
        directory: "/shop".into(),
        call: Some("toolu_1".into()),
    };
    engineer().does(Action::Park { question: id.parse().unwrap(), park: Box::new(park) })
}

fn parks(id: &str) -> Command {
    parks_as("c-1", id)
}

fn wakes(id: &str, resumed: bool) -> Command {
    engineer().does(Action::Wake { question: id.parse().unwrap(), resumed })
}

fn process(pid: u32) -> Process {
    Process { pid, start: "1".into(), host: "here".into() }
}

fn claims(id: &str, pid: u32, over: Option<Claim>) -> Command {
    human().does(Action::Claim { question: id.parse().unwrap(), process: Some(process(pid)), over })
}

fn ends(id: &str, pid: u32, exit_code: i32) -> Command {
    let exit_code = Some(exit_code);
    human().does(Action::EndResume { question: id.parse().unwrap(), process: Some(process(pid)), exit_code })
}

fn tells(name: &str, upto: u64, question: Option<&str>) -> Command {
    let question = question.map(|id| id.parse().unwrap());
    engineer().does(Action::Tell { handle: handle(name), upto, question })
}

fn version(scenario: &Scenario) -> u64 {
    scenario.the_item().version
}

fn untold(scenario: &Scenario, name: &str) -> Option<Vec<News>> {
    scenario.the_item().board.untold(&handle(name))
}

fn given_parked() -> Scenario {
    given_implementing().and(engineer().asks("human", "Which bank?")).and(parks(Q1))
}

fn given_answered() -> Scenario {
    given_parked().and(human().answers(Q1, "any"))
}

#[test]
fn a_session_that_waits_for_an_answer_is_parked_and_says_where() {
    given_implementing()
        .and(engineer().asks("human", "Which bank?"))
        .when(parks(Q1))
        .then_events(["session_parked"])
        .then(|it| {
            let parked = it.session("engineer@42").parked.unwrap();
            assert_eq!((parked.question_id.to_string().as_str(), parked.directory.as_str()), (Q1, "/shop"));
            assert!(!parked.settled && !parked.claimed);
        });
}

#[test]
fn nobody_is_parked_on_what_is_settled_or_does_not_block() {
    given_implementing()
        .and(engineer().asks("human", "Which bank?").without_blocking())
        .when(parks(Q1))
        .then_refused(Code::InvalidInput)
        .and(engineer().asks("human", "Which one?"))
        .and(human().answers(Q2, "any"))
        .when(parks(Q2))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn another_agent_parks_nobody() {
    let park = |by: Who| match parks(Q1).action {
        action @ Action::Park { .. } => by.does(action),
        _ => unreachable!(),
    };
    given_implementing()
        .and(engineer().asks("human", "Which bank?"))
        .when(park(architect()))
        .then_refused(Code::NotOwner);
}

#[test]
fn a_program_is_parked_on_one_open_question_at_a_time() {
    given_parked()
        .and(engineer().asks("architect", "Which cipher?"))
        .when(parks(Q2))
        .then_refused(Code::Conflict)
        .and(parks_as("c-2", Q2))
        .and(human().answers(Q1, "any"))
        .when(parks(Q2))
        .then_events(["session_parked"]);
}

#[test]
fn a_session_is_not_resumed_while_its_question_is_open() {
    given_parked().when(claims(Q1, 7, None)).then_refused(Code::InvalidTransition);
}

#[test]
fn a_session_is_resumed_by_one_at_a_time_and_once() {
    given_answered()
        .and(claims(Q1, 7, None))
        .when(claims(Q1, 8, None))
        .then_refused(Code::Conflict)
        .when(ends(Q1, 7, 0))
        .then_events(["session_resumed"])
        .when(claims(Q1, 8, None))
        .then_refused(Code::InvalidTransition)
        .then(|it| assert_eq!(it.session("engineer@42").parked, None));
}

#[test]
fn a_claim_whose_process_is_gone_is_taken_over() {
    let answered = given_answered().and(claims(Q1, 7, None));
    let void = answered.the_item().parked[&1].claim.clone();

    answered
        .and(claims(Q1, 8, void.clone()))
        .when(claims(Q1, 9, void))
        .then_refused(Code::Conflict)
        .when(ends(Q1, 7, 0))
        .then_refused(Code::Conflict);
}

#[test]
fn a_program_that_failed_leaves_its_session_parked_for_another_try() {
    given_answered()
        .and(claims(Q1, 7, None))
        .and(ends(Q1, 7, 1))
        .when(claims(Q1, 8, None))
        .then_events(["session_claimed"]);
}

#[test]
fn a_program_that_made_its_call_and_then_failed_is_resumed_without_the_call() {
    given_answered()
        .and(claims(Q1, 7, None))
        .and(wakes(Q1, true))
        .then(|it| assert_eq!(it.the_item().parked[&1].call, None, "the call was made"))
        .and(ends(Q1, 7, 1))
        .when(claims(Q1, 8, None))
        .then_events(["session_claimed"])
        .then(|it| assert_eq!(it.the_item().parked[&1].call, None));
}

#[test]
fn a_session_that_somebody_resumed_by_hand_is_not_resumed_again() {
    given_answered()
        .and(wakes(Q1, false))
        .when(claims(Q1, 7, None))
        .then_refused(Code::InvalidTransition)
        .when(wakes(Q1, false))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn a_question_that_is_withdrawn_with_its_item_lets_its_session_be_resumed() {
    given_parked().and(human().ends_as(querent_core::Outcome::Failed)).when(claims(Q1, 7, None)).then_accepted();
}

#[test]
fn a_parked_session_is_not_given_up_though_its_process_is_gone() {
    given_implementing()
        .and(engineer().starts())
        .and(engineer().asks("human", "Which bank?"))
        .and(parks(Q1))
        .and(human().answers(Q1, "any"))
        .with_signs(|signs| signs.gone.extend(["engineer@42".parse().unwrap()]))
        .later("2h")
        .when_monitored()
        .then(|it| assert!(!it.the_item().sessions[&"engineer@42".parse().unwrap()].lost));
}

#[test]
fn news_is_told_once_to_each_program() {
    let scenario = given_parked();
    assert_eq!(untold(&scenario, "c-1"), None, "a newcomer");
    let now = version(&scenario);

    let scenario = scenario.and(tells("c-1", now, None)).and(human().answers(Q1, "any"));
    assert_eq!(untold(&scenario, "c-1"), Some(vec![News::Question(1)]));
    let now = version(&scenario);

    let scenario = scenario.and(tells("c-1", now, None));
    assert_eq!(untold(&scenario, "c-1"), Some(vec![]));
    assert_eq!(untold(&scenario, "c-2"), None);
}

#[test]
fn what_happens_while_a_program_is_told_is_news_afterwards() {
    let scenario = given_parked();
    let read = version(&scenario);

    let scenario = scenario.and(human().answers(Q1, "any")).and(tells("c-1", read, None));

    assert_eq!(untold(&scenario, "c-1"), Some(vec![News::Question(1)]));
}

#[test]
fn an_answer_that_a_tool_gave_is_not_told_again_and_hides_no_other() {
    let scenario = given_implementing().and(tells("c-1", 0, None));
    let scenario = scenario
        .and(engineer().assumes("Any bank"))
        .and(human().reviews("ASM-42-001", Verdict::Overturn))
        .and(engineer().asks("human", "Which bank?"))
        .and(human().answers(Q1, "any"))
        .and(tells("c-1", 0, Some(Q1)));

    assert_eq!(untold(&scenario, "c-1"), Some(vec![News::Assumption(1)]));
}

#[test]
fn a_later_answer_to_the_same_question_is_news_again() {
    let scenario = given_implementing()
        .and(engineer().asks("architect", "Which cipher?"))
        .and(architect().answers(Q1, "aes"))
        .and(tells("c-1", 0, Some(Q1)))
        .and(engineer().follows_up(Q1, "Which mode?"))
        .and(architect().answers(Q1, "gcm"));

    assert_eq!(untold(&scenario, "c-1"), Some(vec![News::Question(1)]));
}

#[test]
fn whoever_missed_more_than_is_kept_is_told_as_a_newcomer_is() {
    let mut scenario = given_implementing().and(tells("c-1", 0, None));
    for number in 1..=33 {
        scenario = scenario
            .and(engineer().asks("architect", &format!("Which one for {number}?")))
            .and(architect().answers(&format!("CLR-42-{number:03}"), "this"));
    }

    assert_eq!(untold(&scenario, "c-1"), None);
}

#[test]
fn nothing_is_told_that_has_not_happened() {
    given_implementing().when(tells("c-1", 99, None)).then_refused(Code::InvalidInput);
}
