//! The project that the tests of the core play in.

use querent_core::{Config, Rules, Workflow};
use serde_json::json;

/// Product manager, architect, engineer and reviewer; each may ask those before it.
pub(crate) fn rules() -> Rules {
    let config: Config = serde_json::from_value(json!({
        "project": { "name": "shop" },
        "agents": {
            "product-manager": { "rank": 1 },
            "architect": { "rank": 2 },
            "engineer": { "rank": 3 },
            "reviewer": { "rank": 4 },
            "bystander": {},
        },
    }))
    .unwrap();
    let feature: Workflow = serde_json::from_value(json!({
        "name": "feature",
        "steps": [
            { "name": "requirements", "agent": "product-manager", "planning": true },
            { "name": "architecture", "agent": "architect", "can_clarify": ["product-manager"], "planning": true },
            { "name": "implement", "agent": "engineer", "can_clarify": ["architect", "product-manager"] },
            { "name": "review", "agent": "reviewer", "can_clarify": ["engineer", "architect"] },
        ],
    }))
    .unwrap();
    Rules { config, workflows: [(feature.name.clone(), feature)].into() }
}

/// The same project with agents that Querent invokes.
pub(crate) fn team() -> Rules {
    let mut rules = rules();
    rules.config.agents.values_mut().for_each(|agent| agent.provider = Some("script".to_owned()));
    rules
}
