// SPDX-License-Identifier: MIT

/// The most that a server may make a client hold. What goes over it ends the exchange with `.limitExceeded`; only
/// excerpts of errors are cut off instead.
///
/// A value remembers which limits were set, and those of a call are laid over the client's one by one:
/// `options.limits.responseBody = 1 << 30` leaves the others as they are. Two values are equal when they have the same
/// limits, wherever these come from.
public struct Limits: Sendable {
    private var headerBytesChoice: Int?
    private var headerCountChoice: Int?
    private var responseBodyChoice: Int64?
    private var downloadChoice: Int64?
    private var decodedRatioChoice: Int?
    private var errorExcerptChoice: Int?
    private var redirectsChoice: Int?

    /// Limits that set what is named here and leave the rest as it is: to the client's in the options of a call, to the
    /// defaults in the configuration of a client.
    public init(
        headerBytes: Int? = nil, headerCount: Int? = nil, responseBody: Int64? = nil, download: Int64? = nil,
        decodedRatio: Int? = nil, errorExcerpt: Int? = nil, redirects: Int? = nil
    ) {
        headerBytesChoice = headerBytes
        headerCountChoice = headerCount
        responseBodyChoice = responseBody
        downloadChoice = download
        decodedRatioChoice = decodedRatio
        errorExcerptChoice = errorExcerpt
        redirectsChoice = redirects
    }

    /// Bytes of all header fields of one response head or trailer section. Default 256 KiB.
    ///
    /// On Linux libcurl takes no more than 300 KB of them in one call, interim responses included, whatever this says.
    public var headerBytes: Int {
        get { headerBytesChoice ?? 256 * 1024 }
        set { headerBytesChoice = newValue }
    }

    /// Number of header fields of one response. Default 1000.
    public var headerCount: Int {
        get { headerCountChoice ?? 1000 }
        set { headerCountChoice = newValue }
    }

    /// Bytes of a response body after decoding, as far as it is collected or iterated. Default 64 MiB.
    public var responseBody: Int64 {
        get { responseBodyChoice ?? 64 << 20 }
        set { responseBodyChoice = newValue }
    }

    /// Bytes of a response body that `APIClient.download` writes to a file, after decoding. Default 16 GiB.
    public var download: Int64 {
        get { downloadChoice ?? 16 << 30 }
        set { downloadChoice = newValue }
    }

    /// How many times larger a body may become by decoding (gzip, deflate, br, zstd), from its first MiB on. Default 100.
    ///
    /// A few kilobytes can stand for gigabytes. Text of people and programs shrinks to a fifth or a thirtieth, hardly ever
    /// to a hundredth. `CurlTransport` compares with what has come, and with what may be on its way in a buffer of at most
    /// 256 KiB; `URLSessionTransport` with the declared length, if there is one.
    public var decodedRatio: Int {
        get { decodedRatioChoice ?? 100 }
        set { decodedRatioChoice = newValue }
    }

    /// Bytes of the body that an error keeps; what is longer is cut off (`NetworkError.Answer.isTruncated`). Default 16
    /// KiB.
    public var errorExcerpt: Int {
        get { errorExcerptChoice ?? 16 * 1024 }
        set { errorExcerptChoice = newValue }
    }

    /// Redirects that one call follows. Default 20.
    public var redirects: Int {
        get { redirectsChoice ?? 20 }
        set { redirectsChoice = newValue }
    }

    /// Headers 256 KiB and 1000 fields, bodies 64 MiB, downloads 16 GiB, a hundredfold by decoding, error excerpts 16
    /// KiB, 20 redirects. All of them are set.
    public static let standard = Limits(
        headerBytes: 256 * 1024, headerCount: 1000, responseBody: 64 << 20, download: 16 << 30, decodedRatio: 100,
        errorExcerpt: 16 * 1024, redirects: 20)

    /// These limits with everything that `other` sets laid over them.
    public func overridden(by other: Limits) -> Limits {
        var result = self
        if let limit = other.headerBytesChoice { result.headerBytesChoice = limit }
        if let limit = other.headerCountChoice { result.headerCountChoice = limit }
        if let limit = other.responseBodyChoice { result.responseBodyChoice = limit }
        if let limit = other.downloadChoice { result.downloadChoice = limit }
        if let limit = other.decodedRatioChoice { result.decodedRatioChoice = limit }
        if let limit = other.errorExcerptChoice { result.errorExcerptChoice = limit }
        if let limit = other.redirectsChoice { result.redirectsChoice = limit }
        return result
    }
}

extension Limits: Hashable, CustomStringConvertible, CustomReflectable {
    /// The same limits, set or by default.
    public static func == (left: Limits, right: Limits) -> Bool {
        left.headerBytes == right.headerBytes && left.headerCount == right.headerCount
            && left.responseBody == right.responseBody && left.download == right.download
            && left.decodedRatio == right.decodedRatio && left.errorExcerpt == right.errorExcerpt
            && left.redirects == right.redirects
    }

    /// The limits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(headerBytes)
        hasher.combine(headerCount)
        hasher.combine(responseBody)
        hasher.combine(download)
        hasher.combine(decodedRatio)
        hasher.combine(errorExcerpt)
        hasher.combine(redirects)
    }

    /// The limits on one line, in bytes where they are bytes.
    public var description: String {
        "headers \(headerBytes) and \(headerCount) fields, bodies \(responseBody), downloads \(download), "
            + "\(decodedRatio) times by decoding, excerpts \(errorExcerpt), \(redirects) redirects"
    }

    /// Shows the limits, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
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
