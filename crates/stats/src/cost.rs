//! What a rate costs, and how far that depends on the price.
//!
//! It knows no currency and no term: both belong to whoever names the price.

use crate::Estimate;

/// Price of one unit of a rate: all that was paid over the rate that it gives, as "Database performance and resiliency in
/// the Intel processor-powered Dell PowerEdge R630" (Principled Technologies) divides the price of a system by its orders
/// a minute. None where the price is negative, the rate is not positive, or one of them is not finite.
#[must_use]
pub fn cost_per_unit(price: f64, rate: f64) -> Option<f64> {
    let cost = price / rate;
    (price >= 0.0 && rate > 0.0 && cost.is_finite()).then_some(cost)
}

/// The price of one unit with the interval that a rate's own makes of it: the higher the rate, the cheaper the unit. None
/// where [`cost_per_unit`] is none of the rate or an end of it.
#[must_use]
pub fn cost_estimate(price: f64, rate: &Estimate) -> Option<Estimate> {
    let of = |rate: f64| cost_per_unit(price, rate);
    Estimate::new(of(rate.value)?, (of(rate.high)?, of(rate.low)?))
}

/// A price that was changed by a share of it, and what a unit of the same rate costs then.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PriceStep {
    /// Share by which the price was changed: −0.2 is a fifth less.
    pub change: f64,
    /// The price then.
    pub price: f64,
    /// Price of one unit of the rate then.
    pub cost: f64,
}

/// The cost of a unit with the price changed by each of the shares. Empty where [`cost_per_unit`] is none.
#[must_use]
pub fn price_steps(price: f64, rate: f64, changes: &[f64]) -> Vec<PriceStep> {
    let step = |&change: &f64| {
        let price = price * (1.0 + change);
        Some(PriceStep { change, price, cost: cost_per_unit(price, rate)? })
    };
    changes.iter().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_costs_are_reproduced() {
        // Principled Technologies on the Dell PowerEdge R630: price in dollars, orders a minute, printed cost.
        for (price, rate, printed) in [(10_994.88, 24_433.0, 0.45), (32_013.19, 246_255.0, 0.13)] {
            let cost = cost_per_unit(price, rate).unwrap();
            assert_eq!((cost * 100.0).round() / 100.0, printed, "{price} over {rate}");
        }
    }

    #[test]
    fn what_gives_no_rate_has_no_cost() {
        for (price, rate) in
            [(1.0, 0.0), (1.0, -1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0)]
        {
            assert_eq!(cost_per_unit(price, rate), None, "{price} over {rate}");
            assert!(price_steps(price, rate, &[0.0]).is_empty());
        }
        assert_eq!(cost_per_unit(0.0, 10.0), Some(0.0), "what was given away costs nothing");
    }

    #[test]
    fn an_uncertain_rate_costs_an_uncertain_price() {
        let estimate = |value, low, high| Estimate { value, low, high };
        let cost = cost_estimate(900.0, &estimate(1_000.0, 900.0, 1_200.0)).unwrap();
        assert_eq!(cost, estimate(0.9, 0.75, 1.0));
        assert_eq!(
            cost_estimate(900.0, &estimate(10.0, 0.0, 20.0)),
            None,
            "what may give nothing has no bound"
        );
    }

    #[test]
    fn a_fifth_more_or_less_moves_the_cost_by_a_fifth() {
        let steps = price_steps(1_000.0, 500.0, &[-0.2, 0.0, 0.2]);
        let costs: Vec<(f64, f64)> = steps.iter().map(|step| (step.price, step.cost)).collect();
        assert_eq!(costs, [(800.0, 1.6), (1_000.0, 2.0), (1_200.0, 2.4)]);
    }
}
