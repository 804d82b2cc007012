//! Two CPUs, and how far a line moves between them.

/// How far a line moves between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    Sibling,
    /// Cores of one cluster, if a socket has several.
    Cluster,
    /// The same socket.
    Socket,
    /// Another socket.
    Remote,
}

impl Distance {
    /// All distances, nearest first.
    pub const ALL: [Distance; 4] = [Self::Sibling, Self::Cluster, Self::Socket, Self::Remote];

    /// The name in variants and machine files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sibling => "sibling",
            Self::Cluster => "cluster",
            Self::Socket => "socket",
            Self::Remote => "remote",
        }
    }
}

/// Two CPUs and how far they are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub cpus: [u32; 2],
    pub distance: Distance,
}

impl Pair {
    pub fn name(&self) -> String {
        let [a, b] = self.cpus;
        format!("{}-{a}-{b}", self.distance.name())
    }

    pub fn parse(name: &str) -> Option<Pair> {
        let (distance, cpus) = name.split_once('-')?;
        let (a, b) = cpus.split_once('-')?;
        Some(Pair {
            cpus: [a.parse().ok()?, b.parse().ok()?],
            distance: Distance::ALL.into_iter().find(|d| d.name() == distance)?,
        })
    }
}
