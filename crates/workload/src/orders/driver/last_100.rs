//! The longest of the last 100 orders, as DVD Store tells it.

/// Orders that are looked at.
const ORDERS: usize = 100;

/// Response times of the last orders.
#[derive(Debug, Default)]
pub(super) struct Last100 {
    ns: Vec<u64>,
    next: usize,
}

impl Last100 {
    pub(super) fn add(&mut self, ns: u64) {
        if self.ns.len() < ORDERS {
            self.ns.push(ns);
        } else {
            self.ns[self.next] = ns;
        }
        self.next = (self.next + 1) % ORDERS;
    }

    /// In nanoseconds; none before the first order.
    pub(super) fn longest_ns(&self) -> Option<u64> {
        self.ns.iter().copied().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_forgotten_after_a_hundred_others() {
        let mut last = Last100::default();
        assert_eq!(last.longest_ns(), None);
        last.add(900);
        (0..99).for_each(|ns| last.add(ns));
        assert_eq!(last.longest_ns(), Some(900));
        last.add(5);
        assert_eq!(last.longest_ns(), Some(98));
    }
}
