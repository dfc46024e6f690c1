//! Alerts are raised once, and acknowledged by people.

use serde_json::json;

use crate::alert::Alarm;
use crate::event::{AlertAcknowledged, AlertRaised, Event};
use crate::id::AlertId;
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::refusal::{Code, Refusal};
use crate::state::State;

/// An alert; none if the same was said lately.
pub(super) fn raise(state: &State, alarm: Alarm, at: Moment) -> Option<Event> {
    let alert = AlertId(state.alerts.raised.saturating_add(1));
    (!state.alerts.said(alarm.kind, &alarm.source, at)).then(|| AlertRaised { alert, alarm }.into())
}

pub(super) fn acknowledge(state: &State, alert: AlertId, by: &Party, via: Via) -> Result<Event, Refusal> {
    if !by.is_human() {
        let message = format!("only a person may acknowledge an alert, not {by}");
        return Err(Refusal::new(Code::HumanOnly, message, "leave it to a person").with(json!({ "alert_id": alert })));
    }
    let known = state.alerts.recent.get(&alert.0).ok_or_else(|| {
        let message = format!("there is no alert `{alert}`, or it is too old to be kept");
        Refusal::invalid("alert_id", message, "list them: querent alerts --all")
    })?;
    if let (true, Some(who)) = (known.acknowledged, &known.acknowledged_by) {
        let message = format!("{alert} was acknowledged by {who} already");
        return Err(Refusal::new(Code::InvalidTransition, message, "there is nothing left to do")
            .with(json!({ "alert_id": alert, "acknowledged_by": who })));
    }
    Ok(AlertAcknowledged { alert, via }.into())
}
