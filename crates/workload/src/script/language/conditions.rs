//! Conditions and pipelines that are open where a script is read: what goes on where, and what does not belong together.

use super::script::{Command, Step};

/// A `\if` whose `\endif` is not read.
#[derive(Debug)]
struct Open {
    line: usize,
    /// The branch that goes on at the next `\elif`, `\else` or `\endif`.
    branch: Option<usize>,
    /// Jumps to the end.
    jumps: Vec<usize>,
    has_else: bool,
    /// Whether a pipeline was open before.
    before: Pipeline,
    /// And after each of the ways that are read.
    after: Vec<Pipeline>,
}

/// Whether a pipeline is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pipeline {
    No,
    /// Since this line.
    Since(usize),
    /// It depends on a condition.
    Depends,
}

/// What is open.
#[derive(Debug)]
pub(super) struct Conditions {
    open: Vec<Open>,
    pipeline: Pipeline,
}

type Done = Result<(), String>;

impl Conditions {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), pipeline: Pipeline::No }
    }

    /// After a `\if`, whose branch is the last of the commands.
    pub(super) fn opened(&mut self, line: usize, commands: &[Command]) {
        self.open.push(Open {
            line,
            branch: commands.len().checked_sub(1),
            jumps: Vec::new(),
            has_else: false,
            before: self.pipeline,
            after: Vec::new(),
        });
    }

    /// At a `\elif` or `\else`: what went before jumps to the end, and what did not hold goes on here.
    pub(super) fn otherwise(&mut self, word: &str, line: usize, commands: &mut Vec<Command>) -> Done {
        let Some(open) = self.open.last_mut() else {
            return Err(format!(
                "`\\{word}` without `\\if`: put `\\if` and its condition before it, or remove it"
            ));
        };
        if open.has_else {
            return Err(format!(
                "`\\{word}` after the `\\else` of the `\\if` in line {}: put it before that `\\else`",
                open.line
            ));
        }
        open.after.push(std::mem::replace(&mut self.pipeline, open.before));
        open.jumps.push(commands.len());
        commands.push(Command { line, step: Step::Jump(0) });
        if let Some(branch) = open.branch.take() {
            goes_on_at_the_end(branch, commands);
        }
        Ok(())
    }

    /// After a `\elif`, whose branch is the last of the commands.
    pub(super) fn branched(&mut self, commands: &[Command]) {
        if let Some(open) = self.open.last_mut() {
            open.branch = commands.len().checked_sub(1);
        }
    }

    /// After a `\else`.
    pub(super) fn has_else(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.has_else = true;
        }
    }

    /// At a `\endif`.
    pub(super) fn closed(&mut self, commands: &mut [Command]) -> Done {
        let Some(mut open) = self.open.pop() else {
            return Err(
                "`\\endif` without `\\if`: put `\\if` and its condition before it, or remove it".to_owned()
            );
        };
        for command in open.jumps.into_iter().chain(open.branch) {
            goes_on_at_the_end(command, commands);
        }
        if !open.has_else {
            open.after.push(open.before);
        }
        if open.after.iter().any(|after| *after != self.pipeline) {
            self.pipeline = Pipeline::Depends;
        }
        Ok(())
    }

    /// At a `\startpipeline`.
    pub(super) fn starts_pipeline(&mut self, line: usize) -> Done {
        if let Pipeline::Since(since) = self.pipeline {
            return Err(format!(
                "the pipeline of line {since} is not ended: put `\\endpipeline` before this"
            ));
        }
        self.pipeline = Pipeline::Since(line);
        Ok(())
    }

    /// At a `\syncpipeline` or `\endpipeline`.
    pub(super) fn in_pipeline(&mut self, word: &str) -> Done {
        if self.pipeline == Pipeline::No {
            return Err(format!("`\\{word}` without a pipeline: put `\\startpipeline` before it"));
        }
        Ok(())
    }

    /// After a `\endpipeline`.
    pub(super) fn ended_pipeline(&mut self) {
        self.pipeline = Pipeline::No;
    }

    /// At what needs a result.
    pub(super) fn has_result(&self, word: &str) -> Done {
        if let Pipeline::Since(since) = self.pipeline {
            return Err(format!(
                "`\\{word}` within the pipeline of line {since}, where no result is known before its end: put the \
                 statement before `\\startpipeline` or after `\\endpipeline`"
            ));
        }
        Ok(())
    }

    /// What is not closed at the end of the script, with the line that it opens in.
    pub(super) fn left(self) -> impl Iterator<Item = (usize, String)> {
        let pipeline = match self.pipeline {
            Pipeline::Since(line) => {
                Some((line, "the pipeline is not ended: put `\\endpipeline` after it".to_owned()))
            }
            Pipeline::No | Pipeline::Depends => None,
        };
        let conditions = self.open.into_iter().map(|open| {
            (open.line, "`\\if` without `\\endif`: put `\\endif` where its commands end".to_owned())
        });
        conditions.chain(pipeline)
    }
}

/// A branch or a jump goes on where the next command will stand.
fn goes_on_at_the_end(command: usize, commands: &mut [Command]) {
    let end = commands.len();
    if let Some(Command { step: Step::Branch { otherwise: target, .. } | Step::Jump(target), .. }) =
        commands.get_mut(command)
    {
        *target = end;
    }
}
