//! How much corrections teach, by the order in which they are made.
//!
//! A small model learns from forty of the labelled documents. The sources of the others are divided: the documents of one part
//! are corrected, some at a time, and the model is judged on the other part. Prints lines of CSV: order, division,
//! corrections, accuracy.
//!
//!     cargo run --release -p garner-classifier --example corrections -- FILE…
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;

use classifier::{
    Classifier, Example, Judged, Policy, Sample, Training, Vocabulary, evaluate, read_examples,
};

/// How the next documents to correct are chosen.
#[derive(Debug, Clone, Copy)]
enum Order {
    Random,
    Uncertain,
    /// As the review queue: the second document of a source counts as surer than it is.
    UncertainBySource,
}

const ORDERS: [(Order, &str); 3] = [
    (Order::Random, "at random"),
    (Order::Uncertain, "least sure first"),
    (
        Order::UncertainBySource,
        "least sure first, of different sources",
    ),
];
const BEGINNING: usize = 40;
const STEPS: [usize; 6] = [0, 10, 20, 40, 80, 160];
const DIVISIONS: u64 = 3;
const LIKE_ANOTHER: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let mut examples = Vec::new();
    for path in std::env::args().skip(1) {
        read_examples(File::open(path)?, |example| {
            examples.push(example);
            Ok(())
        })?;
    }
    examples.retain(|example| !example.borderline);
    println!("order,division,corrections,accuracy");
    for division in 1..=DIVISIONS {
        examples.sort_by_key(|example| chance(&example.id, division));
        let (known, others) = examples.split_at(BEGINNING.min(examples.len()));
        let known: Vec<Sample> = known.iter().map(Sample::new).collect();
        let (pool, test): (Vec<&Example>, Vec<&Example>) = others
            .iter()
            .partition(|example| chance(&example.source, division).is_multiple_of(2));
        for (order, name) in ORDERS {
            simulate(&known, &pool, &test, order, division, name)?;
        }
    }
    Ok(())
}

fn simulate(
    known: &[Sample],
    pool: &[&Example],
    test: &[&Example],
    order: Order,
    division: u64,
    name: &str,
) -> Result<(), Box<dyn Error>> {
    let training = Training {
        folds: 4,
        rounds: 1,
        seed: 1,
    };
    let mut left: Vec<&Example> = pool.to_vec();
    let mut samples = known.to_vec();
    let mut corrected = 0;
    for step in STEPS {
        if step > corrected {
            let model = Classifier::train(&training, &samples, &mut |_, _| ())?;
            sort(&mut left, &model, order, division);
            for example in left.drain(..(step - corrected).min(left.len())) {
                samples.push(Sample::of_correction(example, Vocabulary::built_in()));
            }
            corrected = step;
        }
        let model = Classifier::train(&training, &samples, &mut |_, _| ())?;
        let judged = test.iter().map(|example| {
            let answer = model.classify(&example.text, example.pages);
            Judged::new((*example).clone(), answer)
        });
        let evaluation = evaluate(&judged.collect::<Vec<_>>(), &Policy::default());
        let accuracy = evaluation.all.accuracy.unwrap_or_default();
        println!("\"{name}\",{division},{corrected},{accuracy:.4}");
    }
    Ok(())
}

fn sort(left: &mut [&Example], model: &Classifier, order: Order, division: u64) {
    if matches!(order, Order::Random) {
        left.sort_by_key(|example| chance(&example.id, division));
        return;
    }
    let doubt =
        |example: &Example| (model.classify(&example.text, example.pages).probability - 0.5).abs();
    let mut doubts: HashMap<String, f64> = left
        .iter()
        .map(|example| (example.id.clone(), doubt(example)))
        .collect();
    left.sort_by(|a, b| doubts[&a.id].total_cmp(&doubts[&b.id]));
    if matches!(order, Order::UncertainBySource) {
        let mut of_source: HashMap<&str, f64> = HashMap::new();
        for example in left.iter() {
            let before = of_source.entry(&example.source).or_default();
            if let Some(doubt) = doubts.get_mut(&example.id) {
                *doubt += *before * LIKE_ANOTHER;
            }
            *before += 1.0;
        }
        left.sort_by(|a, b| doubts[&a.id].total_cmp(&doubts[&b.id]));
    }
}

/// A number that looks random, the same on every machine (FNV-1a).
fn chance(text: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash >> 17
}
