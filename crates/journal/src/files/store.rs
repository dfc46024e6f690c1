//! What a writer does under the lock: catch up, run updates, write lines, bring the derived files up to date.

use std::collections::{BTreeMap, HashMap, HashSet};

use querent_core::wire::{self, Line};
use querent_core::{
    Batch, Envelope, Event, ItemId, Operation, OperationId, Question, QuestionId, Record, State, evolve, evolve_item,
    evolve_question,
};

use super::checkpoint::Checkpoint;
use super::flush::{Plan, Planned};
use super::layout::Layout;
use super::ledger::{self, Found};
use super::log::{self, Log};
use super::operations::{self, Index, Start};
use super::place::Place;
use super::{Options, Step, recover};
use crate::{Error, Update};

/// How many items a process keeps in memory between updates.
const MOST_HELD: usize = 1_024;

/// The writer's memory. Valid while it is caught up; every use begins with that.
pub(crate) struct Store {
    layout: Layout,
    options: Options,
    log: Log,
    index: Index,
    /// The lines after the checkpoint: the derived files do not hold them yet.
    tail: Vec<(Record, Place)>,
    /// Items as they are at the end of the log.
    held: HashMap<ItemId, State>,
    /// Encoded lines that are not written yet.
    buffer: Vec<u8>,
    /// Their operations and items, for the index.
    starts: Vec<(u64, Start)>,
    /// Operations among them.
    fresh: HashMap<OperationId, Operation>,
    /// The tail's length before them.
    written: usize,
}

impl Store {
    /// Opens the project's files, or brings them in order first.
    pub(crate) fn open(layout: &Layout, options: &Options) -> Result<Self, Error> {
        let sound = Checkpoint::sound(layout);
        let index = Index::open(layout)?;
        let (checkpoint, index) = match (sound, index) {
            (Some(checkpoint), Some(index)) => (checkpoint, index),
            _ => recover::recover(layout)?,
        };
        let log = Log::open(layout, checkpoint.place, options.segment_limit)?;
        Ok(Self {
            layout: layout.clone(),
            options: options.clone(),
            log,
            index,
            tail: Vec::new(),
            held: HashMap::new(),
            buffer: Vec::new(),
            starts: Vec::new(),
            fresh: HashMap::new(),
            written: 0,
        })
    }

    /// Takes in what other processes wrote.
    pub(crate) fn catch_up(&mut self) -> Result<(), Error> {
        if !self.index.refresh()? {
            (_, self.index) = recover::recover(&self.layout)?;
        }
        let Self { log, index, tail, held, .. } = self;
        log.catch_up(|line, place, offset| {
            let start = Start { segment: place.segment, offset };
            for key in keys(&line) {
                index.insert(key, start)?;
            }
            if let Some(state) = held.get_mut(&line.record.stream) {
                evolve_held(state, &line.record);
            }
            tail.push((line.record, place));
            Ok(())
        })?;
        self.written = self.tail.len();
        Ok(())
    }

    /// Runs one update and encodes what it decides. Nothing is written yet.
    pub(crate) fn run(&mut self, update: &mut Update) -> Result<Envelope, Error> {
        if let Some((id, fingerprint)) = &update.operation
            && let Some(known) = self.operation(id)?
        {
            return Ok(known.replay(fingerprint).unwrap_or_else(|refusal| Envelope::refused(&refusal)));
        }
        let mut state = self.load(&update.item)?;
        if let Some(item) = &state.item {
            for id in update.job.needs(item) {
                let lines = self.tail.iter().map(|(record, _)| record);
                let lines = lines.filter(|record| record.event.question() == Some(&id));
                load_question(&self.layout, &mut state, &id, lines)?;
            }
        }
        let applied = update.job.run(&mut state);
        self.held.insert(update.item.clone(), state);
        for batch in applied.batches {
            self.encode(batch);
        }
        Ok(applied.reply)
    }

    fn encode(&mut self, batch: Batch) {
        let count = batch.records.len();
        let mut operation = batch.operation;
        for (place, mut record) in batch.records.into_iter().enumerate() {
            let last = self.end();
            record.seq = last.seq + 1;
            let more = u32::try_from(count - place - 1).unwrap_or(0);
            let line = Line { record, more, operation: operation.take_if(|_| more == 0) };
            let (offset, from) = (last.end, self.buffer.len());
            wire::encode(&line, &mut self.buffer);
            let length = self.buffer.len() - from;
            let crc = wire::unseal(&self.buffer[from..from + length - 1]).map_or(0, |(_, sum)| sum);
            let end = Place { segment: last.segment, end: offset + length as u64, seq: line.record.seq, crc };
            let start = Start { segment: last.segment, offset };
            self.starts.extend(keys(&line).map(|key| (key, start)));
            self.fresh.extend(line.operation.map(|operation| (operation.id.clone(), operation)));
            self.tail.push((line.record, end));
        }
    }

    /// The end of the log, with what is encoded and not written.
    fn end(&self) -> Place {
        if self.tail.len() > self.written {
            self.tail.last().map_or(self.log.place, |(_, place)| *place)
        } else {
            self.log.place
        }
    }

    /// Writes what was encoded. If that fails, nothing of it has happened.
    pub(crate) fn write(&mut self) -> Result<bool, Error> {
        if self.buffer.is_empty() {
            return Ok(false);
        }
        let (lines, last) = (std::mem::take(&mut self.buffer), self.end());
        let options = self.options.clone();
        if let Err(error) = self.log.append(&lines, last, || options.reach(Step::HalfWritten)) {
            self.forget();
            return Err(error);
        }
        self.written = self.tail.len();
        self.buffer = lines;
        self.buffer.clear();
        Ok(true)
    }

    /// Makes the index know what was written.
    pub(crate) fn index(&mut self) -> Result<(), Error> {
        self.reach(Step::Written)?;
        if !self.starts.is_empty() {
            for (key, start) in std::mem::take(&mut self.starts) {
                self.index.insert(key, start)?;
            }
            self.index.store_count()?;
        }
        self.fresh.clear();
        self.reach(Step::Indexed)
    }

    fn reach(&self, step: Step) -> Result<(), Error> {
        self.options.reach(step).map_err(Error::io("write", self.layout.dir()))
    }

    /// Drops what was decided and not written.
    fn forget(&mut self) {
        self.tail.truncate(self.written);
        self.held.clear();
        self.buffer.clear();
        self.starts.clear();
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
        // Another process may have brought the derived files farther than this one knows.
        if let Some(checkpoint) = Checkpoint::sound(&self.layout) {
            self.flushed(&checkpoint);
        }
        // The lines of each item and question by their place in the tail: it is walked once, however much it touches.
        let mut touched: BTreeMap<ItemId, (Place, BTreeMap<QuestionId, Vec<usize>>)> = BTreeMap::new();
        for (line, (record, place)) in self.tail.iter().enumerate() {
            let (last, questions) = touched.entry(record.stream.clone()).or_insert((*place, BTreeMap::new()));
            *last = *place;
            if let Some(id) = record.event.question() {
                questions.entry(id.clone()).or_default().push(line);
            }
        }
        let mut ledgers = Vec::with_capacity(touched.len());
        for (id, (place, questions)) in touched {
            let mut state = self.load(&id)?;
            for (question, lines) in &questions {
                let lines = lines.iter().map(|line| &self.tail[*line].0);
                load_question(&self.layout, &mut state, question, lines)?;
            }
            let place_of = |lines: &[usize]| lines.last().map_or(place, |line| self.tail[*line].1);
            let found =
                questions.iter().filter_map(|(id, lines)| Some((state.questions.get(id)?.clone(), place_of(lines))));
            let questions = found.collect();
            ledgers.extend(state.item.clone().map(|item| Planned { item, place, questions }));
            self.held.insert(id, state);
        }
        let opened = self.tail.iter().filter(|(record, _)| record.version == 1).map(|(record, _)| record.seq).collect();
        Ok((!ledgers.is_empty()).then_some(Plan { end: self.log.place, opened, ledgers }))
    }

    /// The derived files hold the log up to `checkpoint`; what was kept for them is no longer needed.
    pub(crate) fn flushed(&mut self, checkpoint: &Checkpoint) {
        let flushed = checkpoint.place.seq;
        self.tail.retain(|(record, _)| record.seq > flushed);
        self.written = self.tail.len();
        if self.held.len() > MOST_HELD {
            self.held.clear();
        }
        // What is settled is not needed any more, but for the next flush.
        let needed: HashSet<&QuestionId> = self.tail.iter().filter_map(|(record, _)| record.event.question()).collect();
        for state in self.held.values_mut() {
            state.questions.retain(|id, question| question.status.is_open() || needed.contains(id));
        }
    }

    /// An item as it is at the end of the log, taken out of memory or off the disk.
    fn load(&mut self, id: &ItemId) -> Result<State, Error> {
        if let Some(state) = self.held.remove(id) {
            return Ok(state);
        }
        let mut state = State::default();
        match ledger::read_item(&self.layout, id)? {
            Found::Good(item) => state.item = Some(item),
            Found::Missing if self.first_line(id)?.is_none() => {}
            Found::Missing | Found::Bad => state = recover::rebuild(&self.layout, id)?,
        }
        for (record, _) in self.tail.iter().filter(|(record, _)| record.stream == *id) {
            evolve_item(&mut state.item, record);
        }
        Ok(state)
    }

    /// The line that opened an item, if it is older than the tail.
    fn first_line(&self, id: &ItemId) -> Result<Option<Start>, Error> {
        let opens = |start: &Start| {
            log::line_at(&self.layout, start.segment, start.offset)
                .is_some_and(|(line, _)| line.record.stream == *id && matches!(line.record.event, Event::ItemOpened(_)))
        };
        let in_tail = self.tail.iter().any(|(record, _)| record.stream == *id && record.version == 1);
        if in_tail {
            return Ok(None);
        }
        Ok(self.index.find(operations::item_key(id))?.into_iter().find(opens))
    }

    /// What is remembered of an operation.
    fn operation(&self, id: &OperationId) -> Result<Option<Operation>, Error> {
        if let Some(operation) = self.fresh.get(id) {
            return Ok(Some(operation.clone()));
        }
        let starts = self.index.find(operations::operation_key(id))?;
        let lines = starts.into_iter().filter_map(|it| log::line_at(&self.layout, it.segment, it.offset));
        Ok(lines.filter_map(|(line, _)| line.operation).find(|operation| operation.id == *id))
    }
}

/// Adds a question to the state: its ledger, and the lines about it that the ledger may not hold.
fn load_question<'a>(
    layout: &Layout,
    state: &mut State,
    id: &QuestionId,
    lines: impl Iterator<Item = &'a Record>,
) -> Result<(), Error> {
    let asked = state.item.as_ref().is_some_and(|item| item.id == id.item && id.number <= item.asked);
    if !asked || state.questions.contains_key(id) {
        return Ok(());
    }
    let mut question = match ledger::read_question(layout, id)? {
        Found::Good(question) => Some(question),
        Found::Missing | Found::Bad => None,
    };
    lines.for_each(|record| evolve_question(&mut question, record));
    let found: Option<Question> = match question {
        Some(question) => Some(question),
        None => recover::rebuild(layout, &id.item)?.questions.remove(id),
    };
    state.questions.extend(found.map(|question| (id.clone(), question)));
    Ok(())
}

/// The keys under which a line is found again.
pub(super) fn keys(line: &Line) -> impl Iterator<Item = u64> + use<> {
    let operation = line.operation.as_ref().map(|operation| operations::operation_key(&operation.id));
    let opens = matches!(line.record.event, Event::ItemOpened(_)).then(|| operations::item_key(&line.record.stream));
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
