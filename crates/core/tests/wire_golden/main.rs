//! Lines that were written once and must be readable for ever: one golden file for every type of event.
//!
//! `src/wire/golden/v1/<type>.jsonl` holds one line as version 1 writes it. A golden file is never changed: a line that
//! no longer reads or is written otherwise needs a new version and an upcast. `UPDATE_GOLDEN=1 cargo test -p
//! querent-core --test wire_golden` writes the files of *new* types, from the life that `story` tells.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test may read files; the core may not")]

#[path = "../support/project.rs"]
mod project;
mod story;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Once;

use querent_core::event::TurnOutcome;
use querent_core::monitor::FindingKind;
use querent_core::wire::{Damage, LATEST, Line, decode, encode, encode_record, peek, seal, unseal};
use querent_core::{Cause, Event, Provenance, Purpose, Via};
use serde_json::json;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/wire/golden/v1")
}

/// The golden lines, by type, without their ends of line.
fn golden() -> BTreeMap<String, Vec<u8>> {
    static MISSING: Once = Once::new();
    MISSING.call_once(write_missing);
    let files = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let mut line = std::fs::read(&path).unwrap();
        assert_eq!(line.pop(), Some(b'\n'), "{}", path.display());
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), line)
    };
    files.map(read).collect()
}

fn written(line: &Line) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(line, &mut bytes);
    assert_eq!(bytes.pop(), Some(b'\n'));
    bytes
}

/// A line with this body, rightly sealed.
fn sealed(body: &str) -> Vec<u8> {
    let mut line = body.as_bytes().to_vec();
    line.extend(seal(crc32fast::hash(body.as_bytes())).trim_end().bytes());
    line
}

/// The body of a golden line, to be changed.
fn body(line: &[u8]) -> String {
    let (body, _) = unseal(line).unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

/// Writes the lines of types that have none yet, if it is told to. What is there stays as it is.
fn write_missing() {
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return;
    }
    for line in story::one_of_each() {
        let path = directory().join(format!("{}.jsonl", line.record.event.type_name()));
        if !path.exists() {
            std::fs::write(path, [written(&line), vec![b'\n']].concat()).unwrap();
        }
    }
}

#[test]
fn every_type_of_event_has_its_golden_line_and_no_other_is_there() {
    let known: Vec<String> = golden().into_keys().collect();
    let mut types: Vec<&str> = Event::TYPES.to_vec();
    types.sort_unstable();
    assert_eq!(
        known, types,
        "write the files of new types: UPDATE_GOLDEN=1 cargo test -p querent-core --test wire_golden"
    );
}

#[test]
fn every_golden_line_reads_and_is_written_again_byte_for_byte() {
    for (kind, bytes) in golden() {
        let line = decode(&bytes).unwrap_or_else(|damage| panic!("{kind}: {damage}"));
        assert_eq!(line.record.event.type_name(), kind);
        assert_eq!(written(&line), bytes, "{kind}");
    }
}

#[test]
fn the_golden_lines_hold_what_is_hard_to_keep() {
    let lines: BTreeMap<String, Line> =
        golden().into_iter().map(|(kind, bytes)| (kind, decode(&bytes).unwrap())).collect();

    let all = || lines.values();
    assert!(all().any(|line| line.more > 0), "a line that others follow");
    assert!(all().any(|line| line.operation.is_some()), "an operation with its reply");
    assert!(all().any(|line| line.record.operation_id.is_none()), "a deadline");
    let Event::QuestionAsked(asked) = &lines["question_asked"].record.event else { panic!("{lines:?}") };
    assert!(asked.question.prompt.contains('質') && asked.question.prompt.contains('"'));
    assert!(asked.question.details.is_some() && asked.question.fallback.is_some());
    assert_eq!(asked.question.answer, None);
    let Event::QuestionExpired(expired) = &lines["question_expired"].record.event else { panic!("{lines:?}") };
    assert_eq!(expired.answer.as_ref().unwrap().provenance, Provenance::Fallback);
}

#[test]
fn the_words_of_a_team_that_no_golden_line_holds_are_pinned_too() {
    let outcomes: Vec<&str> = TurnOutcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
    assert_eq!(outcomes, ["done", "asked", "failed", "rejected", "stopped"]);
    let others = json!([Purpose::Happening(3), Via::Team, Cause::AgentError, FindingKind::AgentError]);
    assert_eq!(others, json!([{ "happening": 3 }, "team", "agent_error", "agent_error"]));
    let asked_on = story::tell().into_iter().rev().find(|line| line.record.event.type_name() == "question_followed_up");
    assert!(body(&written(&asked_on.unwrap())).contains("\"from\":\"querent\""));
}

#[test]
fn what_the_events_command_shows_is_the_line_without_the_journals_own_fields() {
    let line = decode(&golden()["item_paused"]).unwrap();

    insta::assert_snapshot!(encode_record(&line.record), @r#"{"seq":10,"stream":"42","version":10,"at":"2026-01-31T10:32:03.004Z","by":"engineer","operation_id":"op-0008","type":"item_paused","data":{"question":"CLR-42-001","resume_stage":"implement"}}"#);
}

#[test]
fn the_head_of_a_line_says_what_the_line_says() {
    for (name, bytes) in golden() {
        let (line, head) = (decode(&bytes).unwrap(), peek(&bytes).unwrap());

        assert_eq!((head.seq, head.version, head.more), (line.record.seq, line.record.version, line.more), "{name}");
        assert_eq!((head.stream, head.operation), (line.record.stream, line.operation.map(|it| it.id)), "{name}");
        assert_eq!(head.crc, unseal(&bytes).unwrap().1, "{name}");
    }
}

#[test]
fn any_flipped_bit_is_damage() {
    for (kind, bytes) in golden() {
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                assert_eq!(decode(&damaged), Err(Damage::Torn), "{kind}: bit {bit} of byte {place}");
                assert_eq!(peek(&damaged), Err(Damage::Torn), "{kind}: bit {bit} of byte {place}");
            }
        }
    }
}

#[test]
fn a_line_that_ends_early_or_late_is_damage() {
    for (kind, bytes) in golden() {
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), Err(Damage::Torn), "{kind}: {length} bytes");
        }
        let longer: Vec<u8> = bytes.iter().copied().chain([b' ']).collect();
        assert_eq!(decode(&longer), Err(Damage::Torn), "{kind}");
    }
}

#[test]
fn a_checksum_has_one_spelling() {
    let spelled = |n: u32| String::from_utf8(sealed(&format!("{{\"v\":1,\"n\":{n}"))).unwrap();
    let hex = |line: &str| line[line.len() - 10..line.len() - 2].to_owned();
    let line = (0..10_000).map(spelled).find(|line| hex(line).starts_with('0') && hex(line).ends_with('f')).unwrap();
    assert_ne!(decode(line.as_bytes()), Err(Damage::Torn), "its checksum fits; only the rest is missing");

    let sum = hex(&line);
    for other in [sum.replacen('0', "+", 1), sum.replace('f', "F")] {
        assert_eq!(decode(line.replace(&sum, &other).as_bytes()), Err(Damage::Torn), "{other}");
    }
}

#[test]
fn a_line_of_a_newer_version_is_refused_with_a_clear_sentence() {
    assert_eq!(LATEST, 1, "keep the golden files of version 1 and add those of the next");
    for (kind, bytes) in golden() {
        let newer = sealed(&body(&bytes).replacen("{\"v\":1,", "{\"v\":2,", 1));
        let Err(damage @ Damage::Unreadable(_)) = decode(&newer) else { panic!("{kind}") };
        assert_eq!(damage.to_string(), "it is of version 2, and this querent reads up to 1; use a newer querent");
        assert_eq!(peek(&newer), Err(damage), "{kind}");
    }
}

#[test]
fn a_line_without_a_version_is_refused() {
    let bytes = &golden()["item_opened"];
    for version in ["", "\"v\":0,", "\"v\":\"1\",", "\"v\":-1,", "\"v\":4294967297,"] {
        let line = sealed(&body(bytes).replacen("\"v\":1,", version, 1));
        assert!(matches!(decode(&line), Err(Damage::Unreadable(why)) if why.contains("version")), "{version}");
    }
}

#[test]
fn a_line_of_an_unknown_type_is_refused_with_a_clear_sentence() {
    let line = sealed(&body(&golden()["item_opened"]).replacen("\"item_opened\"", "\"item_teleported\"", 1));

    let Err(damage @ Damage::Unreadable(_)) = decode(&line) else { panic!("it reads") };
    assert_eq!(damage.to_string(), "its type `item_teleported` is unknown; use a newer querent");
    assert_eq!(peek(&line), Err(damage));
}

#[test]
fn a_line_whose_data_does_not_fit_its_type_is_refused_and_names_the_field() {
    let line = sealed(&body(&golden()["item_opened"]).replacen("\"title\":", "\"tilte\":", 1));

    let Err(damage @ Damage::Unreadable(_)) = decode(&line) else { panic!("it reads") };
    assert!(damage.to_string().contains("missing field `title`"), "{damage}");
}
