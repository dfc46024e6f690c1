//! Who waits for whom, as a picture: everybody on an oval, and an arrow for every wait.

#![expect(clippy::cast_precision_loss, reason = "a picture has few nodes and short names")]

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use askama::Template;
use axum::response::Response;
use querent_core::Refusal;
use querent_core::view::Waits;

use super::{Page, Visitor};
use crate::text::clean_line;

const WIDTH: f64 = 760.0;
const HALF_HEIGHT: f64 = 17.0;

#[derive(Template)]
#[template(path = "waits.html")]
struct Whole {
    page: Page,
    summary: String,
    description: String,
    width: u32,
    height: u32,
    nodes: Vec<NodeView>,
    edges: Vec<EdgeView>,
}

#[derive(Template)]
#[template(path = "waits_parts.html")]
struct Parts {
    summary: String,
    description: String,
    width: u32,
    height: u32,
    nodes: Vec<NodeView>,
    edges: Vec<EdgeView>,
}

struct NodeView {
    name: String,
    x: i32,
    left: i32,
    top: i32,
    width: i32,
    baseline: i32,
    in_cycle: bool,
}

struct EdgeView {
    from: String,
    to: String,
    path: String,
    sentence: String,
    questions: Vec<String>,
    files: Vec<String>,
    in_cycle: bool,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor
        .show(|visitor| {
            let page = visitor.frame("waits", "Waits", None);
            let Parts { summary, description, width, height, nodes, edges } = draw(&visitor.site.hub.waits()?);
            Ok(Whole { page, summary, description, width, height, nodes, edges })
        })
        .await
}

pub(super) async fn parts(visitor: Visitor) -> Response {
    visitor.show(|visitor| -> Result<Parts, Refusal> { Ok(draw(&visitor.site.hub.waits()?)) }).await
}

/// A place in the picture, and how far a node reaches from it to its sides.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    half: f64,
}

fn draw(waits: &Waits) -> Parts {
    let count = waits.nodes.len().max(1);
    let height = (count as f64 * 44.0).clamp(200.0, 1_200.0);
    let places: Vec<Place> = waits
        .nodes
        .iter()
        .enumerate()
        .map(|(number, node)| {
            // The first stands on the left, and the others follow clockwise.
            let angle = TAU.mul_add(number as f64 / count as f64, TAU / 2.0);
            let half = (node.name.chars().count() as f64).mul_add(4.4, 14.0);
            let (wide, tall) = (WIDTH / 2.0 - 110.0, height / 2.0 - 30.0);
            Place { x: wide.mul_add(angle.cos(), WIDTH / 2.0), y: tall.mul_add(angle.sin(), height / 2.0), half }
        })
        .collect();
    let nodes = waits.nodes.iter().zip(&places).map(|(node, place)| NodeView {
        name: clean_line(&node.name),
        x: whole(place.x),
        left: whole(place.x - place.half),
        top: whole(place.y - HALF_HEIGHT),
        width: whole(place.half * 2.0),
        baseline: whole(place.y + 5.0),
        in_cycle: node.in_cycle,
    });
    let edges = edges(waits, &places);
    let circles = waits.nodes.iter().filter(|node| node.in_cycle).count();
    let summary = match circles {
        0 => "An arrow leads from whoever waits to whom it waits for.".to_owned(),
        count => format!("{count} of them wait for each other in a circle, drawn in red."),
    };
    let description = edges.iter().map(|edge| edge.sentence.clone()).collect::<Vec<_>>().join(" ");
    let (width, height) = (whole(WIDTH).unsigned_abs(), whole(height).unsigned_abs());
    Parts { summary, description, width, height, nodes: nodes.collect(), edges }
}

/// One arrow for all that one waits for from another.
fn edges(waits: &Waits, places: &[Place]) -> Vec<EdgeView> {
    let mut by_pair: BTreeMap<(usize, usize), EdgeView> = BTreeMap::new();
    for edge in &waits.edges {
        let (from, to) = (&waits.nodes[edge.from].name, &waits.nodes[edge.to].name);
        let view = by_pair.entry((edge.from, edge.to)).or_insert_with(|| EdgeView {
            from: clean_line(from),
            to: clean_line(to),
            path: arrow(places[edge.from], places[edge.to]),
            sentence: String::new(),
            questions: Vec::new(),
            files: Vec::new(),
            in_cycle: edge.in_cycle,
        });
        view.questions.extend(edge.question.as_ref().map(ToString::to_string));
        view.files.extend(edge.path.as_ref().map(|path| clean_line(path.as_str())));
    }
    let mut views: Vec<EdgeView> = by_pair.into_values().collect();
    for view in &mut views {
        let what: Vec<&str> = view.questions.iter().chain(&view.files).take(5).map(String::as_str).collect();
        view.sentence = format!("{} waits for {}: {}.", view.from, view.to, what.join(", "));
    }
    views
}

/// A curve from one node's edge to the other's. Two that wait for each other have a curve each.
fn arrow(from: Place, to: Place) -> String {
    if (from.x - to.x).abs() < 1.0 && (from.y - to.y).abs() < 1.0 {
        let (x, y) = (whole(from.x), whole(from.y - HALF_HEIGHT));
        return format!("M{} {y}C{} {} {} {} {} {y}", x - 12, x - 40, y - 50, x + 40, y - 50, x + 12);
    }
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let long = dx.hypot(dy);
    let bend = (from.x.midpoint(to.x) - dy / long * 26.0, from.y.midpoint(to.y) + dx / long * 26.0);
    let (start, end) = (edge_towards(from, bend), edge_towards(to, bend));
    let points = [start, bend, end].map(|(x, y)| format!("{} {}", whole(x), whole(y)));
    format!("M{}Q{} {}", points[0], points[1], points[2])
}

/// Where a line from the middle of a node to a point leaves the node.
fn edge_towards(node: Place, (x, y): (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (x - node.x, y - node.y);
    let across = if dx.abs() < 0.01 { f64::MAX } else { (node.half + 3.0) / dx.abs() };
    let along = if dy.abs() < 0.01 { f64::MAX } else { (HALF_HEIGHT + 3.0) / dy.abs() };
    let share = across.min(along).min(1.0);
    (dx.mul_add(share, node.x), dy.mul_add(share, node.y))
}

#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture that is at most 1200 high")]
fn whole(number: f64) -> i32 {
    number.round() as i32
}
