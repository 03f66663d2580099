//! Pictures in levels of grey, reduced to cells. Colour is left out, so that it never decides.

use std::fs::File;
use std::io::{BufWriter, Cursor, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Transformations};

/// A picture, line by line from its top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grey {
    pub(super) width: usize,
    pub(super) height: usize,
    /// From 0 for black to 255 for white.
    pub(super) levels: Vec<u8>,
}

impl Grey {
    /// Reads a PNG of any kind. What is transparent counts with its colour.
    pub(super) fn decoded(png: &[u8]) -> Result<Self> {
        let mut decoder = Decoder::new(Cursor::new(png));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().context("it is too large")?];
        let frame = reader.next_frame(&mut bytes)?;
        bytes.truncate(frame.buffer_size());
        let levels = match frame.color_type {
            ColorType::Grayscale => bytes,
            ColorType::GrayscaleAlpha => bytes.chunks_exact(2).map(|pixel| pixel[0]).collect(),
            ColorType::Rgb => bytes.chunks_exact(3).map(brightness).collect(),
            ColorType::Rgba => bytes.chunks_exact(4).map(brightness).collect(),
            ColorType::Indexed => bail!("its colours are still indices"),
        };
        let (width, height) = (usize::try_from(frame.width)?, usize::try_from(frame.height)?);
        ensure!(levels.len() == width * height, "it has {} pixels of {width}×{height}", levels.len());
        Ok(Self { width, height, levels })
    }

    /// Writes it as a PNG with 16 levels, which take half the room of 256.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut file = BufWriter::new(file);
        let mut encoder = Encoder::new(&mut file, u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.set_color(ColorType::Grayscale);
        encoder.set_depth(BitDepth::Four);
        encoder.set_compression(Compression::High);
        let lines = self.levels.chunks(self.width).flat_map(|line| line.chunks(2).map(packed));
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&lines.collect::<Vec<u8>>())?;
        writer.finish()?;
        file.flush()?;
        Ok(())
    }

    /// Each square of so many pixels as one cell with its mean level.
    pub(super) fn reduced(&self, pixels: usize) -> Self {
        let (width, height) = (self.width.div_ceil(pixels), self.height.div_ceil(pixels));
        let lines: Vec<&[u8]> = self.lines().collect();
        let rows = lines.chunks(pixels);
        let cells = rows.flat_map(|rows| (0..width).map(|column| mean(rows, column * pixels, pixels)));
        Self { width, height, levels: cells.collect() }
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.levels.chunks(self.width.max(1))
    }
}

/// Brightness of a pixel as eyes weigh its colours (ITU-R BT.601).
fn brightness(pixel: &[u8]) -> u8 {
    ((299 * u32::from(pixel[0]) + 587 * u32::from(pixel[1]) + 114 * u32::from(pixel[2]) + 500) / 1000) as u8
}

/// Two pixels of 16 levels in a byte. The second one is missing where a line is odd.
fn packed(pixels: &[u8]) -> u8 {
    let sixteenth =
        |pixel: Option<&u8>| pixel.map_or(0, |level| ((u16::from(*level) * 15 + 127) / 255) as u8);
    (sixteenth(pixels.first()) << 4) | sixteenth(pixels.get(1))
}

/// The mean level of some pixels of each row.
fn mean(rows: &[&[u8]], begin: usize, pixels: usize) -> u8 {
    let of_row = |row: &&[u8]| {
        row[begin..row.len().min(begin + pixels)].iter().map(|level| u32::from(*level)).sum::<u32>()
    };
    let sum: u32 = rows.iter().map(of_row).sum();
    let count: usize = rows.iter().map(|row| row.len().min(begin + pixels) - begin).sum();
    (f64::from(sum) / count.max(1) as f64).round() as u8
}

#[cfg(test)]
impl Grey {
    /// A picture of one level everywhere.
    pub(super) fn blank(width: usize, height: usize, level: u8) -> Self {
        Self { width, height, levels: vec![level; width * height] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, levels: &[u8]) -> Grey {
        Grey { width, height: levels.len() / width, levels: levels.to_vec() }
    }

    fn read(path: &Path) -> Grey {
        Grey::decoded(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_cell_is_the_mean_of_its_pixels_also_at_the_edges() {
        let reduced = grey(3, &[0, 100, 50, 100, 200, 70, 10, 30, 255]).reduced(2);
        assert_eq!(reduced, grey(2, &[100, 60, 20, 255]));
        assert_eq!(grey(2, &[7, 9]).reduced(1), grey(2, &[7, 9]));
    }

    /// Steps of 17 are stored without loss; the width is odd, so that half a byte is left at the end of each line.
    #[test]
    fn what_is_stored_is_read_again_within_half_a_step() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.png");
        let steps = grey(3, &[0, 17, 34, 221, 238, 255]);
        steps.write(&path).unwrap();
        assert_eq!(read(&path), steps);
        let all = grey(1, &(0..=255).collect::<Vec<u8>>());
        all.write(&path).unwrap();
        let read = read(&path);
        assert!(all.levels.iter().zip(&read.levels).all(|(before, after)| before.abs_diff(*after) <= 8));
    }

    #[test]
    fn colours_count_by_their_brightness() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.png");
        let mut encoder = Encoder::new(File::create(&path).unwrap(), 2, 1);
        encoder.set_color(ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[255, 0, 0, 255, 0, 255, 0, 255]).unwrap();
        writer.finish().unwrap();
        assert_eq!(read(&path), grey(2, &[76, 150]));
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        assert!(Grey::decoded(b"no picture").is_err());
    }
}
