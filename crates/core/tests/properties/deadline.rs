//! A fallback never fires for a question that was answered before its deadline, whatever happens around it in which order.

use proptest::prelude::*;
use querent_core::{
    Action, Ask, Command, Fallback, Moment, Party, Provenance, QuestionId, Risk, Rules, Span, State, Status, Ticket,
    Via, apply, tick,
};
use serde_json::json;

use crate::project;

const BEGIN: i64 = 1_790_000_000_000;
const PATIENCE: u64 = 2;

/// What happens around the deadline, at so many milliseconds before or after it.
#[derive(Clone, Copy, Debug)]
enum Near {
    Answer(i64),
    Look(i64),
    /// Somebody who has an old idea of the time sends the expiry itself.
    Expire(i64),
}

impl Near {
    fn when(self) -> i64 {
        match self {
            Self::Answer(when) | Self::Look(when) | Self::Expire(when) => when,
        }
    }
}

fn near() -> impl Strategy<Value = Vec<Near>> {
    let other = prop_oneof![(-3..=3_i64).prop_map(Near::Look), (-3..=3_i64).prop_map(Near::Expire)];
    (prop::collection::vec(other, 0..6), -3..=3_i64).prop_flat_map(|(mut others, answer)| {
        others.push(Near::Answer(answer));
        Just(others).prop_shuffle()
    })
}

struct Scene {
    state: State,
    rules: Rules,
    operations: u32,
}

impl Scene {
    fn says(&mut self, by: Party, action: Action, at: Moment) -> bool {
        self.operations += 1;
        let command = Command { item: "42".parse().unwrap(), by, via: Via::Library, action };
        let ticket = Ticket::new(format!("op-{}", self.operations).parse().unwrap(), &command);
        apply(&mut self.state, &command, &ticket, &self.rules, at).reply.as_str().starts_with("{\"ok\":true")
    }

    /// A blocking question to a human with a fallback.
    fn asked() -> Self {
        let mut scene = Self { state: State::default(), rules: project::rules(), operations: 0 };
        let begin = Moment::from_millis(BEGIN);
        assert!(scene.says(
            Party::HUMAN,
            Action::OpenItem { title: "T".into(), workflow: None, autonomy: None },
            begin
        ));
        assert!(scene.says(Party::HUMAN, Action::Advance { to: "implement".into() }, begin));
        let ask = Ask {
            to: Some(Party::HUMAN),
            topic: "Store".into(),
            prompt: "Where?".into(),
            fallback: Some(Fallback { answer: json!("disk"), reason: "safe".into(), risk: Risk::Low }),
            expires_in: Some(Span::minutes(PATIENCE)),
            ..Ask::default()
        };
        assert!(scene.says("engineer".parse().unwrap(), Action::Ask(Box::new(ask)), begin));
        scene
    }
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn an_answer_before_the_deadline_stands_and_a_later_one_finds_the_fallback(mut deeds in near()) {
        // What happens at the same moment happens in any order.
        deeds.sort_by_key(|deed| deed.when());
        let (mut scene, id) = (Scene::asked(), QuestionId { item: "42".parse().unwrap(), number: 1 });
        let deadline = scene.state.questions[&id].expires_at.unwrap();
        let mut answered = None;
        for deed in deeds {
            let at = Moment::from_millis(deadline.millis() + deed.when());
            match deed {
                Near::Answer(when) => {
                    let answer = Action::Answer { question: id.clone(), answer: json!("cloud"), note: None };
                    prop_assert!(scene.says(Party::HUMAN, answer, at));
                    answered = Some(when);
                }
                Near::Look(_) => drop(tick(&mut scene.state, &scene.rules, at)),
                Near::Expire(_) => drop(scene.says(Party::Querent, Action::Expire { question: id.clone() }, at)),
            }
        }
        let (question, item) = (&scene.state.questions[&id], scene.state.item.as_ref().unwrap());
        let answer = question.answer.as_ref().unwrap();
        // The human's word is the answer in any case; only what happened meanwhile differs.
        prop_assert_eq!((&answer.value, answer.provenance), (&json!("cloud"), Provenance::Human));
        let in_time = answered.unwrap() < 0;
        prop_assert_eq!(question.status, if in_time { Status::Resolved } else { Status::Expired });
        prop_assert_eq!(item.assumptions.len(), usize::from(!in_time));
        prop_assert_eq!(item.needs_rework, !in_time);
        prop_assert_eq!(item.stage.as_str(), "implement");
    }
}
