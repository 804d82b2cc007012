//! Drives an installed Chromium: lays out a page in a frame of any width, and takes a screenshot.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than a loaded machine needs; a hang must not block the tests for ever.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Runs in the page that holds the frame, so the page under test stays as it was written.
const MEASURE: &str = r#"
onload = () => {
  const doc = document.querySelector("iframe").contentDocument;
  const markers = line => getComputedStyle(line).markerMid === "none" ? 0 : line.points.numberOfItems;
  const root = doc.documentElement;
  let out = `page ${root.scrollWidth} ${root.scrollHeight}\n`;
  for (const plot of doc.querySelectorAll("svg.plot")) {
    const box = plot.getBoundingClientRect();
    const drawn = [...plot.querySelectorAll("polyline")].reduce((n, line) => n + markers(line), 0);
    if (box.width > 0) out += `plot ${box.x} ${box.y} ${box.width} ${box.height} ${drawn}\n`;
  }
  document.querySelector("pre").textContent = out;
};
"#;

pub(crate) struct Chromium {
    program: PathBuf,
}

/// A page's layout at a width.
pub(crate) struct Layout {
    pub(crate) scroll_width: u32,
    pub(crate) height: u32,
    pub(crate) plots: Vec<Plot>,
}

pub(crate) struct Plot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Vertices that are shown as markers.
    pub(crate) markers: usize,
}

pub(crate) struct Picture {
    width: u32,
    channels: usize,
    bytes: Vec<u8>,
}

impl Picture {
    /// Red, green and blue of a pixel; black outside the screenshot.
    pub(crate) fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * self.channels;
        self.bytes.get(at..at + 3).map_or([0; 3], |p| [p[0], p[1], p[2]])
    }
}

impl Chromium {
    /// The one that `CHROMIUM` names, or the first on the path; prints a skip if there is none.
    pub(crate) fn find() -> Option<Chromium> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let on_path = ["chromium", "chromium-browser", "google-chrome"]
            .iter()
            .flat_map(|name| std::env::split_paths(&path).map(move |dir| dir.join(name)));
        let program = named.into_iter().chain(on_path).find(|p| p.is_file());
        if program.is_none() {
            println!("skipped: no Chromium on PATH");
        }
        program.map(|program| Chromium { program })
    }

    pub(crate) fn lay_out(&self, page: &str, width: u32) -> Layout {
        let dir = tempfile::tempdir().unwrap();
        let dom = self.run(dir.path(), page, [width, 800], &["--dump-dom"]);
        let measured = dom.split_once("<pre>").unwrap().1.split("</pre>").next().unwrap();
        let mut layout = Layout {
            scroll_width: 0,
            height: 0,
            plots: Vec::new(),
        };
        for line in measured.lines() {
            let (kind, rest) = line.split_once(' ').unwrap();
            let numbers: Vec<f64> = rest.split(' ').map(|n| n.parse().unwrap()).collect();
            match (kind, numbers[..].as_ref()) {
                ("page", &[width, height]) => {
                    layout.scroll_width = width as u32;
                    layout.height = height as u32;
                }
                ("plot", &[x, y, width, height, markers]) => layout.plots.push(Plot {
                    x,
                    y,
                    width,
                    height,
                    markers: markers as usize,
                }),
                _ => panic!("the measuring script wrote {line:?}"),
            }
        }
        assert!(layout.height > 0, "nothing was measured: {dom}");
        layout
    }

    /// Takes a screenshot of `page` in a frame of this size.
    pub(crate) fn picture(&self, page: &str, width: u32, height: u32) -> Picture {
        let dir = tempfile::tempdir().unwrap();
        let png = dir.path().join("page.png");
        self.run(
            dir.path(),
            page,
            [width, height],
            &[&format!("--screenshot={}", png.display())],
        );
        let file = std::io::BufReader::new(std::fs::File::open(&png).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        Picture {
            width: info.width,
            channels: info.color_type.samples(),
            bytes,
        }
    }

    /// Runs it on the page in a frame. A window has a minimum width, larger than a phone's; a frame has none.
    fn run(&self, dir: &Path, page: &str, [width, height]: [u32; 2], what: &[&str]) -> String {
        let mut quoted = String::new();
        for c in page.chars() {
            match c {
                '&' => quoted.push_str("&amp;"),
                '"' => quoted.push_str("&quot;"),
                c => quoted.push(c),
            }
        }
        let mut frame = String::from("<!doctype html><body style=\"margin:0\">");
        write!(
            frame,
            "<iframe style=\"border:0;display:block;width:{width}px;height:{height}px\" srcdoc=\"{quoted}\"></iframe>\
             <pre></pre><script>{MEASURE}</script>"
        )
        .unwrap();
        let file = dir.join("frame.html");
        std::fs::write(&file, frame).unwrap();
        let out = dir.join("out");
        let mut child = Command::new(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--hide-scrollbars", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", dir.join("profile").display()))
            .arg(format!("--window-size={},{}", width.max(600), height))
            .args(what)
            .arg(format!("file://{}", file.display()))
            .stdout(std::fs::File::create(&out).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if began.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{} did not end within {PATIENCE:?}", self.program.display());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::read_to_string(&out).unwrap()
    }
}
