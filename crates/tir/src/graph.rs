//! Strongly connected parts of small directed graphs.

/// The parts of the graph whose nodes reach each other, each sorted, in an order in which every
/// part comes after the parts it leads to (Tarjan's algorithm, without recursion on the stack of
/// the machine, because graphs may be long chains).
pub fn strong_parts(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search::new(edges);
    (0..edges.len()).for_each(|node| search.run(node));
    search.parts.iter_mut().for_each(|part| part.sort_unstable());
    search.parts
}

struct Search<'a> {
    edges: &'a [Vec<usize>],
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    n_seen: usize,
    parts: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(edges: &'a [Vec<usize>]) -> Search<'a> {
        let n = edges.len();
        let (order, low, on_stack) = (vec![None; n], vec![0; n], vec![false; n]);
        Search { edges, order, low, on_stack, stack: Vec::new(), n_seen: 0, parts: Vec::new() }
    }

    /// Visits everything that can be reached; `path` holds each node on the way and how many of
    /// its edges were followed.
    fn run(&mut self, start: usize) {
        if self.order[start].is_some() {
            return;
        }
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&to) = self.edges[node].get(*next) else {
                path.pop();
                self.leave(node);
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
                continue;
            };
            *next += 1;
            match self.order[to] {
                None => {
                    self.enter(to);
                    path.push((to, 0));
                }
                Some(order) if self.on_stack[to] => self.low[node] = self.low[node].min(order),
                Some(_) => {}
            }
        }
    }

    fn enter(&mut self, node: usize) {
        (self.order[node], self.low[node]) = (Some(self.n_seen), self.n_seen);
        self.n_seen += 1;
        self.on_stack[node] = true;
        self.stack.push(node);
    }

    /// Closes the part that starts at this node, if one does.
    fn leave(&mut self, node: usize) {
        if Some(self.low[node]) != self.order[node] {
            return;
        }
        let at = self.stack.iter().rposition(|member| *member == node).unwrap_or(0);
        let part = self.stack.split_off(at);
        part.iter().for_each(|member| self.on_stack[*member] = false);
        self.parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::strong_parts;

    #[test]
    fn parts_come_after_what_they_lead_to() {
        assert_eq!(strong_parts(&[vec![1], vec![2, 0], vec![]]), [vec![2], vec![0, 1]]);
        assert_eq!(strong_parts(&[vec![], vec![0], vec![1, 2]]), [vec![0], vec![1], vec![2]]);
        let chain: Vec<Vec<usize>> = (0..100_000).map(|node| vec![(node + 1) % 100_000]).collect();
        assert_eq!(strong_parts(&chain).len(), 1);
    }
}
