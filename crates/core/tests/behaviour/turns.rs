//! An agent is invoked by one at a time, for what is to be done now, and by nobody but Querent.

use querent_core::event::TurnOutcome::{Done, Failed};
use querent_core::{Action, Claim, Code, Outcome, ProgramHandle, Purpose, SessionStatus, TurnDeed, Work};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Q2, agent, architect, engineer, human, name, on, querent};
use crate::team::{begins, calls, ends, given_listener, given_team, process, reply, step, turns};

#[test]
fn a_turn_begins_on_the_agent_of_the_step_and_starts_its_session() {
    given_team()
        .then_next("engineer", step("implement"))
        .later("1m")
        .when(begins("engineer", step("implement"), 7, None))
        .then_events(["session_started", "turn_begun"])
        .then(|it| {
            assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
            let turns = it.turns("engineer");
            assert_eq!((turns.number, turns.attempt, turns.outcome), (1, 1, None));
            assert_eq!(turns.claim, Some(Claim { process: Some(process(7)), at: it.at("1m") }));
            let Work::Driven { agent, purpose, claim, .. } = it.work() else { panic!("{:?}", it.work()) };
            assert_eq!((agent, purpose), (name("engineer"), step("implement")));
            assert_eq!(Some(claim), turns.claim);
        });
}

#[test]
fn a_session_that_is_at_work_is_not_started_again() {
    given_team()
        .and(engineer().starts())
        .when(begins("engineer", step("implement"), 7, None))
        .then_events(["turn_begun"]);
    given_team()
        .and_ended(Failed)
        .when(begins("engineer", step("implement"), 7, None))
        .then_events(["turn_begun"])
        .then(|it| assert_eq!((it.turns("engineer").number, it.turns("engineer").attempt), (2, 1)));
    given_team()
        .and(engineer().starts())
        .and(engineer().finishes_but_keeps_the_step())
        .when(begins("engineer", step("implement"), 7, None))
        .then_events(["session_started", "turn_begun"]);
}

#[test]
fn an_item_has_one_turn_at_a_time() {
    let begun = || given_listener(&["spec.approved"]).and_turn().and(human().emits("spec.approved"));

    begun()
        .when(begins("engineer", step("implement"), 2, None))
        .then_refused(Code::Conflict)
        .then_message("an agent is at work on item `42`")
        .then_details(&json!({ "item": "42", "session": "engineer@42" }))
        .then_events([]);
    begun().when(begins("bystander", Purpose::Happening(1), 2, None)).then_refused(Code::Conflict);
    let it = begun();
    let over = Claim { process: Some(process(9)), at: it.now };
    it.when(begins("engineer", step("implement"), 2, Some(over))).then_refused(Code::Conflict);
}

#[test]
fn a_turn_whose_driver_is_gone_is_taken_over_under_its_number() {
    let it = given_team().and_turn().later("1m");
    let over = it.driven().1;

    it.when(begins("engineer", step("implement"), 2, Some(over.clone())))
        .then_events(["turn_begun"])
        .then(|it| {
            let turns = it.turns("engineer");
            assert_eq!((turns.number, turns.attempt), (1, 2));
            assert_eq!(turns.claim.as_ref().unwrap().process, Some(process(2)));
        })
        .when(ends("engineer", over, Done))
        .then_refused(Code::Conflict)
        .then_message("no turn of `engineer@42` is driven under this claim")
        .then_events([])
        .then_stage("implement")
        .when_ended(Done)
        .then_stage("review");
}

#[test]
fn a_claim_that_is_over_is_no_obstacle() {
    let it = given_team().and_turn();
    let over = it.driven().1;

    it.when_ended(Failed)
        .when(begins("engineer", step("implement"), 2, Some(over)))
        .then_accepted()
        .then(|it| assert_eq!((it.turns("engineer").number, it.turns("engineer").attempt), (2, 1)));
}

#[test]
fn whoever_drove_a_step_that_the_item_has_left_gives_way_to_the_next() {
    let it = given_team().and_turn().and(human().moves_to("review"));
    let over = it.driven().1;

    it.when(begins("reviewer", step("review"), 2, None))
        .then_refused(Code::Conflict)
        .when(begins("reviewer", step("review"), 2, Some(over.clone())))
        .then_events(["session_started", "turn_begun"])
        .then(|it| assert_eq!(it.driven().0, "reviewer"))
        .when(ends("engineer", over, Done))
        .then_refused(Code::Conflict);
}

#[test]
fn nothing_is_invoked_that_is_not_to_be_done_now() {
    let refused = |it: Scenario| {
        it.when(begins("engineer", step("implement"), 1, None))
            .then_refused(Code::InvalidTransition)
            .then_message("`engineer@42` has nothing to do on item `42`")
            .then_events([])
    };

    refused(given_team().and(engineer().asks("human", "Which bank?")))
        .then(|it| assert_eq!(it.work(), Work::Waits(Q1.parse().unwrap())));
    refused(given_team().and(human().moves_to("review"))).then_next("reviewer", step("review"));
    refused(given_team().and(human().moves_to("blocked"))).then_work(&Work::Over);
    refused(given_team().and(human().moves_to("ready_to_merge"))).then_work(&Work::Over);
    refused(given_team().and(human().ends_as(Outcome::Merged))).then_work(&Work::Over);
    refused(given_team().and(engineer().asks("architect", "Which auth?"))).then_work(&Work::Waits(Q1.parse().unwrap()));
    refused(given_implementing()).then_work(&Work::Outside(name("engineer")));
    refused(given_team().rules(|rules| drop(rules.config.agents.remove(&name("engineer")))))
        .then_work(&Work::Outside(name("engineer")));
    refused(given_team().workflow(|workflow| drop(workflow.steps.remove(2)))).then_work(&Work::Over);
    given_team().when(begins("architect", step("implement"), 1, None)).then_refused(Code::InvalidTransition);
    given_team().when(begins("engineer", Purpose::Happening(1), 1, None)).then_refused(Code::InvalidTransition);
}

#[test]
fn a_turn_goes_on_when_the_question_of_its_session_is_answered() {
    given_team()
        .and(engineer().asks("architect", "Which auth?"))
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .and(architect().replies(Q1, 1, reply("JWT")))
        .then_next("engineer", step("implement"))
        .and(engineer().asks("human", "Which bank?"))
        .then_work(&Work::Waits("CLR-42-003".parse().unwrap()))
        .and(human().answers("CLR-42-003", "any"))
        .then_next("engineer", step("implement"));
}

#[test]
fn what_becomes_known_of_a_turn_is_kept_for_the_next_one() {
    let handle = |name: &str| Some(name.parse::<ProgramHandle>().unwrap());
    let it = given_team().and_turn();
    let claim = it.driven().1;
    let note = |program, handle| turns("engineer", TurnDeed::Note { claim: claim.clone(), program, handle });

    it.when(note(Some(process(9)), None))
        .then_events(["turn_noted"])
        .and(note(None, handle("c-1")))
        .then(|it| {
            assert_eq!(it.turns("engineer").program, Some(process(9)), "what is known stays known");
            assert_eq!(it.turns("engineer").handle, handle("c-1"));
        })
        .when_ended(Failed)
        .when(note(None, handle("c-2")))
        .then_refused(Code::Conflict)
        .and_turn()
        .then(|it| {
            assert_eq!(
                (it.turns("engineer").program.clone(), it.turns("engineer").handle.clone()),
                (None, handle("c-1"))
            );
        })
        .when_ended(Done);
}

#[test]
fn other_work_of_an_agent_is_begun_in_a_fresh_session_of_its_program() {
    let handle = Some("c-1".parse::<ProgramHandle>().unwrap());
    let it = given_team().workflow(|workflow| workflow.steps[3].agent = name("engineer")).and_turn();
    let note = TurnDeed::Note { claim: it.driven().1, program: None, handle };

    it.and(turns("engineer", note)).when_ended(Done).then_stage("review").and_turn().then(|it| {
        let turns = it.turns("engineer");
        assert_eq!((turns.number, turns.handle.clone(), turns.said.clone()), (2, None, None));
        assert_eq!(turns.purpose, step("review"));
    });
}

#[test]
fn nobody_invokes_agents_but_querent() {
    let turn = || begins("engineer", step("implement"), 1, None).action;
    for by in [engineer, human] {
        given_team()
            .when(by().does(turn()))
            .then_refused(Code::InvalidInput)
            .then_message("only Querent itself")
            .and(engineer().asks("architect", "Which auth?"))
            .when(by().does(calls(Q1, 1, None).action))
            .then_refused(Code::InvalidInput);
    }
    given_team().when(agent("nobody").does(turn())).then_refused(Code::UnknownAgent);
}

#[test]
fn querent_itself_says_nothing_in_the_name_of_others() {
    given_team()
        .when(querent().sends("Hello"))
        .then_refused(Code::InvalidInput)
        .and(engineer().asks("architect", "Which auth?"))
        .when(querent().replies(Q1, 1, reply("JWT")))
        .then_refused(Code::InvalidInput);
}

#[test]
fn between_turns_a_session_waits_and_is_not_stuck() {
    given_team()
        .and_turn()
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::Working))
        .and(engineer().asks("architect", "Which auth?"))
        .when_ended(Done)
        .then(|it| {
            let session = it.session("engineer@42");
            assert_eq!(session.status, SessionStatus::BlockedClarification);
            assert_eq!(session.clarification_id.unwrap().to_string(), Q1);
            assert_eq!(it.session("architect@42").status, SessionStatus::Clarifying);
        })
        .later("25m")
        .when_monitored()
        .then_findings([])
        .and(architect().answers(Q1, "JWT"))
        .later("60m")
        .when_monitored()
        .then_findings([])
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::Working))
        .and_turn()
        .later("10m")
        .when_monitored()
        .then_findings([("component_down", "engineer@42"), ("stuck_task", "engineer@42")])
        .when_ended(Failed)
        .later("60m")
        .when_monitored()
        .then_findings([]);
}

#[test]
fn what_a_human_is_asked_about_a_turn_that_does_not_get_on_is_moot_when_it_ends() {
    given_team()
        .and_turn()
        .later("20m")
        .when_monitored()
        .then_events(["question_asked"])
        .when_ended(Failed)
        .then_events(["turn_ended", "question_withdrawn"])
        .and_turn()
        .later("20m")
        .when_monitored()
        .then_events(["question_asked"])
        .when_ended(Done)
        .then_events(["turn_ended", "session_finished", "item_moved", "question_withdrawn"])
        .then(|it| assert!(it.question(Q2).status.is_final()));
}

#[test]
fn a_turn_that_was_given_up_may_still_end_and_the_next_starts_the_session_again() {
    let it = given_team().and_turn();
    let (session, since) = ("engineer@42".parse().unwrap(), it.now);
    let lose = Action::LoseSession { session, since, reason: "so".to_owned(), to: None };

    it.and(querent().does(lose))
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::Stuck))
        .when_ended(Failed)
        .then_events(["turn_ended"])
        .when(begins("engineer", step("implement"), 2, None))
        .then_events(["session_started", "turn_begun"])
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::Working));
}

#[test]
fn the_items_of_a_project_have_their_turns_apart() {
    let it = given_team().and_turn().item("43");
    let begin = Action::Turn {
        session: "product-manager@43".parse().unwrap(),
        deed: Box::new(TurnDeed::Begin { purpose: step("requirements"), process: None, over: None }),
    };

    it.when(on("43", querent().does(begin))).then_events(["session_started", "turn_begun"]);
}
