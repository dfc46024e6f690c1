//! Links of notifications: signed, for one round of one question, and for a while.
//!
//! A link answers at most once, because a question can be answered once in a round, and a link names its round.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use querent_core::{ChannelKind, ChannelName, Code, Moment, Question, QuestionId, Refusal, Span, Via, canonical};
use serde_json::Value;
use sha2::Sha256;

use crate::project::Project;
use crate::secrets::Key;

/// How long a link may lie in somebody's inbox.
const LASTS: Span = Span::minutes(7 * 24 * 60);
/// How much of a signature a link bears, and how much the button of a chat.
const SIGNED: usize = 16;
const SIGNED_BUTTON: usize = 8;
/// What is signed is signed for one purpose.
const FOR_LINK: &[u8] = b"link\0";
const FOR_BUTTON: &[u8] = b"button\0";

/// Makes links and reads them. Its key stands in the project, so links outlive the server that made them.
#[derive(Clone)]
pub struct Links {
    key: Vec<u8>,
}

/// What a link is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The question.
    pub question: QuestionId,
    /// The round of it.
    pub round: u32,
    /// The answer that it gives; none if it only opens the question.
    pub answer: Option<Value>,
    /// The channel that it was sent through.
    pub channel: ChannelName,
    /// What sort of channel that is.
    pub kind: ChannelKind,
    /// When it is of no use any more.
    pub expires_at: Moment,
}

impl Link {
    /// One that opens a question, from now on.
    pub fn to(question: &Question, channel: &ChannelName, kind: ChannelKind, now: Moment) -> Self {
        let expires_at = now.plus(LASTS).min(question.expires_at.unwrap_or(now.plus(LASTS)));
        let (id, round) = (question.id.clone(), question.round);
        Self { question: id, round, answer: None, channel: channel.clone(), kind, expires_at }
    }

    /// The same, and answers.
    #[must_use]
    pub fn answering(&self, answer: Value) -> Self {
        Self { answer: Some(answer), ..self.clone() }
    }

    /// The surface through which its answer comes.
    pub fn via(&self) -> Via {
        self.kind.into()
    }
}

impl Links {
    /// Those of a project; their key is made if there is none.
    pub fn open(project: &Project) -> Result<Self, Refusal> {
        let key = Key::of(project, "links")?.bytes().to_vec();
        Ok(Self { key })
    }

    /// Where somebody goes who follows the link: to a confirmation if it answers, else to the question.
    pub fn url(&self, base: &str, link: &Link) -> String {
        let signed = self.sign(link);
        match link.answer {
            Some(_) => format!("{base}/a/{signed}"),
            None => format!("{base}/q/{}?n={signed}", link.question),
        }
    }

    /// What a link says, as it stands after `/a/` or `?n=`.
    pub fn read(&self, signed: &str, now: Moment) -> Result<Link, Refusal> {
        let link = self.unsign(signed).ok_or_else(|| {
            let message = "this link was not made by this project, or is incomplete";
            Refusal::new(Code::Unauthorized, message, "copy it whole, or open the question in the inbox")
        })?;
        if link.expires_at <= now {
            let message = format!("this link to {} has expired at {}", link.question, link.expires_at);
            return Err(Refusal::new(Code::Unauthorized, message, "open the question in the inbox")
                .with(serde_json::json!({ "question_id": link.question, "expired_at": link.expires_at })));
        }
        Ok(link)
    }

    fn sign(&self, link: &Link) -> String {
        let Link { question, round, answer, channel, kind, expires_at } = link;
        let fields = serde_json::json!([question, round, answer, channel, kind, expires_at.millis()]);
        let text = canonical::text(&fields);
        let mac = self.mac(FOR_LINK, text.as_bytes());
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&mac[..SIGNED]))
    }

    fn unsign(&self, signed: &str) -> Option<Link> {
        let (text, mac) = signed.split_once('.')?;
        let (text, mac) = (URL_SAFE_NO_PAD.decode(text).ok()?, URL_SAFE_NO_PAD.decode(mac).ok()?);
        self.holds(FOR_LINK, &text, &mac, SIGNED).then_some(())?;
        let (question, round, answer, channel, kind, millis): (_, _, _, _, _, i64) =
            serde_json::from_slice(&text).ok()?;
        Some(Link { question, round, answer, channel, kind, expires_at: Moment::from_millis(millis) })
    }

    /// What the button of a chat carries for one of a question's choices: 64 bytes at most, else nothing.
    pub(crate) fn button(&self, question: &QuestionId, round: u32, choice: usize) -> Option<String> {
        let text = format!("{question}:{round}:{choice}");
        let mac = URL_SAFE_NO_PAD.encode(&self.mac(FOR_BUTTON, text.as_bytes())[..SIGNED_BUTTON]);
        Some(format!("{text}:{mac}")).filter(|button| button.len() <= 64)
    }

    /// What a button says; nothing if it is not ours.
    pub(crate) fn read_button(&self, button: &str) -> Option<(QuestionId, u32, usize)> {
        let (text, mac) = button.rsplit_once(':')?;
        self.holds(FOR_BUTTON, text.as_bytes(), &URL_SAFE_NO_PAD.decode(mac).ok()?, SIGNED_BUTTON).then_some(())?;
        let mut parts = text.rsplitn(3, ':');
        let (choice, round, question) = (parts.next()?, parts.next()?, parts.next()?);
        Some((question.parse().ok()?, round.parse().ok()?, choice.parse().ok()?))
    }

    fn mac(&self, purpose: &[u8], text: &[u8]) -> [u8; 32] {
        signature(&self.key, &[purpose, text].concat())
    }

    fn holds(&self, purpose: &[u8], text: &[u8], mac: &[u8], length: usize) -> bool {
        let Ok(mut known) = Hmac::<Sha256>::new_from_slice(&self.key) else { return false };
        known.update(purpose);
        known.update(text);
        mac.len() == length && known.verify_truncated_left(mac).is_ok()
    }
}

/// HMAC-SHA256.
pub(crate) fn signature(key: &[u8], text: &[u8]) -> [u8; 32] {
    // A key of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// In hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(text: &str) -> Moment {
        text.parse().unwrap()
    }

    fn link() -> Link {
        Link {
            question: "CLR-42-001".parse().unwrap(),
            round: 2,
            answer: Some(json!("jwt")),
            channel: "pager".parse().unwrap(),
            kind: ChannelKind::Webhook,
            expires_at: at("2026-02-07T10:00:00Z"),
        }
    }

    fn links() -> Links {
        Links { key: vec![7; 32] }
    }

    #[test]
    fn a_link_says_what_it_was_made_for_and_its_page_is_the_confirmation() {
        let url = links().url("https://querent.example", &link());
        let signed = url.strip_prefix("https://querent.example/a/").unwrap();

        assert_eq!(links().read(signed, at("2026-02-01T00:00:00Z")).unwrap(), link());
        let opens = links().url("http://here", &Link { answer: None, ..link() });
        assert!(opens.starts_with("http://here/q/CLR-42-001?n="), "{opens}");
    }

    #[test]
    fn a_link_that_was_changed_in_any_place_or_made_with_another_key_is_refused() {
        let signed = links().sign(&link());
        let now = at("2026-02-01T00:00:00Z");
        for place in 0..signed.len() {
            let other = if &signed[place..=place] == "A" { "B" } else { "A" };
            let changed = format!("{}{other}{}", &signed[..place], &signed[place + 1..]);
            // The last letter of each part has bits that say nothing.
            if links().unsign(&changed) == Some(link()) {
                assert!(place + 1 == signed.len() || signed.as_bytes()[place + 1] == b'.');
                continue;
            }
            assert_eq!(links().read(&changed, now).unwrap_err().code, Code::Unauthorized, "{place}");
        }
        assert!(Links { key: vec![8; 32] }.read(&signed, now).is_err());
        for text in ["", ".", "a.b", "CLR-42-001"] {
            assert!(links().read(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn a_link_expires_and_says_so() {
        let refusal = links().read(&links().sign(&link()), link().expires_at).unwrap_err();

        assert_eq!(refusal.code, Code::Unauthorized);
        assert!(refusal.message.contains("expired"), "{}", refusal.message);
    }

    #[test]
    fn a_button_is_ours_and_fits_or_there_is_none() {
        let (id, long) = ("CLR-42-001".parse().unwrap(), format!("CLR-{}-001", "a".repeat(64)).parse().unwrap());

        let button = links().button(&id, 3, 1).unwrap();

        assert_eq!(links().read_button(&button), Some((id, 3, 1)));
        assert_eq!(links().read_button(&button.replace(":3:", ":4:")), None);
        assert_eq!(links().button(&long, 1, 0), None);
    }

    #[test]
    fn the_key_is_made_once_and_is_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), None, "feature").unwrap();
        let signed = Links::open(&project).unwrap().sign(&link());

        let again = Links::open(&project).unwrap();

        assert!(again.unsign(&signed).is_some());
        #[cfg(unix)]
        {
            let file = project.dir().join("run/links.key");
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn the_signature_is_hmac_sha256() {
        // RFC 4231, test case 2.
        let mac = signature(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
