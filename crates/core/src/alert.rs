//! What people should look at: the shared stream `alerts`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Event, Record};
use crate::id::{AlertId, ChannelName};
use crate::moment::{Moment, Span};
use crate::monitor::{FindingKind, Severity};
use crate::party::Party;

/// For how long the same is not said again.
const QUIET: Span = Span::minutes(30);
/// How many alerts are kept.
const MOST: usize = 256;

/// The last alerts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alerts {
    /// How many were raised; the next has the number after it.
    pub raised: u32,
    /// The last ones, by number.
    pub recent: BTreeMap<u32, Alert>,
    /// How many events made it.
    pub version: u64,
}

/// What is wrong, as it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// What was found.
    #[serde(rename = "type")]
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// Whom or what it is about.
    pub source: String,
    /// In one sentence.
    pub message: String,
    /// The facts, for a program.
    #[serde(serialize_with = "crate::canonical::value")]
    pub context: Value,
}

/// An alarm that was raised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// `ALR-<NNN>`.
    pub id: AlertId,
    /// What is wrong.
    #[serde(flatten)]
    pub alarm: Alarm,
    /// When it was raised.
    pub created_at: Moment,
    /// Whether somebody has seen it.
    pub acknowledged: bool,
    /// Who has.
    pub acknowledged_by: Option<Party>,
    /// When.
    pub acknowledged_at: Option<Moment>,
    /// The channels through which people were told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ChannelName>,
}

impl Alerts {
    /// Whether the same was said so lately, or seen so lately, that saying it again helps nobody.
    pub fn said(&self, kind: FindingKind, source: &str, at: Moment) -> bool {
        let same = |alert: &&Alert| alert.alarm.kind == kind && alert.alarm.source == source;
        let last = self.recent.values().rev().find(same);
        last.is_some_and(|alert| at.since(alert.acknowledged_at.unwrap_or(alert.created_at)) < QUIET)
    }

    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::AlertRaised(it) => {
                self.raised = self.raised.max(it.alert.0);
                let alert = Alert {
                    id: it.alert,
                    alarm: it.alarm.clone(),
                    created_at: record.at,
                    acknowledged: false,
                    acknowledged_by: None,
                    acknowledged_at: None,
                    told: Vec::new(),
                };
                self.recent.insert(it.alert.0, alert);
                if self.recent.len() > MOST {
                    self.recent.pop_first();
                }
            }
            Event::AlertTold(it) => {
                if let Some(alert) = self.recent.get_mut(&it.alert.0) {
                    alert.told.push(it.channel.clone());
                }
            }
            Event::AlertAcknowledged(it) => {
                if let Some(alert) = self.recent.get_mut(&it.alert.0) {
                    alert.acknowledged = true;
                    alert.acknowledged_by = Some(record.by.clone());
                    alert.acknowledged_at = Some(record.at);
                }
            }
            _ => {}
        }
    }
}
