//! `GET /retrieve` and `POST /retrieve`: documents selected in a form, and retrieved by a job.

use askama::Template;
use axum::extract::State;
use operations::documents::{DocumentState, KINDS};
use operations::retrieve::{self, RetrievalOrder, SavedRetrieval, Selected, Selection};
use operations::{Parameter, Refusal, Time, first_second, last_second};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

/// The fields of the form.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RetrievalForm {
    media_types: String,
    hosts: String,
    parent: String,
    since: String,
    until: String,
    states: String,
    kinds: String,
    decisions: String,
    min_probability: String,
    in_url: String,
    languages: String,
    query: String,
    import: String,
    which: String,
    number: String,
    seed: String,
    format: String,
    with_text: String,
    name: String,
    /// `count`, `save` or `retrieve`.
    #[serde(rename = "do")]
    action: String,
}

/// A saved retrieval that fills the form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    saved: String,
}

#[derive(Template)]
#[template(path = "retrieval_form.html")]
struct RetrievalPage {
    who: Who,
    form: RetrievalForm,
    saved: Vec<SavedRetrieval>,
    counted: Option<Selected>,
    errors: Errors,
}

impl RetrievalPage {
    async fn new(state: &ConsoleState, who: Who, form: RetrievalForm) -> Result<Self, Problem> {
        Ok(Self {
            who,
            form,
            saved: retrieve::saved_all(state.context()).await?.items,
            counted: None,
            errors: Errors::default(),
        })
    }

    fn again(mut self, refusal: Refusal) -> Answer {
        self.errors = Errors::of_form(refusal)?;
        form_again(&self)
    }

    fn kinds(&self) -> Vec<(&'static str, String)> {
        let kinds = KINDS.map(|kind| (kind, kind.replace('_', " ")));
        [("", "all".to_owned())].into_iter().chain(kinds).collect()
    }
}

pub(crate) async fn show(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let form = match parameters.saved.as_str() {
        "" => RetrievalForm::usual(),
        name => {
            let saved = retrieve::saved(state.context(), name).await?;
            RetrievalForm::of(saved)
        }
    };
    page(&RetrievalPage::new(&state, who, form).await?)
}

pub(crate) async fn send(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<RetrievalForm>,
) -> Answer {
    let mut answer = RetrievalPage::new(&state, who, form).await?;
    let order = match answer.form.order() {
        Ok(order) => order,
        Err(refusal) => return answer.again(refusal),
    };
    let (context, actor) = (state.context(), answer.who.actor());
    let refusal = match answer.form.action.as_str() {
        "count" => match retrieve::count(context, &order.selection).await {
            Ok(counted) => {
                answer.counted = Some(counted);
                return page(&answer);
            }
            Err(refusal) => refusal,
        },
        "save" => match retrieve::save(context, &actor, &answer.form.name, &order).await {
            Ok(saved) => return Ok(done("/retrieve", format!("{} is saved.", saved.name))),
            Err(refusal) => refusal,
        },
        _ => match retrieve::queue(context, &actor, order).await {
            Ok(job) => {
                let path = format!("/jobs/{}", job.id);
                let message = "The documents are retrieved. The file can be downloaded here when it is complete.";
                return Ok(done(&path, message));
            }
            Err(refusal) => refusal,
        },
    };
    answer.again(refusal)
}

impl RetrievalForm {
    fn usual() -> Self {
        Self {
            which: "all".to_owned(),
            number: "1000".to_owned(),
            format: "zip".to_owned(),
            ..Self::default()
        }
    }

    fn of(saved: SavedRetrieval) -> Self {
        let RetrievalOrder {
            selection,
            format,
            text,
        } = saved.order;
        let first = |texts: &[String]| texts.first().cloned().unwrap_or_default();
        let date = |time: Option<Time>| time.map(|time| time.to_string()).unwrap_or_default();
        let (which, number) = match (selection.sample, selection.limit) {
            (Some(number), _) => ("sample", number),
            (None, Some(number)) => ("first", number),
            (None, None) => ("all", 1000),
        };
        let state = selection.states.first().map(|state| state.name());
        Self {
            media_types: selection.media_types.join(", "),
            hosts: selection.hosts.join(", "),
            parent: selection.parent.unwrap_or_default(),
            since: date(selection.since),
            until: date(selection.until),
            states: state.unwrap_or_default().to_owned(),
            kinds: first(&selection.kinds),
            decisions: first(&selection.decisions),
            min_probability: selection
                .min_probability
                .map(|p| p.to_string())
                .unwrap_or_default(),
            in_url: selection.in_url.unwrap_or_default(),
            languages: selection.languages.join(", "),
            query: selection.query.unwrap_or_default(),
            import: selection
                .import
                .map(|id| id.to_string())
                .unwrap_or_default(),
            which: which.to_owned(),
            number: number.to_string(),
            seed: selection.seed.unwrap_or_default(),
            format: format.name().to_owned(),
            with_text: if text { "true" } else { "" }.to_owned(),
            name: saved.name,
            action: String::new(),
        }
    }

    fn order(&self) -> Result<RetrievalOrder, Refusal> {
        let words = |text: &str| {
            let words = text.split([',', ' ', '\n', '\r', '\t']).map(str::to_owned);
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>()
        };
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let number = match self.which.as_str() {
            "all" | "" => None,
            _ => Some(read::<u64>("number", &self.number)?.unwrap_or_default()),
        };
        let is_sample = self.which == "sample";
        let selection = Selection {
            media_types: words(&self.media_types),
            hosts: words(&self.hosts),
            parent: given(&self.parent),
            since: date("since", &self.since, first_second)?,
            until: date("until", &self.until, last_second)?,
            states: DocumentState::parse(&self.states).into_iter().collect(),
            kinds: words(&self.kinds),
            decisions: words(&self.decisions),
            min_probability: read("min_probability", &self.min_probability)?,
            import: read("import", &self.import)?,
            in_url: given(&self.in_url),
            languages: words(&self.languages),
            query: given(&self.query),
            sample: number.filter(|_| is_sample),
            seed: given(&self.seed).filter(|_| is_sample),
            limit: number.filter(|_| !is_sample),
        };
        let format = flows::Format::parse(&self.format);
        Ok(RetrievalOrder {
            selection,
            format: format.ok_or_else(|| Refusal::invalid("format", "choose one"))?,
            text: !self.with_text.is_empty(),
        })
    }
}

fn read<T: Parameter>(field: &'static str, text: &str) -> Result<Option<T>, Refusal> {
    match text.trim() {
        "" => Ok(None),
        text => T::read(text)
            .map(Some)
            .map_err(|reason| Refusal::invalid(field, reason)),
    }
}

fn date(
    field: &'static str,
    text: &str,
    parse: fn(&str) -> Result<Time, String>,
) -> Result<Option<Time>, Refusal> {
    match text.trim() {
        "" => Ok(None),
        text => parse(text)
            .map(Some)
            .map_err(|reason| Refusal::invalid(field, reason)),
    }
}

/// The choices of the form.
pub(crate) const WHICH: [(&str, &str); 3] = [
    ("all", "All of them"),
    ("first", "The first"),
    ("sample", "A random sample"),
];
pub(crate) const FORMATS: [(&str, &str); 5] = [
    ("zip", "ZIP archive"),
    ("tar", "tar archive"),
    ("warc", "WARC file"),
    ("csv", "Metadata alone, CSV"),
    ("jsonl", "Metadata alone, JSON Lines"),
];
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("not_ingested", "not ingested"),
    ("ingested", "ingested"),
    ("failed", "failed"),
    ("set_aside", "set aside"),
];
pub(crate) const DECISIONS: [(&str, &str); 4] = [
    ("", "all"),
    ("accept", "accept"),
    ("unsure", "unsure"),
    ("reject", "reject"),
];
