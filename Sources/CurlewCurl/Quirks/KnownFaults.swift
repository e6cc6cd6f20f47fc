// SPDX-License-Identifier: MIT

#if os(Linux)
/// Versions with faults that a transport cannot work around. They are reported but not refused, because distributions
/// fix faults without changing the version.
extension CurlLibrary {
    private static let faults: [UInt32: String] = [
        0x08_0B_01: "may close unrelated descriptors after a name lookup (CVE-2025-0665); 8.12.0 does not"
    ]

    /// Returns the known fault of a version, or nil if there is none.
    static func fault(ofVersion version: UInt32) -> String? { faults[version] }

    /// The name and version, and the known fault if there is one.
    var description: String {
        Self.fault(ofVersion: version).map { "\(name) (\($0))" } ?? name
    }
}
#endif
