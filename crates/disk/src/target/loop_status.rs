//! What a loop device stands on, asked of the device itself. Its name in /sys may be one of another mount namespace, or be
//! gone; device and inode stay.
#![expect(unsafe_code, reason = "an ioctl: no safe function exists")]

use std::path::Path;

use ownership::device::Backing;
use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4c05;
/// Major number of loop devices (Linux' admin-guide/devices.txt).
const LOOP_MAJOR: u32 = 7;

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    node_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// What the loop device of a node stands on. None if it is not set up, or may not be opened by this user.
pub(super) fn backing(node: &Path) -> Option<Backing> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let is_loop = |stat: rustix::fs::Stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice
            && rustix::fs::major(stat.st_rdev) == LOOP_MAJOR
    };
    rustix::fs::stat(node).ok().filter(|stat| is_loop(*stat))?;
    let device = rustix::fs::open(node, flags, Mode::empty()).ok()?;
    rustix::fs::fstat(&device).ok().filter(|stat| is_loop(*stat))?;
    // SAFETY: the driver writes one `loop_info64` of the kernel's interface, whose layout and size LoopInfo64 has, and
    // any bytes are a valid one. That it is the loop driver that answers is known by the major number.
    let info = unsafe { ioctl(&device, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new()) }.ok()?;
    Some(Backing { device: info.device, inode: info.inode, node_device: info.node_device })
}

const _: () = assert!(size_of::<LoopInfo64>() == 232, "as linux/loop.h has it");
