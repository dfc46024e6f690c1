//! The report of a whole run, `docs/benchmarks.md`: what was reached, the tables and their charts, and how it was measured.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;
use crate::rows::{Measured, Row};

/// Something that was measured, in lines.
pub(crate) struct Table {
    title: &'static str,
    about: String,
    head: Vec<&'static str>,
    lines: Vec<Vec<String>>,
    pub(crate) chart: Option<Chart>,
}

impl Table {
    pub(crate) fn new(title: &'static str, about: impl Into<String>, head: &[&'static str]) -> Self {
        Self { title, about: about.into(), head: head.to_vec(), lines: Vec::new(), chart: None }
    }

    pub(crate) fn line<const N: usize>(&mut self, line: [String; N]) {
        self.lines.push(line.into());
    }

    pub(crate) fn markdown(&self) -> String {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let head: Vec<String> = self.head.iter().map(|it| (*it).to_owned()).collect();
        let rule: Vec<String> = self.head.iter().map(|_| "---".to_owned()).collect();
        let lines: String = self.lines.iter().map(|line| row(line)).collect();
        format!("{}{}{lines}", row(&head), row(&rule))
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "title": self.title, "head": self.head, "lines": self.lines })
    }

    /// The same for a terminal.
    pub(crate) fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column)).map(|it| it.chars().count());
            cells.chain([self.head.get(column).map_or(0, |it| it.len())]).max().unwrap_or(0).min(60)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let row = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        let lines: String = self.lines.iter().map(|line| row(&mut line.iter().map(String::as_str))).collect();
        format!("{}\n{}{lines}", self.title, row(&mut self.head.iter().copied()))
    }
}

/// A number as it is read: `100,000`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|it| std::str::from_utf8(it).ok()).collect();
    parts.join(",")
}

/// Bars on a logarithmic scale: what is compared differs by orders of magnitude.
pub(crate) struct Chart {
    title: &'static str,
    unit: &'static str,
    bars: Vec<(String, f64, bool)>,
}

impl Chart {
    pub(crate) fn new(title: &'static str, unit: &'static str) -> Self {
        Self { title, unit, bars: Vec::new() }
    }

    pub(crate) fn bar(&mut self, name: &str, value: f64, ours: bool) {
        self.bars.push((name.to_owned(), value, ours));
    }

    fn svg(&self) -> String {
        const LEFT: f64 = 210.0;
        const WIDE: f64 = 430.0;
        const STEP: f64 = 26.0;
        let largest = self.bars.iter().map(|(_, value, _)| *value).fold(10.0, f64::max).log10();
        let mut bars = String::new();
        let mut top = 40.0;
        for (name, value, ours) in &self.bars {
            let width = (value.max(1.0).log10() / largest * WIDE).max(2.0);
            let class = if *ours { "ours" } else { "theirs" };
            let (base, beside) = (top + 14.0, LEFT + width + 6.0);
            let _ = writeln!(
                bars,
                "<text x=\"{:.0}\" y=\"{base:.0}\" text-anchor=\"end\">{name}</text>\
                 <rect class=\"{class}\" x=\"{LEFT:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"18\" rx=\"2\"/>\
                 <text x=\"{beside:.0}\" y=\"{base:.0}\">{value:.0}</text>",
                LEFT - 8.0
            );
            top += STEP;
        }
        let (title, unit) = (self.title, self.unit);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
             <style>text{{font:13px system-ui,sans-serif;fill:#333}}.title{{font-weight:600}}.ours{{fill:#2b6cb0}}\
             .theirs{{fill:#a0aec0}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.theirs{{fill:#5a6678}}}}</style>\n\
             <text class=\"title\" x=\"8\" y=\"22\">{title} ({unit}, logarithmic)</text>\n{bars}</svg>\n",
            height = top + 10.0
        )
    }

    fn file(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.title.chars().map(plain).collect();
        let words: Vec<&str> = name.split('-').filter(|it| !it.is_empty()).collect();
        format!("bench-{}.svg", words.join("-"))
    }
}

/// Writes the report and its charts below `docs`.
pub(crate) fn write(docs: &Path, measured: &Measured, minutes: f64) -> Outcome<()> {
    let mut text = format!(
        "# Querent beside what people use instead\n\n\
         Written by `cargo xtask bench`, which anybody can repeat: it installs the peers, pinned, and measures all of them on the same \
         work in the same run. Absolute times differ by machine and by hour; read the ratios. {}\n\n\
         ## What must be reached\n\n{}",
        machine(minutes),
        rows(&measured.rows)
    );
    for table in &measured.tables {
        write!(text, "\n## {}\n\n{}\n\n{}", table.title, table.about, table.markdown())?;
        if let Some(chart) = &table.chart {
            fs::write(docs.join("images").join(chart.file()), chart.svg())?;
            write!(text, "\n![{}](images/{})\n", chart.title, chart.file())?;
        }
    }
    text.push_str(METHOD);
    Ok(fs::write(docs.join("benchmarks.md"), text)?)
}

fn rows(rows: &[Row]) -> String {
    let mut text =
        "| what | ratio or figure | reach | holds | measured |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for row in rows {
        let holds = if row.holds { "yes" } else { "**no**" };
        let _ = writeln!(text, "| {} | {:.2} | {} | {holds} | {} |", row.name, row.ratio, row.reach, row.measured);
    }
    text
}

fn machine(minutes: f64) -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.ok().and_then(|it| String::from_utf8(it.stdout).ok()).map(|it| it.trim().to_owned()).unwrap_or_default()
    };
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "This run: {cores} cores ({}), Linux {}, Node {}, {}; load at the end {}; it took {minutes:.0} minutes.",
        model.unwrap_or("unknown"),
        said("uname", &["-r"]),
        said("node", &["--version"]),
        said("python3", &["--version"]),
        load.join(" ")
    )
}

const METHOD: &str = "
## How it was measured

- A **cycle**: ask a question with a prompt of 200 bytes and two options, make it durable, have somebody wait for it, answer it, wake
  the one who waits with the answer. Clients share the cycles of a round; each has an item, thread or workflow of its own.
- Three rounds and one before them to warm up. In each round everybody has a turn, one after the other. A ratio is the median of
  the rounds' ratios, everything else the median of the rounds; latencies are over all of them.
- Everybody is a process of its own, on loopback. Querent's clients, and those of FastMCP, do as little as they can; the other peers
  are driven through their own clients, in their own language, as their documentation advises, with the fastest documented setting
  that keeps what it acknowledges. `bench/peers/README.md` says how each does it, and what it does not do.
- The **floor over HTTP** is a server on one thread that knows nothing: the same clients send it the same requests; it writes as many
  bytes, syncs once for all who wait, and replies with ready-made bytes. It says what the machine leaves to any such server.
- Querent's servers are killed in the end, as with `kill -9`, and every answer that was acknowledged must be in the journal. Of
  the peers that keep anything, every answer is looked up in their store.
- A peer that cannot be installed or started ends the run with an error.
- `bench/README.md` describes the rows and the tables that are about Querent alone.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_grouped_by_thousands() {
        assert_eq!([7, 10, 1_000, 100_000, 1_234_567].map(grouped), ["7", "10", "1,000", "100,000", "1,234,567"]);
    }

    #[test]
    fn a_table_and_a_chart_show_what_was_measured() {
        let mut table = Table::new("T", "about", &["who", "rate"]);
        table.line(["Querent".to_owned(), "12".to_owned()]);
        assert_eq!(table.markdown(), "| who | rate |\n| --- | --- |\n| Querent | 12 |\n");
        assert_eq!(table.text(), "T\nwho      rate\nQuerent  12\n");

        let mut chart = Chart::new("Cycles a second, 8 clients", "cycles/s");
        chart.bar("Querent", 1_000.0, true);
        assert_eq!(chart.file(), "bench-cycles-a-second-8-clients.svg");
        assert!(chart.svg().contains("class=\"ours\"") && chart.svg().contains(">1000<"));
    }
}
