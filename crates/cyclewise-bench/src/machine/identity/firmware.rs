//! What the firmware says of the machine by DMI: its product, and on some clouds the instance type.
//!
//! Serial numbers, UUIDs and asset tags are never read: they name an owner's property, and no group of machines.
//!
//! | cloud | `sys_vendor` | what names the type |
//! |---|---|---|
//! | EC2 on Nitro, and its bare metal | `Amazon EC2` | `product_name`: the kernel's logs there begin `Hardware name: Amazon EC2 m5.2xlarge/` |
//! | EC2 on Xen | `Xen` | nothing: `HVM domU` |
//! | Google Compute Engine | `Google` | nothing: `Google Compute Engine`; only the metadata server says it |
//! | Azure | `Microsoft Corporation` | nothing: `Virtual Machine`, as every guest of Hyper-V |
//! | Oracle Cloud | `QEMU` | nothing: `Standard PC (i440FX + PIIX, 1996)` |
//! | Alibaba Cloud | `Alibaba Cloud` | nothing: `Alibaba Cloud ECS` |
//!
//! # References
//! cloud-init, `tools/ds-identify` and its data sources, which detect these clouds by the same fields. Linux,
//! `drivers/firmware/dmi_scan.c`, `dmi_format_ids`: "Hardware name" is `sys_vendor` and `product_name`.

use super::line;
use crate::record::map_of;
use crate::sys::procfs::Sysfs;
use std::collections::BTreeMap;

/// Where the kernel shows the firmware's names.
pub(super) const DMI: &str = "/sys/class/dmi/id";

/// The fields that say what kind of machine it is. All can be read by every user.
const FIELDS: [&str; 8] = [
    "sys_vendor",
    "product_name",
    "product_version",
    "product_family",
    "board_name",
    "bios_vendor",
    "bios_version",
    "bios_date",
];

/// The firmware's names, by the kernel's names of them; those that are absent or empty are left out.
pub(super) fn dmi(fs: &Sysfs) -> BTreeMap<String, String> {
    let read = |field: &&str| Some(((*field).to_owned(), line(&fs.text(&format!("{DMI}/{field}"))?)?));
    map_of(FIELDS.iter().filter_map(read))
}

/// The cloud's name of this kind of machine, where the firmware says it (see the table above).
pub(super) fn instance_type(dmi: &BTreeMap<String, String>) -> Option<String> {
    let product = dmi.get("product_name")?;
    let is_part = |part: &str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty() && part.chars().all(is_letter)
    };
    let (family, size) = product.split_once('.')?;
    let is_type = dmi.get("sys_vendor")? == "Amazon EC2" && is_part(family) && is_part(size);
    is_type.then(|| product.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[track_caller]
    fn is_instance(vendor: &str, product: &str, expected: Option<&str>) {
        let tree = Tree::new();
        tree.write(&format!("{DMI}/sys_vendor"), vendor);
        tree.write(&format!("{DMI}/product_name"), product);
        assert_eq!(
            instance_type(&dmi(&tree.fs())).as_deref(),
            expected,
            "{vendor} {product}"
        );
    }

    #[test]
    fn only_the_firmware_of_ec2_names_the_type() {
        is_instance("Amazon EC2\n", "m6a.large\n", Some("m6a.large"));
        is_instance("Amazon EC2", "u-6tb1.112xlarge", Some("u-6tb1.112xlarge"));
        is_instance("Amazon EC2", "c5.metal", Some("c5.metal"));
        is_instance("Amazon EC2", "Not Specified", None);
        is_instance("Amazon EC2", "m6a.", None);
        is_instance("Xen", "HVM domU", None);
        is_instance("Google", "Google Compute Engine", None);
        is_instance("Microsoft Corporation", "Virtual Machine", None);
        is_instance("QEMU", "Standard PC (i440FX + PIIX, 1996)", None);
        is_instance("Alibaba Cloud", "Alibaba Cloud ECS", None);
        is_instance("Dell Inc.", "r740.xd", None);
    }

    #[test]
    fn what_names_an_owner_is_not_read() {
        let tree = Tree::new();
        for field in [
            "product_serial",
            "product_uuid",
            "board_asset_tag",
            "chassis_asset_tag",
            "board_serial",
        ] {
            tree.write(&format!("{DMI}/{field}"), "secret");
        }
        tree.write(&format!("{DMI}/board_name"), "X11SPM");
        let read = dmi(&tree.fs());
        assert_eq!(
            read.into_iter().collect::<Vec<_>>(),
            [("board_name".to_owned(), "X11SPM".to_owned())]
        );
    }
}
