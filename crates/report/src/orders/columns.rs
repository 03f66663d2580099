//! What belongs to a trial of an order store as a whole, in the CSV file. Columns from `purchases` on are of the whole trial,
//! warm-up and drain included, and of all targets together; `orders_per_min_by_target` has spaces between its figures.

use super::cpu::whose;
use crate::csv::{Field, number};
use crate::trial::Trial;

pub(crate) const COLUMNS: [Field; 40] = [
    ("orders_per_min", |trial| number(trial.orders()?.per_min?)),
    ("orders_per_min_low", |trial| number(trial.orders()?.per_min_interval?.low)),
    ("orders_per_min_high", |trial| number(trial.orders()?.per_min_interval?.high)),
    ("committed_orders_per_min", |trial| number(trial.orders()?.committed_per_min?)),
    ("offered_orders_per_min", |trial| number(trial.orders()?.offered_per_min?)),
    ("rolled_back_orders", |trial| Some(trial.orders()?.rollbacks.to_string())),
    ("rolled_back_share", |trial| number(trial.orders()?.rollback_share?)),
    ("retried_operations", |trial| Some(trial.orders()?.retries.to_string())),
    ("targets", |trial| Some(trial.orders()?.targets.len().to_string())),
    ("orders_per_min_by_target", by_target),
    ("target_variability", |trial| number(trial.orders()?.target_variability?)),
    ("target_variability_by_chance", |trial| number(trial.orders()?.target_variability_by_chance?)),
    ("clients", |trial| Some(trial.orders()?.clients?.clients.to_string())),
    ("client_orders_per_min_least", |trial| number(trial.orders()?.clients?.min_per_min)),
    ("client_orders_per_min_median", |trial| number(trial.orders()?.clients?.median_per_min)),
    ("client_orders_per_min_most", |trial| number(trial.orders()?.clients?.max_per_min)),
    ("client_variability", |trial| number(trial.orders()?.clients?.variability?)),
    ("client_variability_by_chance", |trial| number(trial.orders()?.clients?.variability_by_chance?)),
    ("database_us_per_order", |trial| number(trial.orders()?.time.database_us?)),
    ("database_share_of_order", |trial| number(trial.orders()?.time.database_share?)),
    ("client_cpu_us_per_order", |trial| number(trial.orders()?.time.client_cpu_us?)),
    ("server_cpu_us_per_order", |trial| number(trial.orders()?.time.server_cpu_us?)),
    ("machine_less_load_cpu_us_per_order", |trial| number(trial.orders()?.time.machine_less_load_cpu_us?)),
    ("client_cpu_over_server_cpu", |trial| number(trial.orders()?.time.client_over_server?)),
    ("cpu_target_share", |trial| number(trial.orders()?.cpu_target?.target_share)),
    ("server_cpu_of", |trial| Some(whose(trial.orders()?.cpu_target?.read, false).to_owned())),
    ("server_cpu_processors", |trial| number(trial.orders()?.cpu_target?.read.processors?)),
    ("server_cpu_share_mean", |trial| number(trial.orders()?.cpu_target?.mean_share?)),
    ("active_clients_mean", |trial| number(trial.orders()?.cpu_target?.active_clients_mean?)),
    ("cpu_target_reached", |trial| Some(trial.orders()?.cpu_target?.reached?.to_string())),
    ("purchases", |trial| Some(trial.orders()?.reconciled.as_ref()?.purchases.to_string())),
    ("purchases_rolled_back", |trial| Some(trial.orders()?.reconciled.as_ref()?.rollbacks.to_string())),
    ("purchases_unanswered", |trial| Some(trial.orders()?.reconciled.as_ref()?.unanswered.to_string())),
    ("orders_found", |trial| Some(trial.orders()?.reconciled.as_ref()?.orders_found?.to_string())),
    ("acknowledged_orders_lost", |trial| {
        Some(trial.orders()?.reconciled.as_ref()?.acknowledged_lost?.to_string())
    }),
    ("quantity_found", |trial| Some(trial.orders()?.reconciled.as_ref()?.quantity_found?.to_string())),
    ("sales_risen", |trial| Some(trial.orders()?.reconciled.as_ref()?.sales_risen?.to_string())),
    ("reconciled", |trial| Some(trial.orders()?.reconciled.as_ref()?.holds?.to_string())),
    ("clients_stopped", |trial| {
        Some(trial.orders()?.targets.iter().map(|target| target.stopped.len()).sum::<usize>().to_string())
    }),
    ("outages_of_targets", |trial| {
        Some(trial.orders()?.targets.iter().map(|target| target.outages.len()).sum::<usize>().to_string())
    }),
];

fn by_target(trial: &Trial) -> Option<String> {
    let rates = trial.orders()?.targets.iter();
    let rates = rates.map(|target| target.per_min.and_then(number).unwrap_or_default());
    Some(rates.collect::<Vec<String>>().join(" "))
}
