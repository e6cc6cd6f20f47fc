// SPDX-License-Identifier: MIT

/// The protocol version of a message (RFC 9110 §2.5).
public struct HTTPVersion: Hashable, Comparable, CustomStringConvertible, Sendable {
    /// The major version number: 1 for HTTP/1.0 and HTTP/1.1.
    public let major: Int
    /// The minor version number; 0 for HTTP/2 and HTTP/3.
    public let minor: Int

    /// Creates a version from its major and minor numbers, which are not validated.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.0 (RFC 1945).
    public static var http1_0: HTTPVersion { HTTPVersion(major: 1, minor: 0) }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.1 (RFC 9112).
    public static var http1_1: HTTPVersion { HTTPVersion(major: 1, minor: 1) }
    /// HTTP/2 (RFC 9113).
    public static var http2: HTTPVersion { HTTPVersion(major: 2, minor: 0) }
    /// HTTP/3 (RFC 9114).
    public static var http3: HTTPVersion { HTTPVersion(major: 3, minor: 0) }

    /// Returns whether the left version is older.
    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// The version as text: "HTTP/1.1", "HTTP/2".
    public var description: String {
        major >= 2 && minor == 0 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)"
    }
}
