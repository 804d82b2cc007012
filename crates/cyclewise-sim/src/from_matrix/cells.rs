//! The times of a matrix, each of which must be there.

/// The most CPUs: finding their levels takes seconds.
const MOST: usize = 1024;

/// One-way times between CPUs: row by row, below the diagonal.
pub(super) type Cells = Vec<Vec<f64>>;

/// Reads a matrix. The tool's first benchmark writes each pair once, below the diagonal; of a pair that is written twice, both directions count.
pub(super) fn read(text: &str) -> Result<Cells, String> {
    let rows = parse(text)?;
    let cpus = rows.len();
    if cpus < 2 {
        return Err("has fewer than two CPUs; give the tool's output of --csv".to_owned());
    }
    if cpus > MOST {
        return Err(format!(
            "has {cpus} CPUs, more than the maximum of {MOST}; measure fewer of them"
        ));
    }
    for (line, row) in rows.iter().enumerate() {
        if row.len() != cpus {
            return Err(format!(
                "is not square: line {} has {} cells, but there are {cpus} lines; give the tool's whole output of --csv",
                line + 1,
                row.len()
            ));
        }
    }
    let time = |line: usize, cell: usize| {
        let found = match (rows[line][cell], rows[cell][line]) {
            (Some(one), Some(other)) => Some(f64::midpoint(one, other)),
            (one, other) => one.or(other),
        };
        let place = || format!("line {}, cell {}", line + 1, cell + 1);
        match found {
            None => Err(format!("{} is empty; all pairs of CPUs must be measured", place())),
            Some(ns) if ns.is_finite() && ns > 0.0 => Ok(ns),
            Some(ns) => Err(format!("{} is {ns}, which is not a time in nanoseconds", place())),
        }
    };
    (0..cpus).map(|a| (0..a).map(|b| time(a, b)).collect()).collect()
}

/// Rows of optional times; an empty cell has none.
fn parse(text: &str) -> Result<Vec<Vec<Option<f64>>>, String> {
    let cell = |line: usize, cell: usize, text: &str| match text.trim() {
        "" | "NaN" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            format!(
                "line {}, cell {} is not a number; give the tool's output of --csv",
                line + 1,
                cell + 1
            )
        }),
    };
    let row = |(line, text): (usize, &str)| {
        let cells = text.split(',').enumerate();
        cells.map(|(at, text)| cell(line, at, text)).collect()
    };
    text.lines().enumerate().map(row).collect()
}
