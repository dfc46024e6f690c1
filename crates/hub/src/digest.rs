//! The metrics of the last days, from the journal.

use querent_core::view::{Digest, DigestBuilder};
use querent_core::{ItemId, Refusal, Span};

use crate::handle::Handle;

impl Handle {
    /// The digest of the last `span`, of all items or of one, after what is due. Reads the journal once.
    pub fn digest(&self, span: Span, item: Option<&ItemId>) -> Result<Digest, Refusal> {
        match item {
            Some(id) => self.item(id).map(drop)?,
            None => self.run_due()?,
        }
        let until = self.now();
        let mut builder = DigestBuilder::new(until.minus(span), until);
        self.records(0, &mut |record| {
            if item.is_none_or(|id| record.stream == *id) {
                builder.add(&record);
            }
            true
        })?;
        Ok(builder.finish())
    }
}
