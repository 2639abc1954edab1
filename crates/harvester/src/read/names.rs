//! The names of the elements that are open, without an allocation for each.

/// A stack of names.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    starts: Vec<usize>,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        self.starts.push(self.text.len());
        self.text.push_str(name);
    }

    pub(super) fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.text.truncate(start);
        }
    }

    /// The innermost name; empty if none is open.
    pub(super) fn top(&self) -> &str {
        match self.starts.last() {
            Some(start) => &self.text[*start..],
            None => "",
        }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.depth_of(name).is_some()
    }

    /// How many names are open outside of the innermost element of a name.
    pub(super) fn depth_of(&self, name: &str) -> Option<usize> {
        let mut end = self.text.len();
        for (depth, start) in self.starts.iter().enumerate().rev() {
            if &self.text[*start..end] == name {
                return Some(depth);
            }
            end = *start;
        }
        None
    }

    pub(super) fn truncate(&mut self, length: usize) {
        while self.starts.len() > length {
            self.pop();
        }
    }
}
