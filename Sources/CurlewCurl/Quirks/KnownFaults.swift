// SPDX-License-Identifier: MIT

#if os(Linux)
/// The known faults of libcurl versions that the transport cannot work around. `CurlTransport.description` names the
/// fault, but the transport does not refuse the version, because distributions fix faults without changing the version.
extension CurlLibrary {
    private static let faults: [UInt32: String] = [
        0x08_0B_01: "may close unrelated descriptors after a name lookup (CVE-2025-0665); 8.12.0 does not"
    ]

    /// Returns the known fault of a libcurl version, or nil if there is none.
    static func fault(ofVersion version: UInt32) -> String? { faults[version] }

    /// The name and version of libcurl, and the known fault of this version if there is one.
    var description: String {
        Self.fault(ofVersion: version).map { "\(name) (\($0))" } ?? name
    }
}
#endif
