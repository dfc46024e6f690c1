//! Who waits for whom, as a graph that can be drawn.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use serde::Serialize;

use crate::id::QuestionId;
use crate::item::Item;
use crate::path::ProjectPath;
use crate::policy::Rules;
use crate::view::LocksView;

/// The rank of those who are not agents, and of agents without one.
const LAST: u32 = 100;

/// All that wait, and for what.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// Agents, and `human`: upstream first.
    pub nodes: Vec<WaitNode>,
    /// Who waits for whom.
    pub edges: Vec<WaitEdge>,
}

/// Somebody who waits or is waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitNode {
    /// An agent's name, or `human`.
    pub name: String,
    /// Upstream ranks first; a person stands before all.
    pub rank: u32,
    /// Whether it is part of a circle.
    pub in_cycle: bool,
}

/// One waits for another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitEdge {
    /// Who waits, as a place among the nodes.
    pub from: usize,
    /// For whom.
    pub to: usize,
    /// The question that is waited for.
    pub question: Option<QuestionId>,
    /// The file that is waited for.
    pub path: Option<ProjectPath>,
    /// Whether it closes a circle.
    pub in_cycle: bool,
}

/// The waits of these items and of those who wait for files.
pub fn waits(items: &[Item], locks: &LocksView, rules: &Rules) -> Waits {
    let mut drawn = Drawn { graph: DiGraph::new(), nodes: BTreeMap::new(), rules };
    for item in items {
        for (number, open) in item.open.iter().filter(|(_, open)| open.blocking) {
            let to = if open.to.is_human() { "human".to_owned() } else { open.to.to_string() };
            drawn.edge(open.agent.as_str(), &to, Some(item.question_id(*number)), None);
        }
    }
    let agents: BTreeMap<_, _> =
        items.iter().flat_map(|item| item.sessions.iter().map(|(id, session)| (id, &session.agent))).collect();
    for lock in &locks.locks {
        for waiter in lock.waiting.iter().filter_map(|session| agents.get(session)) {
            drawn.edge(waiter.as_str(), lock.agent.as_str(), None, Some(lock.path.clone()));
        }
    }
    drawn.finish()
}

struct Drawn<'a> {
    graph: DiGraph<String, (Option<QuestionId>, Option<ProjectPath>)>,
    nodes: BTreeMap<String, NodeIndex>,
    rules: &'a Rules,
}

impl Drawn<'_> {
    fn node(&mut self, name: &str) -> NodeIndex {
        if let Some(known) = self.nodes.get(name) {
            return *known;
        }
        let made = self.graph.add_node(name.to_owned());
        self.nodes.insert(name.to_owned(), made);
        made
    }

    fn edge(&mut self, from: &str, to: &str, question: Option<QuestionId>, path: Option<ProjectPath>) {
        let (from, to) = (self.node(from), self.node(to));
        self.graph.add_edge(from, to, (question, path));
    }

    fn rank(&self, name: &str) -> u32 {
        if name == "human" {
            return 0;
        }
        name.parse().map_or(LAST, |agent| self.rules.rank(&agent))
    }

    fn finish(self) -> Waits {
        let knots: Vec<BTreeSet<NodeIndex>> =
            tarjan_scc(&self.graph).into_iter().map(|knot| knot.into_iter().collect()).collect();
        let closes = |from: NodeIndex, to: NodeIndex| {
            from == to || knots.iter().any(|knot| knot.len() > 1 && knot.contains(&from) && knot.contains(&to))
        };
        let mut order: Vec<NodeIndex> = self.graph.node_indices().collect();
        order.sort_by_key(|node| (self.rank(&self.graph[*node]), self.graph[*node].clone()));
        let places: BTreeMap<NodeIndex, usize> = order.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let mut edges: Vec<WaitEdge> = self
            .graph
            .edge_indices()
            .filter_map(|edge| {
                let (from, to) = self.graph.edge_endpoints(edge)?;
                let (question, path) = self.graph[edge].clone();
                Some(WaitEdge { from: places[&from], to: places[&to], question, path, in_cycle: closes(from, to) })
            })
            .collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let nodes = order.iter().enumerate().map(|(place, node)| WaitNode {
            name: self.graph[*node].clone(),
            rank: self.rank(&self.graph[*node]),
            in_cycle: edges.iter().any(|edge| edge.in_cycle && (edge.from == place || edge.to == place)),
        });
        Waits { nodes: nodes.collect(), edges }
    }
}
