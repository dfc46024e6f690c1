//! What was learned, as people and agents see it.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::learned::Learned;

/// A learned answer without what only Querent needs.
pub struct LearnedView<'a>(pub &'a Learned);

impl Serialize for LearnedView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let it = self.0;
        let mut fields = serializer.serialize_struct("Learned", 13)?;
        fields.serialize_field("id", &it.id)?;
        fields.serialize_field("pattern", &it.pattern)?;
        fields.serialize_field("prompt", &it.prompt)?;
        fields.serialize_field("category", &it.category)?;
        fields.serialize_field("tags", &it.tags)?;
        fields.serialize_field("answer", &it.answer)?;
        fields.serialize_field("confidence", &it.confidence)?;
        fields.serialize_field("uses", &it.uses)?;
        fields.serialize_field("overruled", &it.overruled)?;
        fields.serialize_field("source", &it.source)?;
        fields.serialize_field("status", &it.status)?;
        fields.serialize_field("learned_at", &it.learned_at)?;
        fields.serialize_field("used_at", &it.used_at)?;
        fields.end()
    }
}
