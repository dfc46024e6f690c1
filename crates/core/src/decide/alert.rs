//! Alerts are raised once, and acknowledged by people.

use serde_json::json;

use crate::alert::{Alarm, Alert};
use crate::event::{AlertAcknowledged, AlertRaised, AlertTold, Event};
use crate::id::{AlertId, ChannelName};
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::policy::Rules;
use crate::refusal::{Code, Refusal};
use crate::state::State;

/// An alert; none if the same was said lately.
pub(super) fn raise(state: &State, alarm: Alarm, at: Moment) -> Option<Event> {
    let alert = AlertId(state.alerts.raised.saturating_add(1));
    (!state.alerts.said(alarm.kind, &alarm.source, at)).then(|| AlertRaised { alert, alarm }.into())
}

/// People are told once through each channel that carries its severity, and not of what somebody has seen.
pub(super) fn tell(
    state: &State,
    alert: AlertId,
    channel: &ChannelName,
    by: &Party,
    rules: &Rules,
) -> Result<Event, Refusal> {
    if *by != Party::Querent {
        return Err(Refusal::invalid("by", "only Querent itself notifies", "run the server: querent serve"));
    }
    let carried = &rules.channel(channel)?.severities;
    let known = state.alerts.recent.get(&alert.0);
    let is_news = |it: &Alert| carried.contains(&it.alarm.severity) && !it.acknowledged && !it.told.contains(channel);
    if known.is_none_or(|it| !is_news(it)) {
        let message = format!("{alert} is not for `{channel}` (any more)");
        return Err(Refusal::new(Code::InvalidTransition, message, "leave notifications to Querent"));
    }
    Ok(AlertTold { alert, channel: channel.clone() }.into())
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
