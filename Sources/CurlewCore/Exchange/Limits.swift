// SPDX-License-Identifier: MIT

/// The most that a server may make a client hold. What goes over it ends the exchange with `.limitExceeded`; only
/// excerpts of errors are cut off instead.
public struct Limits: Hashable, Sendable {
    /// Bytes of all header fields of one response head or trailer section. Default 256 KiB.
    public var headerBytes: Int
    /// Number of header fields of one response. Default 1000.
    public var headerCount: Int
    /// Bytes of a response body after decoding, as far as it is collected or iterated. Default 64 MiB.
    public var responseBody: Int64
    /// Bytes of a response body that `APIClient.download` writes to a file, after decoding. Default 16 GiB.
    public var download: Int64
    /// How many times larger a body may become by decoding (gzip, deflate, br, zstd), from its first MiB on. Default 100.
    ///
    /// A few kilobytes can stand for gigabytes. Text of people and programs shrinks to a fifth or a thirtieth, hardly ever
    /// to a hundredth. `CurlTransport` compares with what has come, and with what may be on its way in a buffer of at most
    /// 256 KiB; `URLSessionTransport` with the declared length, if there is one.
    public var decodedRatio: Int
    /// Bytes of the body that an error keeps; what is longer is cut off (`NetworkError.Answer.isTruncated`). Default 16
    /// KiB.
    public var errorExcerpt: Int
    /// Redirects that one call follows. Default 20.
    public var redirects: Int

    /// Limits with those of `.standard` where nothing is said.
    public init(
        headerBytes: Int = 256 * 1024, headerCount: Int = 1000, responseBody: Int64 = 64 * 1024 * 1024,
        download: Int64 = 16 * 1024 * 1024 * 1024, decodedRatio: Int = 100, errorExcerpt: Int = 16 * 1024,
        redirects: Int = 20
    ) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.responseBody = responseBody
        self.download = download
        self.decodedRatio = decodedRatio
        self.errorExcerpt = errorExcerpt
        self.redirects = redirects
    }

    /// Headers 256 KiB and 1000 fields, bodies 64 MiB, downloads 16 GiB, a hundredfold by decoding, error excerpts 16
    /// KiB, 20 redirects.
    public static let standard = Limits()
}

extension Limits {
    /// The failure of a body of `decoded` bytes so far that took at most `coded` bytes on the wire; nil while it may grow.
    package func growthFailure(decoded: Int64, coded: Int64) -> NetworkError? {
        guard decoded > 1 << 20 else { return nil }
        let (most, isBeyond) = max(0, coded).multipliedReportingOverflow(by: Int64(max(1, decodedRatio)))
        guard !isBeyond, decoded > most else { return nil }
        return NetworkError(
            .limitExceeded(.responseBody),
            detail:
                "The response body is more than \(decodedRatio) times larger than what came of it: it grew by decoding "
                + "to \(decoded) bytes.",
            hint: "If the server is trusted, raise options.limits.decodedRatio for this call, or ask with "
                + "options.rawBody.")
    }
}
