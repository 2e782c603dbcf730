//! Union-find: disjoint sets of numbers.

/// Disjoint sets. Each has a representative, which stays the same when another set is united with it.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// Of each number its parent; a representative is its own.
    parents: Vec<u32>,
}

impl UnionFind {
    /// The numbers below `count`, each in a set of its own.
    pub fn new(count: usize) -> UnionFind {
        UnionFind { parents: (0..count as u32).collect() }
    }

    /// A new number in a set of its own.
    pub fn add(&mut self) -> u32 {
        let number = self.parents.len() as u32;
        self.parents.push(number);
        number
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        self.parents.len()
    }

    /// The representative of a number's set.
    pub fn find(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            // Halves the path for those that come next.
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = parent;
        }
        number
    }

    /// Unites the sets of two numbers. Returns the representative, which is that of `a`.
    pub fn unite(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[b as usize] = a;
        a
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn sets_keep_the_first_representative() {
        let mut sets = UnionFind::new(3);
        let last = sets.add();
        assert_eq!(sets.unite(1, 2), 1);
        assert_eq!(sets.unite(last, 2), last);
        assert_eq!((0..4).map(|number| sets.find(number)).collect::<Vec<u32>>(), [0, last, last, last]);
        assert_eq!(sets.unite(1, last), last, "they are united already");
    }
}
