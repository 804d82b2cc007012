//! A persistent map from small numbers: a tree whose nodes never change.
//!
//! A new version copies the nodes from the root to the key and shares all others with the old one, so that each node
//! copied counts every child up, and each old version that ends counts them down.

use cyclewise::refs::Arc;

/// Children of a node: a power of two.
const WIDTH: usize = 32;

/// Keys are below this: three levels.
pub(crate) const KEYS: usize = WIDTH * WIDTH * WIDTH;

/// One version.
pub(crate) struct Map<T> {
    root: Arc<Node<T>>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a box in a shared node would be a second allocation"
)]
enum Node<T> {
    Inner([Arc<Node<T>>; WIDTH]),
    Leaf([T; WIDTH]),
}

impl<T> Clone for Map<T> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
        }
    }
}

impl<T: Clone> Map<T> {
    /// Every key has this value. One node a level is enough for that.
    pub(crate) fn filled_with(value: &T) -> Self {
        let mut root = Arc::new(Node::Leaf(std::array::from_fn(|_| value.clone())));
        for _ in 1..KEYS.ilog(WIDTH) {
            root = Arc::new(Node::Inner(std::array::from_fn(|_| root.clone())));
        }
        Self { root }
    }

    pub(crate) fn get(&self, key: usize) -> &T {
        let (mut node, mut unit) = (&*self.root, KEYS / WIDTH);
        loop {
            match node {
                Node::Inner(children) => node = &children[key / unit % WIDTH],
                Node::Leaf(values) => return &values[key % WIDTH],
            }
            unit /= WIDTH;
        }
    }

    /// The version that has `value` at `key`; this one stays as it is.
    pub(crate) fn put(&self, key: usize, value: T) -> Self {
        Self {
            root: Self::copied(&self.root, key, KEYS / WIDTH, value),
        }
    }

    fn copied(node: &Node<T>, key: usize, unit: usize, value: T) -> Arc<Node<T>> {
        let slot = key / unit % WIDTH;
        Arc::new(match node {
            Node::Inner(children) => {
                let mut children = children.clone();
                children[slot] = Self::copied(&children[slot], key, unit / WIDTH, value);
                Node::Inner(children)
            }
            Node::Leaf(values) => {
                let mut values = values.clone();
                values[slot] = value;
                Node::Leaf(values)
            }
        })
    }
}
