//! A data directory with a repository, and actors.

use std::sync::Arc;

use catalog::{Identity, MetadataFormat, Repository, Role};
use flows::Holdings;
use operations::{Actor, Channel, Context, Refusal};

pub(crate) struct World {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) context: Context,
    pub(crate) repository: Repository,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Holdings::create(directory.path(), None).unwrap();
        let context = Context::new(Arc::new(holdings));
        let formats = ["oai_dc", "mods"].map(|prefix| MetadataFormat {
            metadata_prefix: prefix.to_owned(),
            schema: format!("http://a.example/{prefix}.xsd"),
            namespace: format!("http://a.example/{prefix}"),
        });
        let sets = [("maps".to_owned(), None), ("maps:old".to_owned(), None)];
        let repository = context.holdings().wait(async {
            let catalog = context.catalog();
            let identity = Identity::default();
            let known = catalog.add_repository("http://a.example/oai", "a", &identity);
            let known = known.await.unwrap();
            catalog.replace_formats(known.id, &formats).await.unwrap();
            catalog.replace_sets(known.id, &sets).await.unwrap();
            known
        });
        Self {
            directory,
            context,
            repository,
        }
    }

    pub(crate) fn wait<T>(&self, operation: impl Future<Output = T>) -> T {
        self.context.holdings().wait(operation)
    }

    /// The actions of the audit trail, the newest first, each with who did it.
    pub(crate) fn trail(&self) -> Vec<(String, String)> {
        let trail = self.wait(self.context.catalog().audit_trail(&catalog::AuditQuery {
            limit: 100,
            ..catalog::AuditQuery::default()
        }));
        let rows = trail.unwrap().into_iter();
        rows.map(|row| (row.entry.action, row.entry.account))
            .collect()
    }
}

pub(crate) fn actor(role: Role) -> Actor {
    Actor {
        name: "ann".to_owned(),
        role,
        account: Some(1),
        channel: Channel::Session,
    }
}

/// The fields and reasons of a refusal, each in one line.
pub(crate) fn lines(refusal: &Refusal) -> Vec<String> {
    refusal.mistakes.iter().map(ToString::to_string).collect()
}
