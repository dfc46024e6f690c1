//! Agents that wait for each other.
//!
//! Sessions wait for agents (blocking questions) and for sessions (files). A session goes on when all that it waits for comes;
//! an agent can answer while any of its sessions goes on. Whoever cannot go on, however the others do, is in a deadlock; the
//! knots in it are the strongly connected parts of the graph, and one wait of each is broken until none is left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{Deed, Finding, FindingKind, Gathered, Open, Scene, Severity};
use crate::command::{Action, Cause};
use crate::id::{AgentName, ItemId, QuestionId, SessionId};
use crate::item::OpenQuestion;
use crate::moment::Moment;
use crate::path::ProjectPath;
use crate::policy::Rules;
use crate::resources::{Index, Lock};
use crate::table::Table;

pub(super) fn find<'a>(
    scene: &Scene<'a>,
    gathered: &Gathered<'a>,
    rules: &'a Rules,
    leaving: &BTreeSet<QuestionId>,
    at: Moment,
) -> Vec<Finding> {
    let mut waits = Waits::of(scene, gathered, rules, leaving, at);
    let mut findings = Vec::new();
    loop {
        let circles = waits.circles(|wait| !wait.human);
        if circles.is_empty() {
            break;
        }
        for circle in circles {
            let broken = waits.yields(&circle, rules);
            findings.push(waits.finding(&circle, broken, true));
            waits.graph[broken].broken = true;
        }
    }
    // What a human has already is shown: whoever answers it sets the others free.
    for circle in waits.circles(|_| true) {
        if let Some(with_human) = circle.iter().find(|wait| waits.graph[**wait].human) {
            findings.push(waits.finding(&circle, *with_human, false));
        }
    }
    findings
}

/// Who can wait, and can be waited for.
#[derive(Clone, Copy)]
enum Node<'a> {
    /// Goes on when all that it waits for comes.
    Session(&'a AgentName),
    /// Goes on when any of its sessions does.
    Agent(&'a AgentName),
}

impl<'a> Node<'a> {
    fn agent(self) -> &'a AgentName {
        match self {
            Self::Session(agent) | Self::Agent(agent) => agent,
        }
    }
}

/// One wait of one session, or an agent's hope for one of its sessions.
struct Edge<'a> {
    cause: Why<'a>,
    /// A human has it, or gets it for another reason: it is no wait that could be broken.
    human: bool,
    /// It is on its way to the human.
    leaving: bool,
    /// It was broken in this survey.
    broken: bool,
}

impl<'a> Edge<'a> {
    fn of(cause: Why<'a>) -> Self {
        Self { cause, human: false, leaving: false, broken: false }
    }
}

#[derive(Clone, Copy)]
enum Why<'a> {
    Question(&'a ItemId, u32, &'a OpenQuestion),
    Lock {
        waiter: &'a SessionId,
        since: Moment,
        path: &'a ProjectPath,
        lock: &'a Lock,
        /// That of the holder.
        rank: u32,
    },
    /// An agent answers in one of its sessions.
    Session,
}

type Place = petgraph::graph::EdgeIndex;

struct Waits<'a> {
    graph: DiGraph<Node<'a>, Edge<'a>>,
    /// By a copy of their id: what a reference leads to is far away.
    sessions: Table<SessionId, NodeIndex>,
    agents: Table<&'a AgentName, NodeIndex>,
    ranks: Table<&'a AgentName, u32>,
}

impl<'a> Waits<'a> {
    fn of(
        scene: &Scene<'a>,
        gathered: &Gathered<'a>,
        rules: &'a Rules,
        leaving: &BTreeSet<QuestionId>,
        at: Moment,
    ) -> Self {
        let most = gathered.open.len() + scene.resources.waits.len();
        let graph = DiGraph::with_capacity(most, 2 * most);
        let mut waits = Self {
            graph,
            sessions: Table::default(),
            agents: Table::default(),
            ranks: rules.config.agents.iter().map(|(name, agent)| (name, agent.rank)).collect(),
        };
        waits.sessions.reserve(most);
        let blocking = || gathered.open.iter().filter(|open| open.question.blocking);
        // Only of a question that a human has it must be looked up whom it went to first.
        let with_human = blocking().any(|open| open.question.to.is_human());
        let looked_up = if with_human { scene.questions } else { &[] };
        let escalated = looked_up.iter().filter(|it| it.to.is_human());
        let asked: BTreeMap<QuestionId, &AgentName> =
            escalated.filter_map(|it| Some((it.id.clone(), it.asked.agent()?))).collect();
        let questions: Vec<(Open<'a>, &AgentName)> = blocking()
            .filter_map(|open| Some((*open, open.question.to.agent().or_else(|| asked.get(&open.id()).copied())?)))
            .collect();
        // Only of an agent that is asked does it matter who could answer.
        for (_, to) in &questions {
            waits.agent(to);
        }
        for (Open { item, number, question }, to) in questions {
            let leaving = !leaving.is_empty() && leaving.contains(&item.question_id(number));
            let human = question.to.agent().is_none() || leaving;
            let edge = Edge { human, leaving, ..Edge::of(Why::Question(&item.id, number, question)) };
            let (from, to) = (waits.session(&question.session, &question.agent), waits.agent(to));
            waits.graph.add_edge(from, to, edge);
        }
        let index = Index::of(scene.resources, at);
        for (session, wait) in scene.waiting_for_files(at) {
            for path in &wait.paths {
                for (_, lock) in index.overlapping(path).filter(|(_, lock)| lock.session != *session) {
                    let rank = waits.rank(&lock.agent, rules);
                    let cause = Why::Lock { waiter: session, since: wait.since, path, lock, rank };
                    let waiter = waits.session(session, &wait.agent);
                    let holder = waits.session(&lock.session, &lock.agent);
                    waits.graph.add_edge(waiter, holder, Edge::of(cause));
                }
            }
        }
        for busy in &gathered.busy {
            if waits.agents.contains_key(&busy.agent) {
                waits.session(busy.id, &busy.session.agent);
            }
        }
        waits
    }

    fn rank(&self, agent: &AgentName, rules: &Rules) -> u32 {
        self.ranks.get(agent).copied().unwrap_or_else(|| rules.rank(agent))
    }

    fn agent(&mut self, agent: &'a AgentName) -> NodeIndex {
        let graph = &mut self.graph;
        *self.agents.entry(agent).or_insert_with(|| graph.add_node(Node::Agent(agent)))
    }

    /// A session, where its agent can answer if that is asked.
    fn session(&mut self, id: &SessionId, agent: &'a AgentName) -> NodeIndex {
        let (graph, agents) = (&mut self.graph, &self.agents);
        *self.sessions.entry(id.clone()).or_insert_with(|| {
            let place = graph.add_node(Node::Session(agent));
            if let Some(agent) = agents.get(agent) {
                graph.add_edge(*agent, place, Edge::of(Why::Session));
            }
            place
        })
    }

    /// One circle of waits out of each knot of those that cannot go on, if only waits that `count` are looked at.
    fn circles(&self, count: impl Fn(&Edge<'_>) -> bool) -> Vec<Vec<Place>> {
        let counts = |edge: &Edge<'_>| !edge.broken && count(edge);
        let held = self.held(&counts);
        if !held.contains(&true) {
            return Vec::new();
        }
        let knot = self
            .graph
            .filter_map(|place, _| held[place.index()].then_some(place), |place, edge| counts(edge).then_some(place));
        let mut knots = petgraph::algo::kosaraju_scc(&knot);
        for knot in &mut knots {
            knot.sort_unstable();
        }
        knots.sort_unstable();
        knots.iter().filter_map(|members| shortest(&knot, members)).collect()
    }

    /// Who cannot go on, however the others do.
    fn held(&self, counts: &impl Fn(&Edge<'_>) -> bool) -> Vec<bool> {
        let mut held = vec![true; self.graph.node_count()];
        let waits = |place: NodeIndex| self.graph.edges(place).filter(|edge| counts(edge.weight())).count();
        let mut left: Vec<usize> = self.graph.node_indices().map(waits).collect();
        let mut free: VecDeque<NodeIndex> = self.graph.node_indices().filter(|it| left[it.index()] == 0).collect();
        for place in &free {
            held[place.index()] = false;
        }
        while let Some(place) = free.pop_front() {
            for edge in self.graph.edges_directed(place, petgraph::Direction::Incoming) {
                let waiter = edge.source();
                if !counts(edge.weight()) || !held[waiter.index()] {
                    continue;
                }
                left[waiter.index()] -= 1;
                let any_will_do = matches!(self.graph[waiter], Node::Agent(_));
                if any_will_do || left[waiter.index()] == 0 {
                    held[waiter.index()] = false;
                    free.push_back(waiter);
                }
            }
        }
        held
    }

    /// The wait of a circle that is given up: the question of the most downstream asker; in a circle of files alone, the
    /// files of the most downstream holder. Of equal ones, the youngest.
    fn yields(&self, circle: &[Place], rules: &Rules) -> Place {
        let key = |place: &Place| match self.graph[*place].cause {
            Why::Question(item, number, question) => {
                (2, self.rank(&question.agent, rules), question.created_at, Some((item, number)), None)
            }
            Why::Lock { waiter, since, rank, .. } => (1, rank, since, None, Some(waiter)),
            Why::Session => (0, 0, Moment::from_millis(0), None, None),
        };
        circle.iter().max_by_key(|place| key(place)).copied().unwrap_or_default()
    }

    /// What is told of a circle, from the wait on that it is about.
    fn finding(&self, circle: &[Place], about: Place, breaks: bool) -> Finding {
        let start = circle.iter().position(|place| *place == about).unwrap_or_default();
        let round = || circle[start..].iter().chain(&circle[..start]);
        let waits = || round().filter(|place| !matches!(self.graph[**place].cause, Why::Session));
        let agent = |place: &Place| self.graph.edge_endpoints(*place).map(|(from, _)| self.graph[from].agent().clone());
        let mut cycle: Vec<AgentName> = waits().filter_map(agent).collect();
        cycle.extend(cycle.first().cloned());
        let text = cycle.iter().map(AgentName::as_str).collect::<Vec<_>>().join(" → ");
        let item = match self.graph[about].cause {
            Why::Question(item, ..) => Some(item),
            Why::Lock { lock, .. } => Some(&lock.item),
            Why::Session => None,
        };
        Finding {
            kind: FindingKind::Deadlock,
            severity: if breaks || self.graph[about].leaving { Severity::Critical } else { Severity::Info },
            item: item.cloned(),
            question_id: self.question(about),
            source: None,
            cycle: Some(cycle),
            evidence: waits().map(|place| self.evidence(*place)).collect(),
            actions: if breaks { self.deed(about, text).into_iter().collect() } else { Vec::new() },
        }
    }

    fn question(&self, place: Place) -> Option<QuestionId> {
        match self.graph[place].cause {
            Why::Question(item, number, _) => Some(QuestionId { item: item.clone(), number }),
            Why::Lock { .. } | Why::Session => None,
        }
    }

    fn evidence(&self, place: Place) -> String {
        match self.graph[place].cause {
            Why::Question(item, number, question) => {
                let id = QuestionId { item: item.clone(), number };
                let to = if question.to.is_human() { "a human".to_owned() } else { question.to.to_string() };
                format!("{} waits for {to} ({id})", question.session)
            }
            Why::Lock { waiter, path, lock, .. } => {
                format!("{waiter} waits for `{path}`, which {} holds", lock.session)
            }
            Why::Session => String::new(),
        }
    }

    fn deed(&self, place: Place, cycle: String) -> Option<Deed> {
        match self.graph[place].cause {
            Why::Question(item, number, _) => {
                Some(Deed::escalate(&QuestionId { item: item.clone(), number }, Cause::Deadlock, cycle))
            }
            Why::Lock { lock, .. } => {
                let (from, to) = self.graph.edge_endpoints(place)?;
                let between = self.graph.edges_connecting(from, to).filter_map(|edge| match edge.weight().cause {
                    Why::Lock { path, .. } => Some(path),
                    Why::Question(..) | Why::Session => None,
                });
                let session = lock.session.clone();
                let action = Action::Preempt { session, wanted: between.cloned().collect(), cycle };
                Some(Deed::item(&lock.item, action))
            }
            Why::Session => None,
        }
    }
}

/// The shortest circle through the first of the members, as waits; none if it is no circle.
fn shortest(knot: &DiGraph<NodeIndex, Place>, members: &[NodeIndex]) -> Option<Vec<Place>> {
    let start = *members.first()?;
    let inside: BTreeSet<NodeIndex> = members.iter().copied().collect();
    let mut came: BTreeMap<NodeIndex, (NodeIndex, Place)> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(place) = next.pop_front() {
        let mut edges: Vec<_> = knot.edges(place).filter(|edge| inside.contains(&edge.target())).collect();
        edges.sort_unstable_by_key(|edge| *edge.weight());
        for edge in edges {
            if edge.target() == start {
                let mut circle = vec![*edge.weight()];
                let mut at = place;
                while at != start {
                    let (from, wait) = came[&at];
                    circle.push(wait);
                    at = from;
                }
                circle.reverse();
                return Some(circle);
            }
            came.entry(edge.target()).or_insert_with(|| {
                next.push_back(edge.target());
                (place, *edge.weight())
            });
        }
    }
    None
}
