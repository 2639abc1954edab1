//! Finds the lowest point of a smooth function (L-BFGS with a backtracking line search).

use std::collections::VecDeque;

/// Number of steps that are remembered.
const MEMORY: usize = 12;

/// Goes down from `start`. `function` writes the gradient and returns the value.
pub(super) fn minimise(
    start: Vec<f64>,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
    most_steps: usize,
) -> Vec<f64> {
    let mut x = start;
    let mut gradient = vec![0.0; x.len()];
    let mut value = function(&x, &mut gradient);
    let mut memory: VecDeque<Step> = VecDeque::new();
    for _ in 0..most_steps {
        let size = norm(&gradient);
        if size < 1e-5 * norm(&x).max(1.0) {
            break;
        }
        let direction = direction(&gradient, &memory);
        let slope = dot(&gradient, &direction);
        if slope >= 0.0 {
            memory.clear();
        }
        let direction = if slope < 0.0 {
            direction
        } else {
            gradient.iter().map(|g| -g).collect()
        };
        let slope = slope.min(-dot(&direction, &direction) * f64::EPSILON);
        let mut length = if memory.is_empty() {
            (1.0 / size).min(1.0)
        } else {
            1.0
        };
        let mut next_gradient = vec![0.0; x.len()];
        let mut found = None;
        for _ in 0..40 {
            let next: Vec<f64> = x
                .iter()
                .zip(&direction)
                .map(|(x, d)| x + length * d)
                .collect();
            let next_value = function(&next, &mut next_gradient);
            if next_value <= value + 1e-4 * length * slope {
                found = Some((next, next_value));
                break;
            }
            length *= 0.5;
        }
        let Some((next, next_value)) = found else {
            break;
        };
        remember(&mut memory, &x, &next, &gradient, &next_gradient);
        let gain = value - next_value;
        (x, value, gradient) = (next, next_value, next_gradient);
        if gain < 1e-9 * value.abs().max(1.0) {
            break;
        }
    }
    x
}

struct Step {
    change: Vec<f64>,
    gradient_change: Vec<f64>,
    curvature: f64,
}

fn remember(
    memory: &mut VecDeque<Step>,
    x: &[f64],
    next: &[f64],
    gradient: &[f64],
    next_gradient: &[f64],
) {
    let change: Vec<f64> = next.iter().zip(x).map(|(a, b)| a - b).collect();
    let gradient_change: Vec<f64> = next_gradient
        .iter()
        .zip(gradient)
        .map(|(a, b)| a - b)
        .collect();
    let curvature = dot(&change, &gradient_change);
    if curvature <= 1e-12 {
        return;
    }
    if memory.len() == MEMORY {
        memory.pop_front();
    }
    memory.push_back(Step {
        change,
        gradient_change,
        curvature,
    });
}

/// Two loops over the remembered steps give the product with the inverse Hessian they imply.
fn direction(gradient: &[f64], memory: &VecDeque<Step>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(memory.len());
    for step in memory.iter().rev() {
        let factor = dot(&step.change, &q) / step.curvature;
        add(&mut q, -factor, &step.gradient_change);
        factors.push(factor);
    }
    if let Some(last) = memory.back() {
        let scale = last.curvature / dot(&last.gradient_change, &last.gradient_change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (step, factor) in memory.iter().zip(factors.into_iter().rev()) {
        let other = dot(&step.gradient_change, &q) / step.curvature;
        add(&mut q, factor - other, &step.change);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut()
        .zip(what)
        .for_each(|(to, what)| *to += factor * what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_a_curved_valley() {
        let rosenbrock = |x: &[f64], gradient: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };

        let found = minimise(vec![-1.2, 1.0], rosenbrock, 500);

        assert!(
            (found[0] - 1.0).abs() < 1e-3 && (found[1] - 1.0).abs() < 1e-3,
            "{found:?}"
        );
    }
}
