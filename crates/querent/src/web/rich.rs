//! Text that agents wrote, as HTML that can do nothing. Markdown is read by its own parser, and only what is on our list is passed
//! on: markup of any other sort is shown as the text that it is, and links lead to the web or nowhere.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use querent_core::Moment;

use crate::text::clean;

/// Markdown as harmless HTML.
pub(crate) fn markdown(text: &str) -> String {
    let text = clean(text);
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    let events = Parser::new_ext(&text, options).map(harmless);
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, events);
    out
}

fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        // Raw markup is text.
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        // A heading of a question is none of the page.
        Event::Start(Tag::HtmlBlock | Tag::Heading { .. }) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock | TagEnd::Heading(_)) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => {
            let dest_url = if leads_to_the_web(&dest_url, link_type) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title: CowStr::Borrowed(""), id: CowStr::Borrowed("") })
        }
        // A picture would tell its server who looks, so only its words are shown.
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        // A line that somebody broke is meant to be broken.
        Event::SoftBreak => Event::HardBreak,
        other => other,
    }
}

fn leads_to_the_web(url: &str, link_type: LinkType) -> bool {
    let url = url.trim().to_ascii_lowercase();
    link_type == LinkType::Email || ["https://", "http://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
}

/// How long ago it was, in words.
pub(crate) fn age(now: Moment, then: Moment) -> String {
    now.since(then).rough()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_wrote_is_shown_and_does_nothing() {
        for (written, shown) in [
            ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>\n"),
            ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
            ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"),
            ("[x](javascript:alert(1))", "<p><a href=\"#\">x</a></p>\n"),
            ("[x](JAVASCRIPT:alert(1))", "<p><a href=\"#\">x</a></p>\n"),
            ("[x](data:text/html,<script>)", "<p><a href=\"#\">x</a></p>\n"),
            ("[x](https://a.example \"><script>\")", "<p><a href=\"https://a.example\">x</a></p>\n"),
            ("![pixel](https://spy.example/p.png)", "<p><em>pixel</em></p>\n"),
            ("# Title", "<p>Title</p>\n"),
            ("one\ntwo", "<p>one<br />\ntwo</p>\n"),
            ("abc\u{202e}def\u{2066}x\u{1b}[31m", "<p>abcdefx</p>\n"),
            ("</div></article><h1>x</h1>", "<p>&lt;/div&gt;&lt;/article&gt;&lt;h1&gt;x&lt;/h1&gt;</p>\n"),
        ] {
            assert_eq!(markdown(written), shown, "{written}");
        }
    }

    #[test]
    fn a_great_deal_of_text_is_rendered_all_the_same() {
        let nested = format!("{}x", "> ".repeat(5_000));
        let brackets = "[".repeat(50_000);
        let stars = "*a ".repeat(100_000);

        for text in [&nested, &brackets, &stars] {
            assert!(markdown(text).len() >= text.len() / 4);
        }
    }
}
