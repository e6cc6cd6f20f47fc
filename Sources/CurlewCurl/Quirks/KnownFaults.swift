// SPDX-License-Identifier: MIT

#if os(Linux)
/// Versions with faults that no engine can make good. They are named and not refused: distributions mend faults without
/// another number.
extension CurlLibrary {
    private static let faults: [UInt32: String] = [
        0x08_0B_01: "may close descriptors of others after a name lookup (CVE-2025-0665); 8.12.0 does not"
    ]

    /// What is wrong with a version; nil if nothing is known.
    static func fault(ofVersion version: UInt32) -> String? { faults[version] }

    /// Name and version, and what is wrong with that one.
    var description: String {
        Self.fault(ofVersion: version).map { "\(name) (\($0))" } ?? name
    }
}
#endif
