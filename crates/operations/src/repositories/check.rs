//! The check whether a repository keeps the rules of OAI-PMH.

use harvester::Client;
use harvester::check::{self, CheckLimits, Report, RuleResult, Verdict};
use serde::Serialize;
use utoipa::ToSchema;

use super::refuse;
use crate::{Code, Refusal};

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RepositoryCheck {
    /// The base URL that was asked.
    pub base_url: String,
    /// The name of the repository, if it told one.
    pub repository_name: Option<String>,
    /// Whether the repository could be checked and breaks no rule.
    pub compliant: bool,
    /// The number of requests that were made.
    pub requests: u64,
    /// All rules.
    pub rules: Vec<CheckedRule>,
}

/// The result for one rule of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckedRule {
    /// Its name.
    pub rule: &'static str,
    /// The rule, as a claim.
    pub claim: &'static str,
    /// `passed`, `failed`, `warning` or `not_checked`.
    pub verdict: &'static str,
    /// The observation, or the reason why it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The request that shows it, as a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<&'static str>,
}

impl RepositoryCheck {
    /// The number of rules with a verdict.
    pub fn count(&self, verdict: &str) -> usize {
        let rules = self.rules.iter();
        rules.filter(|rule| rule.verdict == verdict).count()
    }
}

impl From<Report> for RepositoryCheck {
    fn from(report: Report) -> Self {
        Self {
            base_url: report.base_url,
            repository_name: report.repository_name,
            compliant: report.compliant,
            requests: report.requests,
            rules: report.rules.into_iter().map(CheckedRule::from).collect(),
        }
    }
}

impl From<RuleResult> for CheckedRule {
    fn from(result: RuleResult) -> Self {
        Self {
            rule: result.rule,
            claim: result.claim,
            verdict: match result.verdict {
                Verdict::Passed => "passed",
                Verdict::Failed => "failed",
                Verdict::Warning => "warning",
                Verdict::NotChecked => "not_checked",
            },
            finding: result.finding,
            evidence: result.evidence,
            remedy: result.remedy,
        }
    }
}

/// Checks whether the repository at `base_url` keeps the rules of OAI-PMH; this blocks. Nothing is kept.
pub fn check(
    client: &Client,
    base_url: &str,
    limits: &CheckLimits,
) -> Result<RepositoryCheck, Refusal> {
    if base_url.trim().is_empty() {
        let reason = "Type in where the repository answers.";
        return Err(Refusal::new(Code::NoRepository, reason).at("base_url"));
    }
    let checked = client
        .repository(base_url.trim())
        .and_then(|repository| check::check(&repository, limits));
    Ok(checked.map_err(|error| refuse(&error.into()))?.into())
}
