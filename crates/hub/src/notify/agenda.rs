//! When which question is to be looked at. What it costs does not grow with what waits.

use std::collections::{BTreeMap, BTreeSet};

use querent_core::{Moment, QuestionId};

/// Each question at most once.
#[derive(Default)]
pub(crate) struct Agenda {
    times: BTreeSet<(Moment, QuestionId)>,
    questions: BTreeMap<QuestionId, Moment>,
}

impl Agenda {
    /// It is looked at then, and not when it was to be before; not at all without a time.
    pub(crate) fn set(&mut self, question: &QuestionId, at: Option<Moment>) {
        if let Some(before) = self.questions.remove(question) {
            self.times.remove(&(before, question.clone()));
        }
        if let Some(at) = at {
            self.questions.insert(question.clone(), at);
            self.times.insert((at, question.clone()));
        }
    }

    /// When there is something to do next.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.times.first().map(|(at, _)| *at)
    }

    /// What is to be looked at by now, in order. It is off the agenda.
    pub(crate) fn due(&mut self, now: Moment, most: usize) -> Vec<QuestionId> {
        let due: Vec<QuestionId> =
            self.times.iter().take_while(|(at, _)| *at <= now).take(most).map(|(_, id)| id.clone()).collect();
        for id in &due {
            self.set(id, None);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_stands_on_the_agenda_once_and_comes_in_its_time() {
        let id = |number| QuestionId { item: "42".parse().unwrap(), number };
        let at = Moment::from_millis;
        let mut agenda = Agenda::default();
        for (number, time) in [(1, 10), (2, 20), (3, 30), (1, 40), (3, 5)] {
            agenda.set(&id(number), Some(at(time)));
        }
        agenda.set(&id(2), None);

        assert_eq!(agenda.next(), Some(at(5)));
        assert_eq!(agenda.due(at(39), 9), [id(3)]);
        assert_eq!(agenda.due(at(40), 9), [id(1)]);
        assert_eq!(agenda.next(), None);
    }
}
