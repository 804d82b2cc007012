//! What an experiment's result is made of.

use super::{Guest, Matrix};
#[cfg(feature = "commands")]
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

/// What an experiment has beside its variants. In the JSON it is one of two optional fields of the experiment.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "commands", derive(Deserialize), serde(try_from = "Fields"))]
pub enum Body {
    #[default]
    Variants,
    /// What operations add to surroundings. Such an experiment has no variants.
    Matrix(Matrix),
    /// Who ran the variants and what they did, in a guest of ring 0. Without hardware there are no variants.
    Guest(Guest),
}

impl Body {
    pub fn matrix_mut(&mut self) -> Option<&mut Matrix> {
        match self {
            Self::Matrix(matrix) => Some(matrix),
            Self::Variants | Self::Guest(_) => None,
        }
    }
}

#[cfg(feature = "commands")]
#[derive(Deserialize)]
struct Fields {
    matrix: Option<Matrix>,
    guest: Option<Guest>,
}

#[cfg(feature = "commands")]
impl TryFrom<Fields> for Body {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        match (fields.matrix, fields.guest) {
            (None, None) => Ok(Self::Variants),
            (Some(matrix), None) => Ok(Self::Matrix(matrix)),
            (None, Some(guest)) => Ok(Self::Guest(guest)),
            (Some(_), Some(_)) => Err("an experiment has a matrix and a guest; no cyclewise writes both"),
        }
    }
}

#[cfg(feature = "commands")]
impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Variants => {}
            Self::Matrix(matrix) => map.serialize_entry("matrix", matrix)?,
            Self::Guest(guest) => map.serialize_entry("guest", guest)?,
        }
        map.end()
    }
}

#[cfg(all(test, feature = "commands"))]
mod tests {
    use super::*;
    use crate::record::{Experiment, Probe};

    #[test]
    fn each_body_is_written_where_it_was_and_read_back() {
        let bodies = [
            (Body::Variants, "comparisons"),
            (Body::Matrix(Matrix::default()), "matrix"),
            (Body::Guest(Guest::default()), "guest"),
        ];
        for (body, next) in bodies {
            let e = Experiment {
                probe: Some(Probe::default()),
                body,
                ..Experiment::default()
            };
            let text = serde_json::to_string(&e).unwrap();
            assert_eq!(serde_json::from_str::<Experiment>(&text).unwrap(), e);
            let at = |name: &str| text.find(&format!("\"{name}\":"));
            assert!(at("probe") < at(next) && at(next) <= at("comparisons"), "{text}");
            let other = if next == "matrix" { "guest" } else { "matrix" };
            assert_eq!(at(other), None, "{text}");
        }
    }

    #[test]
    fn both_at_once_are_refused() {
        let one = serde_json::to_string(&Body::Guest(Guest::default())).unwrap();
        assert!(serde_json::from_str::<Body>(&one).is_ok());
        let matrix = serde_json::to_string(&Matrix::default()).unwrap();
        let both = one.replacen('{', &format!(r#"{{"matrix":{matrix},"#), 1);
        assert!(serde_json::from_str::<Body>(&both).is_err());
    }
}
