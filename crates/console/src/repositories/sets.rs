//! The sets of a repository as a tree: `a:b` is below `a`.

use std::collections::BTreeMap;

use askama::Template;
use askama::filters::HtmlSafe;
use operations::repositories::Set;

/// Sets, each with those below it.
#[derive(Debug, Default, Template)]
#[template(path = "sets_tree.html")]
pub(crate) struct SetTree {
    repository: i64,
    branches: Vec<Branch>,
}

/// A set, or a part of a `setSpec` that is none itself.
#[derive(Debug)]
struct Branch {
    set_spec: String,
    set: Option<Set>,
    below: SetTree,
}

impl HtmlSafe for SetTree {}

impl SetTree {
    pub(crate) fn new(repository: i64, sets: Vec<Set>) -> Self {
        let mut top = Node::default();
        for set in sets {
            // Deeper parts than anybody could read stay together.
            let parts: Vec<_> = set
                .set_spec
                .splitn(DEEPEST, ':')
                .map(str::to_owned)
                .collect();
            let mut node = &mut top;
            for part in parts {
                node = node.below.entry(part).or_default();
            }
            node.set = Some(set);
        }
        top.tree(repository, "")
    }

    fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }
}

impl Branch {
    fn name(&self) -> Option<&str> {
        self.set.as_ref().and_then(|set| set.name.as_deref())
    }

    /// Whether only records name it, and the repository does not list it.
    fn is_unlisted(&self) -> bool {
        self.set.as_ref().is_some_and(|set| !set.listed)
    }

    /// Where its records are.
    fn link(&self, repository: &i64) -> String {
        crate::parts::Link::to("/records")
            .with("repository", repository)
            .with("set", &self.set_spec)
            .to_string()
    }
}

#[derive(Default)]
struct Node {
    set: Option<Set>,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn tree(self, repository: i64, above: &str) -> SetTree {
        let branches = self.below.into_iter().map(|(part, mut node)| {
            let set_spec = match above {
                "" => part,
                above => format!("{above}:{part}"),
            };
            Branch {
                set: node.set.take(),
                below: node.tree(repository, &set_spec),
                set_spec,
            }
        });
        SetTree {
            repository,
            branches: branches.collect(),
        }
    }
}

const DEEPEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn set(set_spec: &str) -> Set {
        Set {
            set_spec: set_spec.to_owned(),
            name: Some(format!("<{set_spec}>")),
            listed: true,
            records: None,
        }
    }

    #[test]
    fn sets_are_below_those_that_hold_them() {
        let sets = vec![set("a"), set("a:b:c"), set("d")];
        let tree = SetTree::new(1, sets);

        assert_eq!(tree.branches.len(), 2);
        let between = &tree.branches[0].below.branches[0];
        assert_eq!(between.set_spec, "a:b");
        assert!(between.set.is_none());
        assert_eq!(between.below.branches[0].set_spec, "a:b:c");
        let shown = tree.to_string();
        assert!(shown.contains("&#60;a:b:c&#62;"), "{shown}");
    }

    #[test]
    fn a_spec_without_end_is_no_tower() {
        let tree = SetTree::new(1, vec![set(&"x:".repeat(5000))]);
        assert!(tree.to_string().len() < 60_000);
    }
}
