//! What a writer does under the lock: catch up, run updates, write lines, bring the derived files up to date.

use std::collections::{BTreeMap, HashSet};
use std::mem::take;
use std::sync::Arc;

use foldhash::HashMap;
use querent_core::wire::{self, Head, Line};
use querent_core::{
    Batch, Envelope, Event, Operation, OperationId, Question, QuestionId, Record, State, Stream, change_question,
    evolve, evolve_item, evolve_question,
};

use super::checkpoint::Checkpoint;
use super::flush::{Plan, Planned};
use super::layout::Layout;
use super::ledger::{self, Found};
use super::log::Log;
use super::operations::{self, Index, Start};
use super::place::Place;
use super::scan::{self, Entry};
use super::slate::{Due, Slate};
use super::{Options, recover};
use crate::{Error, Update};

/// How many streams a process keeps in memory between updates.
const MOST_HELD: usize = 1_024;

/// The writer's memory. Valid while it is caught up; every use begins with that.
pub(crate) struct Store {
    layout: Layout,
    options: Options,
    log: Log,
    /// The index of what is flushed, if it is at hand.
    index: Option<Index>,
    /// The lines after the checkpoint: the derived files do not hold them yet.
    tail: Vec<Arc<Entry>>,
    /// The operations among them, by the seq of their line.
    recent: HashMap<OperationId, u64>,
    held: HashMap<Stream, Held>,
    /// The questions of the streams at hand that nobody waits for any more. There may be thousands, and few decisions look at one.
    settled: HashMap<QuestionId, Box<Question>>,
    /// Encoded lines that are not written yet.
    buffer: Vec<u8>,
    /// The operations among them.
    fresh: HashMap<OperationId, Operation>,
    /// The tail's length before them.
    written: usize,
    /// The last line that the rest of the process was shown.
    shown: Place,
}

/// A stream at hand.
struct Held {
    /// In a box, because it comes and goes with every update.
    state: Box<State>,
    /// Lines of other processes that it does not hold yet, by their seq.
    pending: Vec<u64>,
}

impl Store {
    /// Opens the project's files, or brings them in order first.
    pub(crate) fn open(layout: &Layout, options: &Options) -> Result<Self, Error> {
        let (checkpoint, index) = match (Checkpoint::sound(layout), Index::open(layout)?) {
            (Some(checkpoint), Some(index)) => (checkpoint, index),
            _ => recover::recover(layout)?,
        };
        let log = Log::open(layout, checkpoint.place)?;
        Ok(Self {
            layout: layout.clone(),
            options: options.clone(),
            log,
            index: Some(index),
            tail: Vec::new(),
            recent: HashMap::default(),
            held: HashMap::default(),
            settled: HashMap::default(),
            buffer: Vec::new(),
            fresh: HashMap::default(),
            written: 0,
            shown: checkpoint.place,
        })
    }

    /// Takes in what other processes wrote, as far as it can be seen without the lock; so that less is left to do under it.
    pub(crate) fn look_ahead(&mut self) {
        let Self { log, tail, held, .. } = self;
        // What cannot be read now is read, or told, under the lock.
        let _ = log.look_ahead(&mut |entry| {
            take_in(tail, held, entry);
            Ok(())
        });
        self.settle();
    }

    /// Takes in what other processes wrote.
    pub(crate) fn catch_up(&mut self) -> Result<(), Error> {
        if !self.log.is_in_place() {
            *self = Self::open(&self.layout, &self.options)?;
        }
        let Self { log, tail, held, .. } = self;
        log.catch_up(&mut |entry| {
            take_in(tail, held, entry);
            Ok(())
        })?;
        self.settle();
        if self.index.is_none() {
            self.index = Some(recover::recover(&self.layout)?.1);
        }
        Ok(())
    }

    /// The whole tail is in the log.
    fn settle(&mut self) {
        for Head { operation, seq, .. } in self.tail[self.written..].iter().map(|entry| &entry.head) {
            self.recent.extend(operation.clone().map(|id| (id, *seq)));
        }
        self.written = self.tail.len();
    }

    /// Runs one update and encodes what it decides. Nothing is written yet.
    pub(crate) fn run(&mut self, update: &mut Update) -> Result<Envelope, Error> {
        if let Some(ticket) = update.ticket.as_ref().filter(|ticket| !ticket.is_fresh)
            && let Some(known) = self.operation(&ticket.id)?
        {
            return Ok(known.replay(&ticket.fingerprint).unwrap_or_else(|refusal| Envelope::refused(&refusal)));
        }
        let mut state = self.load(&update.stream)?;
        let needs = state.item.as_ref().map(|item| update.job.needs(item)).unwrap_or_default();
        for id in &needs.questions {
            if let Some(question) = self.settled.remove(id) {
                state.questions.insert(id.clone(), *question);
            }
            load_question(&self.layout, &mut state, id, || lines_about(&self.layout, &self.tail, id))?;
        }
        let mut joined = Vec::with_capacity(needs.shared.len());
        for which in needs.shared {
            let mut shared = self.load(&which.into())?;
            state.swap(which, &mut shared);
            joined.push((which, shared));
        }
        let applied = update.job.run(&mut state);
        for (which, mut shared) in joined {
            state.swap(which, &mut shared);
            self.hold(which.into(), shared);
        }
        self.hold(update.stream.clone(), state);
        for batch in applied.batches {
            self.encode(batch);
        }
        Ok(applied.reply)
    }

    fn hold(&mut self, stream: Stream, mut state: Box<State>) {
        let settled = state.questions.extract_if(.., |_, question| !question.status.is_open());
        self.settled.extend(settled.map(|(id, question)| (id, Box::new(question))));
        self.held.insert(stream, Held { state, pending: Vec::new() });
    }

    fn encode(&mut self, batch: Batch) {
        let count = batch.records.len();
        let mut operation = batch.operation;
        for (place, mut record) in batch.records.into_iter().enumerate() {
            let last = self.end();
            record.seq = last.seq + 1;
            let more = u32::try_from(count - place - 1).unwrap_or(0);
            let line = Line { record, more, operation: operation.take_if(|_| more == 0) };
            let from = self.buffer.len();
            let (crc, length) = (wire::encode(&line, &mut self.buffer), self.buffer.len() - from);
            let Line { record, operation, .. } = line;
            let id = operation.as_ref().map(|it| it.id.clone());
            let (seq, stream, version) = (record.seq, record.stream.clone(), record.version);
            let head = Head { seq, stream, version, more, operation: id, crc };
            let start = Start { segment: last.segment, offset: last.end };
            let end = Place { segment: last.segment, end: last.end + length as u64, seq, crc };
            self.fresh.extend(operation.map(|it| (it.id.clone(), it)));
            self.tail.push(Arc::new(Entry::written(head, start, end, record)));
        }
    }

    /// The lines since this was asked last, those of others too, and the line before them; none if not all are at hand.
    pub(crate) fn unshown(&mut self) -> (Place, Vec<Arc<Entry>>) {
        let before = std::mem::replace(&mut self.shown, self.log.place);
        let first = self.tail.first().map_or(0, |entry| entry.head.seq);
        let first = usize::try_from((before.seq + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        let lines = self.tail.get(first..).unwrap_or_default();
        let follows = lines.first().is_some_and(|entry| entry.head.seq == before.seq + 1);
        (before, if follows { lines.to_vec() } else { Vec::new() })
    }

    /// The end of the log, with what is encoded and not written.
    pub(crate) fn end(&self) -> Place {
        if self.tail.len() > self.written {
            self.tail.last().map_or(self.log.place, |entry| entry.place)
        } else {
            self.log.place
        }
    }

    /// Writes what was encoded, onto the slate too. If the first fails, nothing of it has happened.
    pub(crate) fn write(&mut self, slate: &mut Slate) -> Result<Due, Error> {
        let (lines, before, last) = (take(&mut self.buffer), self.log.place, self.end());
        if lines.is_empty() {
            return slate.note(&self.layout, &self.log, before, &lines);
        }
        if let Err(error) = self.log.append(&lines, last, &self.options) {
            self.forget();
            return Err(error);
        }
        self.settle();
        self.fresh.clear();
        let due = slate.note(&self.layout, &self.log, before, &lines);
        self.buffer = lines;
        self.buffer.clear();
        due
    }

    /// Drops what was decided and not written.
    fn forget(&mut self) {
        self.tail.truncate(self.written);
        self.held.clear();
        self.settled.clear();
        self.buffer.clear();
        self.fresh.clear();
    }

    /// Begins a new segment if it is time, before lines get their places.
    pub(crate) fn roll(&mut self) -> Result<(), Error> {
        self.log.roll()
    }

    /// How many lines the derived files do not hold.
    pub(crate) fn behind(&self) -> usize {
        self.tail.len()
    }

    /// The end of the log, and the file that a sync must reach for it.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// What is to be written so that the derived files hold the whole log. Costs what the tail touches.
    pub(crate) fn plan(&mut self) -> Result<Option<Plan>, Error> {
        self.learn_of_flushes()?;
        // The lines of each stream and question by their place in the tail: it is walked once, however much it touches.
        let mut touched: BTreeMap<Stream, (Place, BTreeMap<QuestionId, Vec<usize>>)> = BTreeMap::new();
        for (line, entry) in self.tail.iter().enumerate() {
            let (last, questions) = touched.entry(entry.head.stream.clone()).or_insert((entry.place, BTreeMap::new()));
            *last = entry.place;
            if let Some(id) = entry.record(&self.layout)?.event.question() {
                questions.entry(id.clone()).or_default().push(line);
            }
        }
        let mut ledgers = Vec::with_capacity(touched.len());
        for (id, (place, questions)) in touched {
            let mut state = self.load(&id)?;
            for (question, lines) in questions.iter().filter(|(id, _)| !self.settled.contains_key(*id)) {
                let lines = || lines.iter().map(|line| self.tail[*line].record(&self.layout)).collect();
                load_question(&self.layout, &mut state, question, lines)?;
            }
            let place_of = |lines: &[usize]| lines.last().map_or(place, |line| self.tail[*line].place);
            let found = |id| state.questions.get(id).or_else(|| self.settled.get(id).map(Box::as_ref)).cloned();
            let questions = questions.iter().filter_map(|(id, lines)| Some((found(id)?, place_of(lines)))).collect();
            ledgers.extend(match &id {
                Stream::Item(_) => {
                    state.item.clone().map(|item| Planned::Item { item: Box::new(item), place, questions })
                }
                Stream::Shared(which) => Some(Planned::Shared { which: *which, state: state.clone(), place }),
            });
            self.hold(id, state);
        }
        let opens = |it: &&Head| it.version == 1 && it.stream.item().is_some();
        let opened = self.tail.iter().map(|it| &it.head).filter(opens).map(|it| it.seq).collect();
        let keys_of = |entry: &Arc<Entry>| {
            let (seq, start) = (entry.head.seq, entry.start);
            keys(&entry.head).map(move |key| (seq, key, start))
        };
        let lines = self.tail.iter().flat_map(keys_of).collect();
        Ok((!ledgers.is_empty()).then_some(Plan { end: self.log.place, lines, opened, ledgers }))
    }

    /// Whether another process has brought the derived files farther than this one knew.
    pub(crate) fn learn_of_flushes(&mut self) -> Result<bool, Error> {
        let behind = self.behind();
        if let Some(checkpoint) = Checkpoint::sound(&self.layout) {
            self.flushed(&checkpoint)?;
        }
        Ok(self.behind() < behind)
    }

    /// The derived files hold the log up to `checkpoint`; what was kept for them is no longer needed.
    pub(crate) fn flushed(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        // Whoever brought them there may have put a larger index in place.
        if !self.index.as_mut().map_or(Ok(false), Index::refresh)? {
            self.index = None;
        }
        let flushed = checkpoint.place.seq;
        self.recent.retain(|_, seq| *seq > flushed);
        self.tail.retain(|entry| entry.head.seq > flushed);
        self.written = self.tail.len();
        // An item that waits for a line that is gone is read anew.
        self.held.retain(|_, held| held.pending.first().is_none_or(|seq| *seq > flushed));
        if self.held.len() > MOST_HELD {
            self.held.clear();
        }
        // What is settled is not needed any more, but for the next flush.
        let known = self.tail.iter().filter_map(|entry| entry.known_record());
        let needed: HashSet<&QuestionId> = known.filter_map(|record| record.event.question()).collect();
        let held = &self.held;
        self.settled.retain(|id, _| needed.contains(id) && held.contains_key(&Stream::Item(id.item.clone())));
        Ok(())
    }

    /// A stream as it is at the end of the log, taken out of memory or off the disk.
    fn load(&mut self, id: &Stream) -> Result<Box<State>, Error> {
        if let Some(Held { mut state, pending }) = self.held.remove(id) {
            // What was set aside follows as well.
            let mut settled = take(&mut self.settled);
            for entry in pending.into_iter().filter_map(|seq| self.late(seq)) {
                let record = entry.record(&self.layout)?;
                evolve_held(&mut state, record);
                if let Some(question) = record.event.question().and_then(|id| settled.get_mut(id)) {
                    change_question(question, record);
                }
            }
            self.settled = settled;
            return Ok(state);
        }
        let mut state = match ledger::read_stream(&self.layout, id)? {
            Found::Good(state) => state,
            Found::Missing if self.first_line(id)?.is_none() => State::default(),
            Found::Missing | Found::Bad => recover::rebuild(&self.layout, id)?,
        };
        for entry in self.tail.iter().filter(|entry| entry.head.stream == *id) {
            evolve_held(&mut state, entry.record(&self.layout)?);
        }
        Ok(Box::new(state))
    }

    /// A line of the tail. They are in order, and none is missing.
    fn late(&self, seq: u64) -> Option<&Arc<Entry>> {
        let first = self.tail.first()?.head.seq;
        self.tail.get(usize::try_from(seq.checked_sub(first)?).ok()?)
    }

    /// The lines before the tail that may be of this key.
    fn find(&self, key: u64) -> Result<Vec<Start>, Error> {
        self.index.as_ref().map_or(Ok(Vec::new()), |index| index.find(key))
    }

    /// The first line of a stream, if it is older than the tail.
    fn first_line(&self, id: &Stream) -> Result<Option<Start>, Error> {
        let opens = |start: &Start| {
            scan::line_at(&self.layout, *start)
                .is_some_and(|line| line.record.stream == *id && line.record.version == 1)
        };
        if self.tail.iter().any(|entry| entry.head.stream == *id && entry.head.version == 1) {
            return Ok(None);
        }
        Ok(self.find(operations::stream_key(id))?.into_iter().find(opens))
    }

    /// What is remembered of an operation.
    fn operation(&self, id: &OperationId) -> Result<Option<Operation>, Error> {
        if let Some(operation) = self.fresh.get(id) {
            return Ok(Some(operation.clone()));
        }
        let starts = match self.recent.get(id).and_then(|seq| self.late(*seq)) {
            Some(entry) => vec![entry.start],
            None => self.find(operations::operation_key(id))?,
        };
        let lines = starts.into_iter().filter_map(|start| scan::line_at(&self.layout, start));
        Ok(lines.filter_map(|line| line.operation).find(|operation| operation.id == *id))
    }
}

/// Adds a question to the state: its ledger, and the lines that the ledger may not hold.
fn load_question<'a>(
    layout: &Layout,
    state: &mut State,
    id: &QuestionId,
    lines: impl FnOnce() -> Result<Vec<&'a Record>, Error>,
) -> Result<(), Error> {
    let asked = state.item.as_ref().is_some_and(|item| item.id == id.item && id.number <= item.asked);
    if !asked || state.questions.contains_key(id) {
        return Ok(());
    }
    let mut question = match ledger::read_question(layout, id)? {
        Found::Good(question) => Some(question),
        Found::Missing | Found::Bad => None,
    };
    lines()?.into_iter().for_each(|record| evolve_question(&mut question, record));
    let found: Option<Question> = match question {
        Some(question) => Some(question),
        None => recover::rebuild(layout, &id.item.clone().into())?.questions.remove(id),
    };
    state.questions.extend(found.map(|question| (id.clone(), question)));
    Ok(())
}

/// Keeps a line of another process. An item at hand takes it in when it is needed.
fn take_in(tail: &mut Vec<Arc<Entry>>, held: &mut HashMap<Stream, Held>, entry: Entry) {
    if let Some(held) = held.get_mut(&entry.head.stream) {
        held.pending.push(entry.head.seq);
    }
    tail.push(Arc::new(entry));
}

/// The lines among these about a question.
fn lines_about<'a>(layout: &Layout, tail: &'a [Arc<Entry>], id: &QuestionId) -> Result<Vec<&'a Record>, Error> {
    let of_its_item = tail.iter().filter(|entry| entry.head.stream == id.item);
    let records = of_its_item.map(|entry| entry.record(layout));
    records.filter(|it| it.as_ref().map_or(true, |record| record.event.question() == Some(id))).collect()
}

/// The keys under which a line is found again.
pub(super) fn keys(head: &Head) -> impl Iterator<Item = u64> + use<> {
    let operation = head.operation.as_ref().map(operations::operation_key);
    let opens = (head.version == 1).then(|| operations::stream_key(&head.stream));
    operation.into_iter().chain(opens)
}

/// Takes a line of another process into an item at hand. Questions that are not at hand stay where they are.
fn evolve_held(state: &mut State, record: &Record) {
    let asked = matches!(record.event, Event::QuestionAsked(_));
    match record.event.question() {
        Some(id) if !asked && !state.questions.contains_key(id) => evolve_item(&mut state.item, record),
        _ => evolve(state, record),
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
