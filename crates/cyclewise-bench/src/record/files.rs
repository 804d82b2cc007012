//! Reading documents from files, which may be compressed.

use super::Record;
use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// Reads the record at `path`.
///
/// # Errors
/// Exit 2: the file is unreadable, truncated, not JSON, not a record, or of a newer version.
pub fn load(path: &Path) -> Result<Record> {
    super::from_str(&path.display().to_string(), &read(path)?)
}

/// What a file in gzip's format begins with (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a file in zstd's format begins with (RFC 8878, section 3.1.1).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes of the longest document that is read: a full run has 15 MB, a sweep some hundred. A device may have no end.
const LONGEST: u64 = 1 << 30;

/// What a packed text may unpack to, whatever its size.
const SMALL: u64 = 16 << 20;

/// What more it may unpack to for each of its bytes. Documents come to 20; the format can come to 1032.
const PER_BYTE: u64 = 100;

/// Reads the text of a file, compressed by gzip or not; `-` is standard input. It is read only once, so `path` may be a pipe.
///
/// # Errors
/// The file cannot be read, is cut off, is no UTF-8, is compressed by zstd, is longer than a document, or unpacks to more than a document does.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = match path == Path::new("-") {
        true => at_most(LONGEST, io::stdin().lock())?,
        false => at_most(LONGEST, File::open(path)?)?,
    };
    let too_long = || io::Error::new(ErrorKind::InvalidData, "it has more than 1 GiB, which no document has");
    text_of(bytes.ok_or_else(too_long)?)
}

/// The bytes of a file; none where it is longer.
fn at_most(longest: u64, file: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= longest))
}

/// The text of a file with these bytes.
pub fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    if !is_packed(&bytes)? {
        return String::from_utf8(bytes).map_err(|e| io::Error::new(ErrorKind::InvalidData, e.utf8_error()));
    }
    let most = (SMALL + PER_BYTE * bytes.len() as u64).min(LONGEST);
    let mut text = String::new();
    unpacked(&bytes[..])?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        let why = format!("it unpacks to more than {most} bytes, which no document of its size does");
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    Ok(text)
}

/// The bytes of a document, unpacked if they are packed: what every reader of documents reads through.
///
/// # Errors
/// The file cannot be read, or is compressed by zstd.
pub fn unpacked<'a>(mut bytes: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match is_packed(bytes.fill_buf()?)? {
        true => Box::new(MultiGzDecoder::new(bytes)),
        false => Box::new(bytes),
    })
}

/// Whether a file that begins so is compressed by gzip.
///
/// # Errors
/// It is compressed by zstd.
pub fn is_packed(start: &[u8]) -> io::Result<bool> {
    match start.starts_with(&ZSTD) {
        true => Err(io::Error::new(
            ErrorKind::Unsupported,
            "is compressed by zstd, which is not read; unpack it by `unzstd`, or pack it by gzip",
        )),
        false => Ok(start.starts_with(&GZIP)),
    }
}

/// Reads the text of a document as [`read_text`].
///
/// # Errors
/// Exit 2: the file is unreadable.
pub fn read(path: &Path) -> Result<String> {
    read_text(path).map_err(|e| {
        Error::usage(format!(
            "{}: {e}; give a file written by `cyclewise run --json` or `cyclewise simulate --json`",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_document_is_read_and_a_cut_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json.gz");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, b"{\"schema\": 1}").unwrap();
        let packed = packer.finish().unwrap();
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(read(&path).unwrap(), "{\"schema\": 1}");
        std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.status, crate::error::Status::Usage, "{}", error.message);
        assert_says!(error.message, "r.json.gz");
    }

    #[test]
    fn a_document_in_zstds_format_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json.zst");
        std::fs::write(&path, [&ZSTD[..], b"rest"].concat()).unwrap();
        let error = read(&path).unwrap_err();
        assert_says!(error.message, "r.json.zst: is compressed by zstd");
        assert!(unpacked(&ZSTD[..]).is_err() && unpacked(&ZSTD[1..]).is_ok());
    }

    #[test]
    fn of_a_file_without_an_end_no_more_than_a_document_is_read() {
        assert_eq!(at_most(9, &b"of 9 byte"[..]).unwrap().unwrap(), b"of 9 byte");
        assert_eq!(at_most(9, io::repeat(0)).unwrap(), None);
    }

    #[test]
    fn a_file_that_unpacks_to_too_much_is_refused_and_no_more_is_read() {
        let packed = |mebibytes: usize| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            let zeros = [b'0'; 1 << 20];
            (0..mebibytes).for_each(|_| std::io::Write::write_all(&mut packer, &zeros).unwrap());
            packer.finish().unwrap()
        };
        assert_eq!(text_of(packed(16)).unwrap().len(), 16 << 20);
        let error = text_of(packed(64)).unwrap_err();
        assert_says!(error.to_string(), "unpacks to more than");
    }
}
