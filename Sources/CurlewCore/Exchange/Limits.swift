// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The limits on what a client accepts from a server. An exchange that exceeds a limit ends with `.limitExceeded`. Only
/// error excerpts are truncated instead.
///
/// A value records which limits were set. A limit that a call sets overrides that limit of the client and no other:
/// `options.limits.responseBody = 1 << 30` leaves the other limits unchanged. Two values are equal if all their limits
/// are equal. A default is equal to the same limit that was set.
public struct Limits: ComparedByKey, MirroredByDescription, Sendable {
    private var headerBytesChoice: Int?
    private var headerCountChoice: Int?
    private var responseBodyChoice: Int64?
    private var downloadChoice: Int64?
    private var decodedRatioChoice: Int?
    private var errorExcerptChoice: Int?
    private var redirectsChoice: Int?

    /// Creates limits that set only the given values. An omitted limit keeps the client's value in the options of a
    /// call, and has its default in the configuration of a client.
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

    /// The maximum size of all header fields of one response head or trailer section, in bytes. Default 256 KiB. On
    /// Linux libcurl accepts at most 300 KB of header fields per exchange, interim responses included, even if this
    /// limit is higher.
    public var headerBytes: Int {
        get { headerBytesChoice ?? 256 * 1024 }
        set { headerBytesChoice = newValue }
    }

    /// The maximum number of header fields of one response. Default 1000.
    public var headerCount: Int {
        get { headerCountChoice ?? 1000 }
        set { headerCountChoice = newValue }
    }

    /// The maximum size of a decoded response body that is collected or iterated, in bytes. Default 64 MiB.
    public var responseBody: Int64 {
        get { responseBodyChoice ?? 64 << 20 }
        set { responseBodyChoice = newValue }
    }

    /// The maximum size of a decoded response body that `APIClient.download` writes to a file, in bytes. Default 16
    /// GiB.
    public var download: Int64 {
        get { downloadChoice ?? 16 << 30 }
        set { downloadChoice = newValue }
    }

    /// The maximum ratio of the decoded to the encoded size of a body (gzip, deflate, br, zstd), enforced once the
    /// decoded body exceeds 1 MiB. Default 100, minimum 1.
    ///
    /// A few kilobytes can decode to gigabytes. Natural language and program output compress by factors of 5 to 30,
    /// rarely by 100. `CurlTransport` compares the decoded size with the bytes received, plus those that may be in a
    /// buffer of at most 256 KiB. `URLSessionTransport` compares it with the declared length, if there is one.
    public var decodedRatio: Int {
        get { decodedRatioChoice ?? 100 }
        set { decodedRatioChoice = newValue }
    }

    /// The maximum size of the body excerpt that an error keeps, in bytes. A longer body is truncated
    /// (`NetworkError.Response.isTruncated`). Default 16 KiB.
    public var errorExcerpt: Int {
        get { errorExcerptChoice ?? 16 * 1024 }
        set { errorExcerptChoice = newValue }
    }

    /// The maximum number of redirects of one call. Default 20. With 0, every redirect throws, except with `.manual`.
    public var redirects: Int {
        get { redirectsChoice ?? 20 }
        set { redirectsChoice = newValue }
    }

    /// The default limits, all of them set: headers 256 KiB and 1000 fields, bodies 64 MiB, downloads 16 GiB, decoded
    /// ratio 100, error excerpts 16 KiB, 20 redirects.
    public static let standard = Limits(
        headerBytes: 256 * 1024, headerCount: 1000, responseBody: 64 << 20, download: 16 << 30, decodedRatio: 100,
        errorExcerpt: 16 * 1024, redirects: 20)

    /// Returns these limits, overridden by every limit that `other` sets.
    package func overridden(by other: Limits) -> Limits {
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

    /// All limits, including the defaults of those that were not set.
    var comparisonKey: [Int64] {
        [headerBytes, headerCount, decodedRatio, errorExcerpt, redirects].map(Int64.init) + [responseBody, download]
    }

    /// The limits on one line, sizes in bytes.
    public var description: String {
        "headers \(headerBytes) and \(headerCount) fields, bodies \(responseBody), downloads \(download), "
            + "\(decodedRatio) times by decoding, excerpts \(errorExcerpt), \(redirects) redirects"
    }

    /// Returns the error for a body that was decoded to `decoded` bytes from at most `coded` bytes on the wire; nil if
    /// the ratio is within `decodedRatio`, or if the decoded body has at most 1 MiB.
    package func growthFailure(decoded: Int64, coded: Int64) -> NetworkError? {
        guard decoded > 1 << 20 else { return nil }
        let (maximum, isBeyond) = max(0, coded).multipliedReportingOverflow(by: Int64(max(1, decodedRatio)))
        guard !isBeyond, decoded > maximum else { return nil }
        return NetworkError(
            .limitExceeded(.responseBody),
            detail:
                "The response body is more than \(decodedRatio) times larger than its encoded form: it was decoded "
                + "to \(decoded) bytes.",
            hint: "If the server is trusted, raise options.limits.decodedRatio for this call, or request "
                + "options.skipsContentDecoding.")
    }
}

/// The timeouts and limits of a call, in one shared object. Most calls set neither and share the object of their
/// client.
final class CallBounds: Sendable {
    let timeouts: Timeouts
    let limits: Limits

    init(timeouts: Timeouts, limits: Limits) {
        self.timeouts = timeouts
        self.limits = limits
    }

    /// Returns these bounds, overridden by every timeout and limit that `other` sets.
    func overridden(by other: CallBounds?) -> CallBounds {
        guard let other else { return self }
        return CallBounds(
            timeouts: timeouts.overridden(by: other.timeouts), limits: limits.overridden(by: other.limits))
    }
}
